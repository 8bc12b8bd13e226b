import type { FaultReport } from '../../support/rig/fault-result.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { forEachOf } from '../caller.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const LANES = 20;
/** A killed worker's lanes are free again five seconds later, and BullMQ sees its jobs stalled after as long. */
const PROGRESS_MS = 90_000;

/** kill -9 of the worker, again and again, while messages are in flight. */
export const workerKilled: Scenario = {
  name: 'worker-killed',
  goal: 'G4: kill -9 of the worker; 0 lost, 0 sent twice, all settled 60 s after the last',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [kills, messages] = context.quick ? [5, 1_000] : [20, 2_000];
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 6,
    recipients: messages / LANES,
    latencyMs: 80,
  });
  const acknowledged: string[] = [];
  const violations: string[] = [];
  const late: string[] = [];
  const accepting = forEachOf(messages, 8, async (n) => {
    const connection = stage.workspace.connections[n % LANES];
    if (connection === undefined) return;
    acknowledged.push((await stage.caller.send(connection, Math.floor(n / LANES))).messageId);
  });

  accepting.catch(() => undefined); // awaited below; until then a failure must not end the process

  let killedAt = performance.now();
  for (let kill = 1; kill <= kills; kill++) {
    if (!(await untilSending(stage))) late.push(`nothing went out before kill ${kill}: it showed nothing`);
    // Anywhere: between claim and request, in flight, between answer and outcome.
    await pause(randomBetween(0, 500));
    await stage.worker.child.kill();
    killedAt = performance.now();
    stage.worker.revive();
    context.say(`kill ${kill} of ${kills}: ${await stage.taken()} of ${messages} taken so far`);
  }
  const acceptedAt = await accepting;
  const recoveredMs = await stage.recoveredAfter(Math.max(killedAt, acceptedAt));
  const judgement = await stage.judge(acknowledged);
  return reportOf({
    faults: kills,
    attempted: messages,
    judgement,
    recoveredMs,
    violations,
    late,
  });
}

/** Resolves with true when messages go out; a kill that hits an idle worker shows nothing. */
async function untilSending(stage: FaultStage): Promise<boolean> {
  const before = await stage.taken();
  const more = async (): Promise<true | null> => ((await stage.taken()) >= before + LANES ? true : null);
  return waitFor('messages to go out', more, { timeoutMs: PROGRESS_MS, everyMs: 20 }).catch(() => false);
}
