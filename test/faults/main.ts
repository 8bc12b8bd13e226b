import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { columns, surroundings } from '../../bench/report.js';
import type { FaultResult } from '../support/rig/fault-result.js';
import { BenchPostgres } from '../support/rig/postgres.js';
import { startRedis } from '../support/rig/redis.js';
import { Scope } from '../support/rig/scope.js';
import { closeOnSignal, progress } from '../support/rig/session.js';
import { keepResults } from './keep.js';
import { runScenarios, type Outcome } from './run-scenarios.js';
import type { Scenario } from './scenario.js';
import { SCENARIOS } from './scenarios/all.js';

const USAGE = `npm run faults -- [--quick] [--redis] [--at-once <n>] [--keep] [scenario ...]
  --quick    fewer faults, the same checks
  --redis    the queue on a Redis of its own (redis-server must be installed) instead of PostgreSQL
  --at-once  how many scenarios run side by side (4)
  --keep     the rows of some scenarios replace those of an earlier run
  scenario   ${SCENARIOS.map((scenario) => scenario.name).join(', ')}; without any all of them, and
             bench/results/faults.json and the table in docs/appendix/faults.md are written
With TEST_SECOND_LOOK=true, which CI sets, a scenario that missed something runs once more, alone, and is named as flaky where it
reaches all then.
`;

/** How long a scenario may take, beside others on a slow machine. */
const LIMIT_MS = { quick: 6 * 60_000, whole: 60 * 60_000 };
/** From this share of the cores on, what others do is worth a line. */
const BUSY = 0.1;
/** The signal's handler has the last word. */
const INTERRUPTED = 130;

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      redis: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
      'at-once': { type: 'string', default: '4' },
      help: { type: 'boolean' },
    },
    allowPositionals: true,
  });
  const { quick, redis } = values;
  const atOnce = Number(values['at-once']);
  const known = SCENARIOS.filter(({ name }) => positionals.includes(name));
  if (values.help === true || known.length < positionals.length || !(atOnce >= 1)) {
    process.stdout.write(USAGE);
    return values.help === true ? 0 : 2;
  }
  const chosen = positionals.length === 0 ? SCENARIOS.filter(({ longOnly }) => !(quick && longOnly === true)) : known;
  const scope = new Scope();
  closeOnSignal(scope);
  const startedAt = performance.now();
  const around = await surroundings(quick);
  if (around.busy_before > BUSY)
    progress(`others use ${Math.round(around.busy_before * 100)} % of this machine: it will take longer`);
  const outcome = await measure(scope, chosen, { quick, redis, atOnce });
  if (outcome === null) return INTERRUPTED;
  print(outcome);
  const where = { ...around, queue: redis ? 'Redis' : 'PostgreSQL' };
  const whole = positionals.length === 0;
  if (whole || values.keep) process.stdout.write(`written to ${await keepResults(outcome, where, whole)}\n`);
  const missed = outcome.results.filter(({ reached }) => !reached).length;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`${outcome.results.length - missed} of ${outcome.results.length} reached in ${seconds} s\n`);
  for (const { scenario, message } of outcome.flaky) noteFlaky(scenario, message);
  return missed > 0 ? 1 : 0;
}

/** null: interrupted. */
async function measure(
  scope: Scope,
  scenarios: readonly Scenario[],
  form: { quick: boolean; redis: boolean; atOnce: number },
): Promise<Outcome | null> {
  try {
    const postgres = await BenchPostgres.start(scope);
    const redisUrl = form.redis ? await startRedis(scope) : null;
    const context = { scope, postgres, quick: form.quick, redisUrl, say: progress };
    const secondLook = process.env.TEST_SECOND_LOOK === 'true';
    const limitMs = form.quick ? LIMIT_MS.quick : LIMIT_MS.whole;
    const outcome = await runScenarios(scenarios, context, { atOnce: form.atOnce, secondLook, limitMs });
    return scope.isClosed ? null : outcome;
  } finally {
    await scope.close();
  }
}

function print({ results, leftOut }: Outcome): void {
  const names = ['faults', 'attempted', 'acknowledged', 'lost', 'duplicated', 'unknown', 'recovered_ms'] as const;
  const row = (result: FaultResult): string[] => [
    result.reached ? 'reached' : 'MISSED',
    result.test,
    ...names.map((name) => String(result[name] ?? '')),
  ];
  process.stdout.write(`\n${columns([['', 'test', ...names], ...results.map(row)])}\n\n`);
  for (const { test, violations, notes } of results) {
    for (const violation of violations) process.stdout.write(`${test}: ${violation}\n`);
    if ('second_run_after' in notes) process.stdout.write(`${test} ran twice, after: ${notes.second_run_after}\n`);
  }
  for (const { test, why } of leftOut) process.stdout.write(`${test} was left out: ${why}\n`);
}

/** In the form of `scripts/ran.mjs`, which prints it at the end of CI. */
function noteFlaky(scenario: string, words: string): void {
  const message = words.replace(/\s+/g, ' ');
  process.stdout.write(`flaky: faults: ${scenario}: ${message}\n`);
  const file = process.env.RAN_FILE;
  if (file !== undefined)
    appendFileSync(file, `${JSON.stringify({ flaky: { file: 'faults', test: scenario, message } })}\n`);
}

// All is written and stopped. Left to end by itself, Node 20 may loop endlessly in its own clean-up, over a request
// whose peer was killed.
process.exit(await run());
