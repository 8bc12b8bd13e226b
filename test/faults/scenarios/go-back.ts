import { compiled } from '../../support/rig/paths.js';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { makeNextRelease } from '../../support/rig/next-release.js';
import { waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 4;
const RECIPIENTS = 40;
const READY_WITHIN_MS = 60_000;
/** What the next release calls otherwise: sweeps that run often, so that their silence is soon too long. */
const RENAMED = ['send_leases', 'media_expiry', 'send_expiry'];

/**
 * Processes of the next release are replaced by those of this one, workers first, while messages are accepted and sent. The
 * next release is this program with a migration more and with sweeps of other names: what a release finds when it comes
 * back, whatever the next one brings.
 */
export const goBack: Scenario = {
  name: 'go-back',
  goal: 'back to the release before under traffic: every process ready within 60 s, and still ready when the sweeps that only the next release has are long silent; 0 lost, 0 sent twice, 0 to outcome_unknown',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const program = makeNextRelease(scope, RENAMED);
  const stage = await FaultStage.set(context, scope, {
    program,
    lanes: LANES,
    messagesPerSecond: 40,
    recipients: RECIPIENTS,
    latencyMs: 20,
    workers: 2,
  });
  const { pool } = stage.stage.database;
  const violations: string[] = [];
  const traffic = new Traffic(stage, { callers: 4, least: 200, most: 20_000, recipients: RECIPIENTS, betweenMs: 20 });
  const processes = [...stage.workers, stage.api];
  const rounds = context.quick ? 1 : 3;
  let readyMs = 0;
  let backAt = performance.now();
  for (let round = 1; round <= rounds; round++) {
    for (const [to, main] of [
      ['the next release', program],
      ['this release', compiled('src/main')],
    ] as const) {
      if (!(await traffic.moves())) traffic.late.push(`nothing moved before the change to ${to}`);
      for (const herald of processes) {
        if (herald.program === main) continue;
        await herald.child.stop();
        herald.program = main;
        herald.revive();
        const from = performance.now();
        await herald.ready();
        readyMs = Math.max(readyMs, performance.now() - from);
      }
    }
    await waitFor('a sweep of the next release to have run', () => silence(pool), { timeoutMs: 60_000 });
    backAt = performance.now();
    if (!(await traffic.moves())) violations.push('nothing is accepted and sent after the way back');
    for (const { roles, url } of processes) {
      const ready = await fetch(`${url}/health/ready`);
      if (!ready.ok) violations.push(`the ${roles} is not ready: ${await ready.text()}`);
    }
    context.say(
      `round ${round} of ${rounds}: ${traffic.messageOfKey.size} acknowledged, ready after ${Math.round(readyMs)} ms`,
    );
  }
  const answeredAt = await traffic.end();
  const recoveredMs = await stage.recoveredAfter(Math.max(backAt, answeredAt));
  await traffic.checkKeys();
  if (readyMs > READY_WITHIN_MS) traffic.late.push(`a process took ${Math.round(readyMs)} ms to be ready`);
  const judgement = await stage.judge(traffic.acknowledged);
  if (judgement.unknown > 0) violations.push(`${judgement.unknown} messages ended in outcome_unknown`);
  return reportOf({
    faults: rounds * processes.length,
    attempted: traffic.attempted,
    judgement,
    recoveredMs,
    violations: [...violations, ...traffic.violations, ...stage.caller.faults],
    late: traffic.late,
    notes: { ready_ms: Math.round(readyMs), refused_503: stage.caller.refusals },
  });
}

/** Makes the rows of sweeps that only the next release has as old as they are after an hour; null where there are none. */
async function silence(pool: FaultStage['stage']['database']['pool']): Promise<true | null> {
  const { rowCount } = await pool.query(
    `update heartbeat set beat_at = beat_at - interval '1 hour' where name like 'sweep:%\\_next'`,
  );
  return (rowCount ?? 0) > 0 ? true : null;
}
