import type { Pool } from 'pg';
import type { FaultReport } from '../../support/rig/fault-result.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { Traffic } from '../traffic.js';
import { reportOf } from '../verdict.js';

const LANES = 12;
const RECIPIENTS = 40;
const STEP = '1 hour';
/** From a step until messages go out again. */
const LIMIT_MS = 15_000;
const GIVE_UP_MS = 60_000;

/**
 * The database's clock steps back by an hour under load, as after a failover to a server with a slower clock. A clock
 * that steps back is the same as stored times that step forward, and needs no other server.
 */
export const clockStepsBack: Scenario = {
  name: 'clock-steps-back',
  goal: "the database's clock steps back by an hour under load; sending goes on within 15 s, 0 lost, 0 sent twice",
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const steps = context.quick ? 2 : 10;
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 10,
    recipients: RECIPIENTS,
    latencyMs: 80,
    workers: 2,
  });
  const traffic = new Traffic(stage, {
    callers: 4,
    least: 300,
    most: 20_000,
    recipients: RECIPIENTS,
    betweenMs: 40,
  });
  let slowestMs = 0;
  for (let step = 1; step <= steps; step++) {
    if (!(await traffic.moves())) traffic.late.push('nothing moved before a step');
    await pause(randomBetween(0, 1_000));
    await stepBack(stage.stage.database.pool);
    slowestMs = Math.max(slowestMs, await untilSending(stage));
    context.say(`step ${step} of ${steps}: sending after ${Math.round(slowestMs)} ms at the most`);
  }
  if (slowestMs > LIMIT_MS) traffic.late.push(`after a step nothing was sent for ${Math.round(slowestMs)} ms`);
  const steppedAt = performance.now();
  const answeredAt = await traffic.end();
  return reportOf({
    faults: steps,
    attempted: traffic.attempted,
    recoveredMs: await stage.recoveredAfter(Math.max(steppedAt, answeredAt)),
    judgement: await stage.judge(traffic.acknowledged),
    violations: traffic.violations,
    late: traffic.late,
    notes: { step: STEP, sending_after_ms: Math.round(slowestMs) },
  });
}

/** All that is stored and waited for, as the clock that has just stepped back sees it; in one transaction. */
async function stepBack(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    // Nothing of the old clock may be written after it.
    await client.query('lock table worker, lane, message, message_queue, heartbeat in exclusive mode');
    await client.query(
      `update lane set paused_until = paused_until + interval '${STEP}',
         next_slot_at = next_slot_at + interval '${STEP}'`,
    );
    await client.query(
      `update message_queue set due_at = due_at + interval '${STEP}',
         lease_until = lease_until + interval '${STEP}'`,
    );
    await client.query(`update worker set alive_until = alive_until + interval '${STEP}'`);
    await client.query(`update rate_bucket set refilled_at = refilled_at + interval '${STEP}'`);
    await client.query(`update heartbeat set beat_at = beat_at + interval '${STEP}'`);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

/** Milliseconds until a message whose turn is after the step was taken: some were in flight meanwhile. */
async function untilSending(stage: FaultStage): Promise<number> {
  const from = performance.now();
  const onTheWire = await stage.taken();
  const more = async (): Promise<true | null> => ((await stage.taken()) > onTheWire + 3 * LANES ? true : null);
  await waitFor('messages to go out', more, { timeoutMs: GIVE_UP_MS, everyMs: 20 }).catch(() => null);
  return performance.now() - from;
}
