import type { FaultReport } from '../../support/rig/fault-result.js';
import { BenchPostgres } from '../../support/rig/postgres.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { forEachOf } from '../caller.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const LANES = 10;
const MESSAGES = 1_000;
const CALLERS = 4;
/** Mean pause of a caller: 1,000 requests then take about as long as the kills of the quick form. */
const BETWEEN_MS = 20;
/** After a restart pools reconnect and lanes are free again within this time. */
const PROGRESS_MS = 90_000;

/** kill -9 of PostgreSQL and all its children, and a restart, while messages are accepted and sent. */
export const postgresKilled: Scenario = {
  name: 'postgres-killed',
  longOnly: true,
  goal: 'G4: kill -9 of PostgreSQL; 0 acknowledged lost, 0 sent twice, all settled after 60 s',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const kills = context.quick ? 2 : 6;
  const postgres = await BenchPostgres.start(scope);
  const stage = await FaultStage.set({ ...context, postgres }, scope, {
    lanes: LANES,
    messagesPerSecond: 20,
    recipients: MESSAGES / LANES,
    latencyMs: 30,
  });
  const acknowledged: string[] = [];
  const late: string[] = [];
  const sending = forEachOf(MESSAGES, CALLERS, async (n) => {
    const connection = stage.workspace.connections[n % LANES];
    if (connection === undefined) return;
    acknowledged.push((await stage.caller.send(connection, Math.floor(n / LANES))).messageId);
    await pause(randomBetween(0, 2 * BETWEEN_MS));
  });
  sending.catch(() => undefined); // awaited below; until then a failure must not end the process
  let restartedAt = performance.now();
  for (let kill = 1; kill <= kills; kill++) {
    if (!(await moves(stage, acknowledged))) late.push(`nothing was accepted and sent before kill ${kill}`);
    await pause(randomBetween(0, 500));
    await postgres.crash();
    await pause(randomBetween(0, 500));
    await postgres.restart();
    restartedAt = performance.now();
    context.say(`kill ${kill} of ${kills}: ${acknowledged.length} acknowledged, ${await stage.taken()} taken so far`);
  }
  const sentAt = await sending;
  const recoveredMs = await stage.recoveredAfter(Math.max(restartedAt, sentAt));
  const judgement = await stage.judge(acknowledged);
  return reportOf({
    faults: kills,
    attempted: MESSAGES,
    judgement,
    recoveredMs,
    late,
  });
}

/** Resolves with true when messages are accepted and sent; a kill that hits a service at rest shows nothing. */
async function moves(stage: FaultStage, acknowledged: readonly string[]): Promise<boolean> {
  const before = { acknowledged: acknowledged.length, taken: await stage.taken() };
  const more = async (): Promise<true | null> =>
    (acknowledged.length > before.acknowledged || acknowledged.length === MESSAGES) &&
    (await stage.taken()) > before.taken
      ? true
      : null;
  return waitFor('messages to be accepted and sent', more, { timeoutMs: PROGRESS_MS, everyMs: 20 }).catch(() => false);
}
