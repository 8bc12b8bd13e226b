import { parseArgs } from 'node:util';
import { BenchContext, type Claim } from './bench-context.js';
import { CLAIMS } from './claims/all.js';
import type { Finding } from './finding.js';
import { lastRun, writeDocuments } from './documents.js';
import { rounded, surroundings, tableOf, writeResults } from './report.js';
import { Scope } from '../test/support/rig/scope.js';
import { closeOnSignal, progress } from '../test/support/rig/session.js';

const USAGE = `npm run bench -- [--quick] [claim ...]
  --quick   about five minutes on two cores; without it the long form, about half an hour
  --draw    measures nothing: writes the table and the picture of docs/appendix/bench.md from the last results
  --millions 1,10      of growth: the journals that are compared, in millions of messages; 1 GB of disk a million
  --database-url <url> of growth: a server whose role may create databases, where the embedded one is not to be used
  claim     ${CLAIMS.map((claim) => claim.name).join(', ')}; without any all of them but growth, and the results, the table and the picture are written
`;

/** From this share of the cores on, what others do is worth a line. */
const BUSY = 0.1;
/** The signal's handler has the last word. */
const INTERRUPTED = 130;

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean' },
      draw: { type: 'boolean' },
      help: { type: 'boolean' },
      millions: { type: 'string' },
      'database-url': { type: 'string' },
    },
    allowPositionals: true,
  });
  const claims =
    positionals.length === 0
      ? CLAIMS.filter(({ isSeparate }) => isSeparate !== true)
      : CLAIMS.filter((claim) => positionals.includes(claim.name));
  if (values.help === true || claims.length < positionals.length) {
    process.stdout.write(USAGE);
    return values.help === true ? 0 : 2;
  }
  if (values.draw === true) {
    process.stdout.write(`written: ${(await writeDocuments(lastRun())).join(', ')}\n`);
    return 0;
  }
  const quick = values.quick === true;
  const scope = new Scope();
  closeOnSignal(scope);
  const startedAt = performance.now();
  const around = await surroundings(quick);
  if (around.busy_before > BUSY)
    progress(`others use ${Math.round(around.busy_before * 100)} % of this machine: figures will be too low`);
  const context = new BenchContext(scope, quick, progress, undefined, {
    ...(values.millions !== undefined && { millions: values.millions.split(',').map(Number) }),
    ...(values['database-url'] !== undefined && { databaseUrl: values['database-url'] }),
  });
  const findings: Finding[] = [];
  const broken: string[] = [];
  try {
    for (const claim of claims) {
      if (scope.isClosed) break;
      const found = await measure(claim, context);
      if (found === null) broken.push(claim.name);
      else findings.push(...found);
    }
    if (scope.isClosed) return INTERRUPTED;
  } finally {
    await scope.close();
  }
  process.stdout.write(`\n${around.machine}\n${around.versions}\n\n${tableOf(findings)}\n\n`);
  if (positionals.length === 0 && broken.length === 0) {
    const recorded = findings.map((finding) => ({ ...rounded(finding), ...around }));
    const paths = [writeResults('latest', recorded), ...(await writeDocuments(recorded))];
    process.stdout.write(`written: ${paths.join(', ')}\n`);
  }
  const missed = findings.filter((finding) => !finding.reached);
  process.stdout.write(
    `${findings.length - missed.length} of ${findings.length} goals reached in ${Math.round((performance.now() - startedAt) / 1_000)} s` +
      `${broken.length === 0 ? '' : `; not measured: ${broken.join(', ')}`}\n`,
  );
  return missed.length > 0 || broken.length > 0 ? 1 : 0;
}

/** One claim that cannot be measured must not cost the figures of the others. */
async function measure(claim: Claim, context: BenchContext): Promise<Finding[] | null> {
  progress(`${claim.name} ...`);
  try {
    return await claim.measure(context);
  } catch (error) {
    if (context.scope.isClosed) return null;
    progress(`${claim.name} could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

// As in test/faults/main.ts: here too processes are killed that requests were on their way to.
process.exit(await run());
