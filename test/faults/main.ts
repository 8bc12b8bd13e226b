import { parseArgs } from 'node:util';
import { columns, surroundings, writeResults } from '../../bench/report.js';
import { BenchPostgres } from '../../bench/rig/postgres.js';
import { startRedis } from '../../bench/rig/redis.js';
import { Scope } from '../../bench/rig/scope.js';
import { closeOnSignal, progress } from '../../bench/rig/session.js';
import type { FaultContext, FaultReport, Scenario } from './scenario.js';
import { apiKilled } from './scenarios/api-killed.js';
import { neighbours } from './scenarios/neighbours.js';
import { otpWorkerKilled } from './scenarios/otp-worker-killed.js';
import { postgresKilled } from './scenarios/postgres-killed.js';
import { queueWiped } from './scenarios/queue-wiped.js';
import { webhookWorkerKilled } from './scenarios/webhook-worker-killed.js';
import { workerKilled } from './scenarios/worker-killed.js';

const SCENARIOS: readonly Scenario[] = [
  workerKilled,
  queueWiped,
  apiKilled,
  postgresKilled,
  neighbours,
  webhookWorkerKilled,
  otpWorkerKilled,
];
const USAGE = `npm run faults -- [--quick] [--redis] [scenario ...]
  --quick    fewer faults, the same checks
  --redis    the queue on a Redis of its own (redis-server must be installed) instead of PostgreSQL
  scenario   ${SCENARIOS.map((scenario) => scenario.name).join(', ')}; without any all of them
`;

/** From this share of the cores on, what others do is worth a line. */
const BUSY = 0.1;
/** The signal's handler has the last word. */
const INTERRUPTED = 130;

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean' }, redis: { type: 'boolean' }, help: { type: 'boolean' } },
    allowPositionals: true,
  });
  const chosen = positionals.length === 0 ? SCENARIOS : SCENARIOS.filter(({ name }) => positionals.includes(name));
  if (values.help === true || chosen.length < positionals.length) {
    process.stdout.write(USAGE);
    return values.help === true ? 0 : 2;
  }
  const scope = new Scope();
  closeOnSignal(scope);
  const quick = values.quick === true;
  const around = await surroundings(quick);
  if (around.busy_before > BUSY)
    progress(`others use ${Math.round(around.busy_before * 100)} % of this machine: figures will be too low`);
  const reports: FaultReport[] = [];
  try {
    const postgres = await BenchPostgres.start(scope);
    const redisUrl = values.redis === true ? await startRedis(scope) : null;
    const context: FaultContext = { scope, postgres, quick, redisUrl, say: progress };
    for (const scenario of chosen) {
      if (!scope.isClosed) reports.push(await runOne(scenario, context));
    }
    if (scope.isClosed) return INTERRUPTED;
  } finally {
    await scope.close();
  }
  tell(reports);
  if (positionals.length === 0) {
    const where = { ...around, queue: values.redis === true ? 'Redis' : 'PostgreSQL' };
    const path = writeResults(
      'faults',
      reports.map((report) => ({ ...report, ...where })),
    );
    process.stdout.write(`written to ${path}\n`);
  }
  return reports.some((report) => report.violations.length > 0) ? 1 : 0;
}

async function runOne(scenario: Scenario, context: FaultContext): Promise<FaultReport> {
  progress(`${scenario.name} ...`);
  try {
    return await scenario.run(context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    progress(`${scenario.name} broke off: ${message}`);
    const nothing = { attempted: 0, acknowledged: 0, lost: 0, duplicated: 0, unknown: 0, recovered_ms: 0 };
    return { scenario: scenario.name, faults: 0, ...nothing, violations: [`broke off: ${message}`] };
  }
}

function tell(reports: readonly FaultReport[]): void {
  const names = ['faults', 'attempted', 'acknowledged', 'lost', 'duplicated', 'unknown', 'recovered_ms'] as const;
  const rows = reports.map((report) => [
    report.violations.length === 0 ? 'passed' : 'FAILED',
    report.scenario,
    ...names.map((name) => String(report[name])),
  ]);
  process.stdout.write(`\n${columns([['', 'scenario', ...names], ...rows])}\n\n`);
  for (const { scenario, violations } of reports) {
    for (const violation of violations) process.stdout.write(`${scenario}: ${violation}\n`);
  }
}

process.exitCode = await run();
