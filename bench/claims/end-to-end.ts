import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atLeastTimes, forComparison, type Finding } from '../finding.js';
import { Child } from '../rig/child.js';
import { drainSpan, untilDrained } from '../rig/drain.js';
import { median } from '../rig/figures.js';
import { compiled } from '../rig/paths.js';
import { hasRedis, startRedis } from '../rig/redis.js';
import { seedQueued } from '../rig/seed-messages.js';
import { Stage } from '../rig/stage.js';
import type { JobOrder, JobQueue } from '../yardsticks/job-order.js';

const CONNECTIONS = 20;
/** The platform allows the largest senders 1,000 a second; the column holds ten times that, so pace never binds here. */
const THROUGHPUT = 10_000;
/** Of 16 to 256, where one job a message was fastest. */
const JOBS_AT_ONCE = 128;
const DRAIN_MS = 180_000;

/** From queued to sent to outcome stored, against one BullMQ job for each message doing the same statements. */
export const endToEndClaim: Claim = {
  name: 'end-to-end',
  async measure(context): Promise<Finding[]> {
    const { herald, jobs } = await sendRates(context);
    const measured = {
      claim: 'end to end: queued → sent → outcome stored, one worker process',
      value: median(herald),
      unit: '/s',
      notes: { runs: herald.map(Math.round).join(', ') },
    };
    const findings = [
      atLeastTimes(5, measured, {
        name: 'one BullMQ job a message (PostgreSQL), same statements',
        value: median(jobs),
      }),
    ];
    const others = ['graphile-worker', 'pg-boss'] as const;
    for (const queue of others) {
      const rate = await severalRuns(context, () => drainByJobs(context, queue, null));
      findings.push(forComparison(measured, { name: `one ${queue} job a message, same statements`, value: rate }));
    }
    if (await hasRedis()) {
      const redis = await context.scope.within(async (scope) => {
        const url = await startRedis(scope);
        return severalRuns(context, () => drainByJobs(context, 'bullmq-redis', url));
      });
      findings.push(
        forComparison(measured, { name: 'one BullMQ job a message (Redis), same statements', value: redis }),
      );
    }
    return findings;
  },
};

/** Messages a second of both ways, each round's. Measured once a run: the claim about statuses needs it too. */
export function sendRates(context: BenchContext): Promise<{ herald: number[]; jobs: number[] }> {
  return context.once('send-rates', () =>
    inTurn(3, {
      herald: () => drainByHerald(context),
      jobs: () => drainByJobs(context, 'bullmq-postgres', null),
    }),
  );
}

function drainByHerald(context: BenchContext): Promise<number> {
  return context.scope.within(async (scope) => {
    const stage = await Stage.set(scope, await context.postgres(), 'drain');
    await seed(stage, context.quick ? 20_000 : 100_000);
    await stage.herald('worker');
    return finish(context, stage, 'Herald');
  });
}

/** What is only for comparison: once in the short form, else the median of three. */
async function severalRuns(context: BenchContext, run: () => Promise<number>): Promise<number> {
  const runs = [await run()];
  if (!context.quick) runs.push(await run(), await run());
  return median(runs);
}

function drainByJobs(context: BenchContext, queue: JobQueue, redisUrl: string | null): Promise<number> {
  return context.scope.within(async (scope) => {
    const stage = await Stage.set(scope, await context.postgres(), 'jobs');
    await seed(stage, context.quick ? 3_000 : 20_000);
    const order: JobOrder = {
      queue,
      databaseUrl: stage.database.url,
      simulatorUrl: stage.simulator.url,
      redisUrl,
      concurrency: JOBS_AT_ONCE,
    };
    const child = Child.start(scope, {
      name: 'one job a message',
      args: [compiled('bench/yardsticks/job-per-message.main'), JSON.stringify(order)],
      env: { NODE_ENV: 'production' },
    });
    await child.line(/drains \d+/);
    return finish(context, stage, `one job a message, ${queue}`);
  });
}

async function seed(stage: Stage, messages: number): Promise<void> {
  const { connections } = await stage.workspace(CONNECTIONS, THROUGHPUT);
  for (const connection of connections) {
    await seedQueued(stage.database.pool, connection, { count: messages / CONNECTIONS });
  }
  await stage.database.pool.query('analyze');
}

async function finish(context: BenchContext, stage: Stage, name: string): Promise<number> {
  const { pool } = stage.database;
  await untilDrained(pool, DRAIN_MS);
  const { messages, perSecond } = await drainSpan(pool);
  const taken = await stage.simulator.count();
  const { rows } = await pool.query<{ count: number }>('select count(*)::integer as count from message');
  if (messages !== rows[0]?.count || taken !== messages) {
    throw new Error(`${name}: of ${rows[0]?.count} messages ${messages} are accepted and ${taken} were taken`);
  }
  context.say(`${name}: ${messages} messages, ${Math.round(perSecond)}/s`);
  return perSecond;
}
