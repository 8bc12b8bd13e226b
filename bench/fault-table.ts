import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { FaultResult } from './rig/fault-result.js';
import { ROOT } from './rig/paths.js';

const BEGIN = '<!-- written by `npm run faults`: begin -->';
const END = '<!-- written by `npm run faults`: end -->';
const HEAD = ['test', 'goal', 'faults', 'attempted', 'acknowledged', 'lost', 'duplicated', 'unknown', 'recovered', ''];
const NUMBERS_FROM = 2;
const NUMBERS_TO = 8;

export interface LeftOutTest {
  test: string;
  why: string;
}

/** The results as Jepsen would report them, in Markdown; `around` says where and when they were measured. */
export function faultTable(results: readonly FaultResult[], leftOut: readonly LeftOutTest[], around: string): string {
  const rows = results.map((result) => [
    `\`${result.test}\``,
    result.goal,
    ...[result.faults, result.attempted, result.acknowledged].map(count),
    ...[result.lost, result.duplicated, result.unknown].map(count),
    result.recovered_ms === null ? '' : `${(result.recovered_ms / 1_000).toFixed(1)} s`,
    `${result.reached ? 'reached' : '**not reached**'}${'second_run_after' in result.notes ? ' (second run)' : ''}`,
  ]);
  const rule = HEAD.map((_, i) => (i >= NUMBERS_FROM && i <= NUMBERS_TO ? '---:' : '---'));
  const lines = [HEAD, rule, ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`);
  const missed = results.flatMap(({ test, violations }) => violations.map((words) => `- \`${test}\`: ${words}`));
  const absent = leftOut.map(({ test, why }) => `- \`${test}\` was left out: ${why}`);
  return [around, lines.join('\n'), [...missed, ...absent].join('\n')].filter((part) => part !== '').join('\n\n');
}

/** Puts the table between its marks in docs/reliability.md, formatted as `npm run format` does. */
export async function writeFaultTable(table: string): Promise<string> {
  const path = join('docs', 'reliability.md');
  const file = join(ROOT, path);
  const text = readFileSync(file, 'utf8');
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`${path} has lost its marks for the table`);
  const whole = `${text.slice(0, from)}${BEGIN}\n\n${table}\n\n${text.slice(to)}`;
  writeFileSync(file, await format(whole, { ...(await resolveConfig(file)), parser: 'markdown' }));
  return path;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
