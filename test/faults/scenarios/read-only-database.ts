import pg from 'pg';
import { Child } from '../../support/rig/child.js';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { temporaryFolder } from '../../support/rig/folder.js';
import { heraldSettings, type HeraldProcess } from '../../support/rig/herald.js';
import { compiled } from '../../support/rig/paths.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 4;
const RECIPIENTS = 40;
const REFUSALS = 20;
/** A probe is asked every second, and remembers its answer for half a second. */
const NOTICED_WITHIN_MS = 10_000;
const GIVE_UP_MS = 60_000;

/** The database takes no writes any more while messages are accepted and sent, as managed servers do when their storage is full. */
export const readOnlyDatabase: Scenario = {
  name: 'read-only-database',
  goal: 'the database becomes read-only: requests answered 503, every role not ready within 10 s, doctor names it; 0 acknowledged lost, 0 sent twice, ready again when it is lifted',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const rounds = context.quick ? 1 : 5;
  const postgres = await BenchPostgres.start(scope);
  const stage = await FaultStage.set({ ...context, postgres }, scope, {
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: 20,
  });
  scope.defer(() => setReadOnly(postgres, false));
  const traffic = new Traffic(stage, { callers: 4, least: 200, most: 20_000, recipients: RECIPIENTS, betweenMs: 20 });
  const violations: string[] = [];
  const noticedMs: number[] = [];
  let liftedAt = performance.now();
  for (let round = 1; round <= rounds; round++) {
    if (!(await traffic.moves())) traffic.late.push('nothing moved before the database became read-only');
    await setReadOnly(postgres, true);
    const before = stage.caller.refusals;
    noticedMs.push(...(await Promise.all([stage.api, stage.worker].map((herald) => noticed(herald, violations)))));
    await waitFor('requests to be refused', () => (stage.caller.refusals >= before + REFUSALS ? true : null), {
      timeoutMs: GIVE_UP_MS,
    }).catch(() => violations.push('no request was refused'));
    if (round === 1) await examine(scope, stage, violations);
    await setReadOnly(postgres, false);
    liftedAt = performance.now();
    await Promise.all([stage.api.ready(GIVE_UP_MS), stage.worker.ready(GIVE_UP_MS)]);
    context.say(
      `round ${round} of ${rounds}: ${traffic.messageOfKey.size} acknowledged, ${stage.caller.refusals} refused, ready again after ${Math.round(performance.now() - liftedAt)} ms`,
    );
  }
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(liftedAt, answeredAt));
  await traffic.checkKeys();
  const slowest = Math.round(Math.max(...noticedMs));
  if (slowest > NOTICED_WITHIN_MS) traffic.late.push(`a process was ready for ${slowest} ms`);
  return reportOf({
    faults: rounds,
    attempted: traffic.attempted,
    judgement: await stage.judge(traffic.acknowledged),
    recoveredMs,
    violations: [...violations, ...traffic.violations, ...stage.caller.faults],
    late: traffic.late,
    notes: { refused_503: stage.caller.refusals, not_ready_after_ms: slowest },
  });
}

/** Also of connections that are open. */
async function setReadOnly(postgres: BenchPostgres, on: boolean): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    await client.query(`alter system set default_transaction_read_only = ${on ? 'on' : 'off'}`);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}

/** Waits until the process says why it is not ready; returns the milliseconds. */
async function noticed(herald: HeraldProcess, violations: string[]): Promise<number> {
  const from = performance.now();
  await waitFor(
    'a process to be not ready',
    async () => {
      const response = await fetch(`${herald.url}/health/ready`).catch(() => null);
      const text = (await response?.text()) ?? '';
      return response?.status === 503 && text.includes('read-only') ? true : null;
    },
    { timeoutMs: GIVE_UP_MS },
  ).catch(() => violations.push(`the ${herald.roles} never said that the database is read-only`));
  return performance.now() - from;
}

async function examine(scope: FaultContext['scope'], stage: FaultStage, violations: string[]): Promise<void> {
  const place = {
    databaseUrl: stage.stage.database.url,
    dataDir: temporaryFolder(scope, 'doctor'),
    simulatorUrl: stage.stage.simulator.url,
  };
  const doctor = Child.start(scope, {
    name: 'herald doctor',
    args: [compiled('src/cli/main'), 'doctor'],
    env: heraldSettings(place),
  });
  const said = await doctor.result().then(
    () => '',
    (error: unknown) => String(error),
  );
  if (!said.includes('read-only')) violations.push('doctor does not fail because the database is read-only');
}
