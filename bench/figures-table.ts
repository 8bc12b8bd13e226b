import type { Finding } from './finding.js';
import { readable } from './report.js';

/** A finding as it is in `bench/results/latest.json`. */
export type Recorded = Finding & {
  measured_at: string;
  mode: string;
  machine: string;
  versions: string;
  commit: string;
  busy_before: number;
};

/** The figures of a run as Markdown: where it ran, then each claim, goal and whether it was reached. */
export function figuresTable(findings: readonly Recorded[]): string {
  const [first] = findings;
  if (first === undefined) return 'No run yet.';
  const day = first.measured_at.slice(0, 16).replace('T', ' ');
  const busy = Math.round(first.busy_before * 100);
  const reached = findings.filter((finding) => finding.reached).length;
  return [
    `\`npm run bench${first.mode === 'quick' ? ' -- --quick' : ''}\` on ${day} UTC, commit \`${first.commit}\`; ${first.machine}, which also ran`,
    `the load, the database and the simulator; ${busy} % of it was in use by others before. ${first.versions}.`,
    `${reached} of ${findings.length} goals reached.`,
    '',
    '| Claim | Measured | Yardstick | Ratio | Goal | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...findings.map(rowOf),
  ].join('\n');
}

function rowOf(finding: Recorded): string {
  const { claim, value, unit, yardstick, ratio, goal, margin, reached } = finding;
  const limit = yardstick.name === 'the limit';
  const cells = [
    claim,
    `${readable(value)} ${unit}`,
    limit ? '' : `${yardstick.name}: ${readable(yardstick.value)} ${unit}`,
    limit ? '' : `${ratio.toFixed(2)} ×`,
    goal,
    reached ? (margin === null ? '' : 'reached') : '**not reached**',
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
