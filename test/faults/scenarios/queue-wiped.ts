import type { FaultReport } from '../../support/rig/fault-result.js';
import { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { pause } from '../../support/rig/wait.js';
import { forEachOf } from '../caller.js';
import { FaultStage } from '../fault-stage.js';
import { randomBetween, type FaultContext, type Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const LANES = 20;
const MESSAGES = 2_000;
const WIPES = 5;

/** The queue loses everything it has, while messages go out: only the database is the truth. */
export const queueWiped: Scenario = {
  name: 'queue-wiped',
  goal: 'G4: the queue loses everything; 0 lost, 0 sent twice, all settled after 60 s',
  run: (context) => context.scope.within((scope) => run(context, scope)),
};

async function run(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const stage = await FaultStage.set(context, scope, {
    lanes: LANES,
    messagesPerSecond: 15,
    recipients: MESSAGES / LANES,
    latencyMs: 20,
  });
  const acknowledged: string[] = [];
  const sending = forEachOf(MESSAGES, 4, async (n) => {
    const connection = stage.workspace.connections[n % LANES];
    if (connection === undefined) return;
    acknowledged.push((await stage.caller.send(connection, Math.floor(n / LANES))).messageId);
  });
  sending.catch(() => undefined); // awaited below; until then a failure must not end the process
  let wipedAt = performance.now();
  for (let wipe = 1; wipe <= WIPES; wipe++) {
    await pause(randomBetween(300, 1_500));
    await (context.redisUrl === null ? wipePostgres(stage.stage.database.pool) : wipeRedis(context.redisUrl));
    wipedAt = performance.now();
    context.say(`wipe ${wipe} of ${WIPES}: ${await stage.taken()} of ${MESSAGES} taken so far`);
  }
  const sentAt = await sending;
  const recoveredMs = await stage.recoveredAfter(Math.max(wipedAt, sentAt));
  const judgement = await stage.judge(acknowledged);
  return reportOf({ faults: WIPES, attempted: MESSAGES, judgement, recoveredMs });
}

/** Without Redis: who owns which lane, and which processes work. */
async function wipePostgres(pool: Pool): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await pool.query('truncate lane, worker');
      return;
    } catch (error) {
      // It locks both tables, which claims may be in the way of.
      if (tries >= 20 || (error as { code?: string }).code !== '40P01') throw error;
    }
  }
}

async function wipeRedis(url: string): Promise<void> {
  const redis = new Redis(url);
  await redis.flushall();
  redis.disconnect();
}
