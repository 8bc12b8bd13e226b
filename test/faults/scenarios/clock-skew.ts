import type { FaultReport } from '../../support/rig/fault-result.js';
import { temporaryFolder } from '../../support/rig/folder.js';
import { pause } from '../../support/rig/wait.js';
import { FakeClock } from '../faketime.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 12;
const RECIPIENTS = 40;
const OFFSETS = ['-1h', '+0s', '+60s', '+1h'];
/** What each clock jumps to while it runs. */
const JUMPS = ['-65m', '+5m', '-5m', '+65m'];
const BETWEEN_JUMPS_MS = 4_000;
/** A second message to such a number within 6 s is refused (131056), and due again 1, 4 and 16 s later. */
const PAIR_LIMITED = '4915100000010';
/** The database stores what its clock said; between two statements of one session nothing is rounded away. */
const TOLERANCE = 0.02;

/** Workers whose clocks are wrong, each otherwise, and jump: only the database's clock may count. */
export const clockSkew: Scenario = {
  name: 'clock-skew',
  goal: 'G6: workers at -1 h, 0, +60 s, +1 h and jumps of 5 min; 0 sent twice, 0 stuck, 0 early retries',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const rounds = context.quick ? 1 : 10;
  const folder = temporaryFolder(scope, 'clocks');
  const clocks = OFFSETS.map((offset, n) => FakeClock.create(folder, `clock-${n}`, offset));
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 20,
    recipients: RECIPIENTS,
    latencyMs: 50,
    workers: OFFSETS.length,
    workerSettings: (n) => clocks[n]?.settings ?? {},
  });
  const traffic = new Traffic(stage, {
    callers: 4,
    least: context.quick ? 500 : 5_000,
    most: 20_000,
    recipients: RECIPIENTS,
    betweenMs: 40,
  });
  const limited = await sendLimited(stage);
  let faults = OFFSETS.length;
  for (let round = 0; round < rounds; round++) {
    for (const [n, clock] of clocks.entries()) {
      if (!(await traffic.moves())) traffic.late.push('nothing moved before a jump');
      clock.set(JUMPS[n] ?? '+0s');
      faults++;
      await pause(BETWEEN_JUMPS_MS / 2);
      // The one with the fastest clock leaves locks behind that seem to last for another hour.
      if (n === clocks.length - 1) await dieAndRevive(stage, n);
    }
    await pause(BETWEEN_JUMPS_MS);
    for (const [n, clock] of clocks.entries()) clock.set(OFFSETS[n] ?? '+0s');
    faults += clocks.length + 1;
    context.say(
      `round ${round + 1} of ${rounds}: ${traffic.messageOfKey.size} acknowledged, ${await stage.taken()} taken`,
    );
  }
  const jumpedAt = performance.now();
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(jumpedAt, answeredAt));
  const retries = await retriesOf(stage);
  if (retries.many === 0) traffic.late.push('nothing was deferred: no retry could be early');
  if (retries.early > 0) traffic.violations.push(`${retries.early} of ${retries.many} retries came early`);
  return reportOf({
    faults,
    attempted: traffic.attempted + limited.length,
    judgement: await stage.judge([...traffic.acknowledged, ...limited]),
    recoveredMs,
    violations: traffic.violations,
    late: traffic.late,
    notes: { workers: OFFSETS.length, retries: retries.many, early_retries: retries.early },
  });
}

async function dieAndRevive(stage: FaultStage, n: number): Promise<void> {
  const worker = stage.workers[n];
  if (worker === undefined) return;
  await worker.child.kill();
  worker.revive();
}

/** Two messages to a number that takes one in 6 s, on some lanes. */
async function sendLimited(stage: FaultStage): Promise<string[]> {
  const ids: string[] = [];
  for (const connection of stage.workspace.connections.slice(0, 4)) {
    await stage.stage.database.pool.query(
      `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
       values (gen_random_uuid(), $1, $2, $3, now())`,
      [connection.organizationId, connection.id, PAIR_LIMITED],
    );
    for (let i = 0; i < 2; i++) ids.push((await stage.caller.send(connection, PAIR_LIMITED)).messageId);
  }
  return ids;
}

/** Attempts that followed a deferral, and how many of them came before their time, all by the database's clock. */
async function retriesOf(stage: FaultStage): Promise<{ many: number; early: number }> {
  const { rows } = await stage.stage.database.pool.query<{ many: number; early: number }>(
    `select count(*)::integer as many,
       count(*) filter (where next.started_at < a.finished_at + make_interval(secs => power(4, a.place - 1) - $1))::integer as early
     from (select *, row_number() over (partition by message_id order by number) as place from message_attempt_view
           where platform_code = 131056) as a
     join message_attempt_view next on next.message_id = a.message_id and next.number = a.number + 1`,
    [TOLERANCE],
  );
  return rows[0] ?? { many: 0, early: 0 };
}
