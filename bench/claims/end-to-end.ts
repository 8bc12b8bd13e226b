import { inTurn, type BenchContext, type Claim } from '../bench-context.js';
import { atLeastTimes, forComparison, type Finding } from '../finding.js';
import { Child } from '../../test/support/rig/child.js';
import { drainSpan, untilDrained } from '../../test/support/rig/drain.js';
import { median } from '../../test/support/rig/figures.js';
import { compiled } from '../../test/support/rig/paths.js';
import { hasRedis, startRedis } from '../../test/support/rig/redis.js';
import { seedQueued } from '../../test/support/rig/seed-messages.js';
import { Stage } from '../../test/support/rig/stage.js';
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
    const { herald, jobs } = await sendRuns(context);
    const measured = figureOf('end to end: queued → sent → outcome stored, one worker process', herald, 'perSecond');
    const cost = figureOf(
      'the same, messages a second of processor time: node and PostgreSQL',
      herald,
      'perProcessorSecond',
    );
    const yardstick = 'one BullMQ job a message (PostgreSQL), same statements';
    const findings = [
      atLeastTimes(5, measured, { name: yardstick, value: medianOf(jobs, 'perSecond') }),
      atLeastTimes(9, cost, { name: yardstick, value: medianOf(jobs, 'perProcessorSecond') }),
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

interface Drained {
  perSecond: number;
  /** Messages for a second of processor time of the worker's node and of PostgreSQL, from when the worker is ready. */
  perProcessorSecond: number;
}

const medianOf = (runs: readonly Drained[], what: keyof Drained): number => median(runs.map((run) => run[what]));

function figureOf(claim: string, runs: readonly Drained[], what: keyof Drained) {
  const notes = { runs: runs.map((run) => Math.round(run[what])).join(', ') };
  return { claim, value: medianOf(runs, what), unit: '/s', notes };
}

/** Both ways, each round. Measured once a run: the claim about statuses needs it too. */
export function sendRuns(context: BenchContext): Promise<{ herald: Drained[]; jobs: Drained[] }> {
  return context.once('send-runs', () =>
    inTurn(3, {
      herald: () => drainByHerald(context),
      jobs: () => drainByJobs(context, 'bullmq-postgres', null),
    }),
  );
}

function drainByHerald(context: BenchContext): Promise<Drained> {
  return context.scope.within(async (scope) => {
    const stage = await Stage.set(scope, await context.postgres(), 'drain');
    await seed(stage, context.quick ? 20_000 : 100_000);
    const { child } = await stage.herald('worker');
    return finish(context, stage, child, 'Herald');
  });
}

/** What is only for comparison: once in the short form, else the median of three. */
async function severalRuns(context: BenchContext, run: () => Promise<Drained>): Promise<number> {
  const runs = [await run()];
  if (!context.quick) runs.push(await run(), await run());
  return medianOf(runs, 'perSecond');
}

function drainByJobs(context: BenchContext, queue: JobQueue, redisUrl: string | null): Promise<Drained> {
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
    return finish(context, stage, child, `one job a message, ${queue}`);
  });
}

async function seed(stage: Stage, messages: number): Promise<void> {
  const { connections } = await stage.workspace(CONNECTIONS, THROUGHPUT);
  for (const connection of connections) {
    await seedQueued(stage.database.pool, connection, { count: messages / CONNECTIONS });
  }
  await stage.database.pool.query('analyze');
}

async function finish(context: BenchContext, stage: Stage, worker: Child, name: string): Promise<Drained> {
  const { pool } = stage.database;
  const postgres = await context.postgres();
  const used = (): number => worker.processorMs() + postgres.processorMs();
  const before = { ms: used(), ...(await drainSpan(pool)) };
  await untilDrained(pool, DRAIN_MS);
  const ms = used() - before.ms;
  const { messages, perSecond } = await drainSpan(pool);
  const taken = await stage.simulator.count();
  const { rows } = await pool.query<{ count: number }>('select count(*)::integer as count from message');
  if (messages !== rows[0]?.count || taken !== messages) {
    throw new Error(`${name}: of ${rows[0]?.count} messages ${messages} are accepted and ${taken} were taken`);
  }
  const perProcessorSecond = ((messages - before.messages) / ms) * 1_000;
  const us = Math.round(1_000_000 / perProcessorSecond);
  context.say(`${name}: ${messages} messages, ${Math.round(perSecond)}/s, ${us} µs of processor time each`);
  return { perSecond, perProcessorSecond };
}
