import { writeTable } from './documents.js';
import type { FaultResult } from '../test/support/rig/fault-result.js';

const PAGE = 'docs/appendix/faults.md';
const FAULTS = {
  begin: '<!-- written by `npm run faults`: begin -->',
  end: '<!-- written by `npm run faults`: end -->',
};
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

/** Returns the page's path from the root. */
export async function writeFaultTable(table: string): Promise<string> {
  await writeTable(PAGE, FAULTS, table);
  return PAGE;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
