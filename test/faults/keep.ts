import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { faultTable, writeFaultTable } from '../../bench/fault-table.js';
import { writeResults, type Surroundings } from '../../bench/report.js';
import type { FaultResult } from '../support/rig/fault-result.js';
import { ROOT } from '../support/rig/paths.js';
import type { Outcome } from './run-scenarios.js';

type Where = Surroundings & { queue: string };
type Row = FaultResult & Where;

/**
 * Writes `bench/results/faults.json` and the table in docs/appendix/faults.md; says where they are.
 *
 * @param whole a run of all scenarios replaces what was there, one of some only their own rows
 */
export async function keepResults({ results, leftOut }: Outcome, where: Where, whole: boolean): Promise<string> {
  const fresh: Row[] = results.map((result) => ({ ...result, ...where }));
  const rows = whole ? fresh : merged(earlierRows(), fresh);
  const path = writeResults('faults', rows);
  const page = await writeFaultTable(faultTable(rows, leftOut, linesOf(rows).join('\n\n')));
  return `${path} and ${page}`;
}

function merged(earlier: readonly Row[], fresh: readonly Row[]): Row[] {
  const byTest = new Map(earlier.map((row) => [row.test, row]));
  for (const row of fresh) byTest.set(row.test, row);
  return [...byTest.values()];
}

/** None where the file is missing or of another form. */
function earlierRows(): Row[] {
  try {
    const rows = JSON.parse(readFileSync(join(ROOT, 'bench', 'results', 'faults.json'), 'utf8')) as Partial<Row>[];
    return rows.filter((row): row is Row => typeof row.test === 'string' && typeof row.reached === 'boolean');
  } catch {
    return [];
  }
}

/** Each run that rows are from: when, how, on what. */
function linesOf(rows: readonly Row[]): string[] {
  const runs = new Map(rows.map((row) => [row.measured_at, row]));
  return [...runs.values()].map((run) => {
    const tests = rows.filter((row) => row.measured_at === run.measured_at).map((row) => `\`${row.test}\``);
    const what = runs.size === 1 ? '' : ` (${tests.join(', ')})`;
    const busy = `${Math.round(run.busy_before * 100)} % of it used by others`;
    const when = run.measured_at.slice(0, 16).replace('T', ' ');
    return `${when} UTC${what}: ${run.mode} form, commit ${run.commit}, queue on ${run.queue}, ${run.machine}, ${busy}; ${run.versions}.`;
  });
}
