import type { FaultReport } from '../../support/rig/fault-result.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { SmallDisk } from '../../support/rig/small-disk.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const DISK_MIB = 320;
const LANES = 4;
const RECIPIENTS = 40;
/** Less than one segment of the write-ahead log. */
const LEFT_BYTES = 2 * 1_048_576;
const FULL_MS = 60_000;
const STAYS_FULL_MS = 3_000;
const NOTICED_MS = 10_000;

/** PostgreSQL's disk is full while messages are accepted and sent: requests are refused, and nothing accepted is lost. */
export const databaseDiskFull: Scenario = {
  name: 'database-disk-full',
  goal: "PostgreSQL's disk full: requests answered 503, the api not ready, 0 acknowledged lost, 0 sent twice, goes on when space is free again",
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const rounds = context.quick ? 1 : 5;
  const disk = await SmallDisk.mount(scope, 'database-disk', DISK_MIB);
  const postgres = await BenchPostgres.start(scope, disk.folder);
  const stage = await FaultStage.set({ ...context, postgres, redisUrl: null }, scope, {
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: 20,
  });
  const traffic = new Traffic(stage, { callers: 4, least: 200, most: 20_000, recipients: RECIPIENTS, betweenMs: 20 });
  let restarts = 0;
  let roomAt = performance.now();
  for (let round = 1; round <= rounds; round++) {
    if (!(await traffic.moves())) traffic.late.push('nothing moved before the disk was filled');
    disk.fill(LEFT_BYTES);
    const before = stage.caller.refusals;
    await waitFor('requests to be refused', () => (stage.caller.refusals >= before + 20 ? true : null), {
      timeoutMs: FULL_MS,
    }).catch(() => traffic.late.push('no request was refused: the disk was never full'));
    await waitFor('the api to be not ready', () => isNotReady(stage), { timeoutMs: NOTICED_MS }).catch(() =>
      traffic.violations.push('the api says that it is ready while the disk is full'),
    );
    await pause(STAYS_FULL_MS);
    disk.empty();
    // Without space for its log PostgreSQL stops, as it must; its operator starts it again.
    if (!(await postgres.isRunning())) {
      restarts++;
      await postgres.restart();
    }
    roomAt = performance.now();
    context.say(
      `round ${round} of ${rounds}: ${traffic.messageOfKey.size} acknowledged, ${stage.caller.refusals} refused`,
    );
  }
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(roomAt, answeredAt));
  await traffic.checkKeys();
  return reportOf({
    faults: rounds,
    attempted: traffic.attempted,
    judgement: await stage.judge(traffic.acknowledged),
    recoveredMs,
    violations: [...traffic.violations, ...stage.caller.faults],
    late: traffic.late,
    notes: { refused_503: stage.caller.refusals, restarts_of_postgresql: restarts },
  });
}

async function isNotReady(stage: FaultStage): Promise<true | null> {
  const response = await fetch(`${stage.api.url}/health/ready`).catch(() => null);
  await response?.arrayBuffer();
  return response?.ok === true ? null : true;
}
