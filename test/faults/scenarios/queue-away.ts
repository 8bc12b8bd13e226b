import { Redis } from 'ioredis';
import { CODE_SETTINGS, CodeProject } from '../../support/rig/codes.js';
import { LeftOut, type FaultReport } from '../../support/rig/fault-result.js';
import { freePort } from '../../support/rig/free-port.js';
import { recipientNumber } from '../../support/rig/recipients.js';
import { BenchRedis, hasRedis } from '../../support/rig/redis.js';
import { pause, waitFor } from '../../support/rig/wait.js';
import { forEachOf } from '../caller.js';
import { FaultStage } from '../fault-stage.js';
import type { FaultContext, Scenario } from '../scenario.js';
import { reportOf } from '../verdict.js';

const LANES = 20;
const LANE_RATE = 5;
const RATE = LANES * LANE_RATE;
const CODE_EVERY_MS = 250;
/** A code is given up after 30 s; its user waits before the screen. */
const CODE_WITHIN_SECONDS = 5;
const MIN_SHARE = 0.5;
const BACK_WITHIN_MS = 30_000;
const STOP_WITHIN_MS = 5_000;
const GOAL = `0 lost, 0 sent twice, at least half the rate, every code within ${CODE_WITHIN_SECONDS} s, then back to the queue`;

/** Redis cannot be reached, for a while under load or from the start: the workers find and drain lanes by themselves. */
export const queueAway: Scenario = {
  name: 'queue-away',
  goal: GOAL,
  async run(context) {
    if (!(await hasRedis())) throw new LeftOut('redis-server is not installed (Debian: apt-get install redis-server)');
    const stopped = await context.scope.within((scope) => stoppedUnderLoad(context, scope));
    const closed = await context.scope.within((scope) => closedFromTheStart(context, scope));
    return [stopped, closed];
  },
};

/** Redis is killed while messages and codes go out, and comes back. */
async function stoppedUnderLoad(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const [beforeMs, awayMs] = context.quick ? [4_000, 10_000] : [20_000, 60_000];
  const redis = await BenchRedis.start(scope);
  // More than what goes out until Redis is back, so that the pace of the lanes is the rate all the while.
  const run = await Run.start(context, scope, redis.url, (RATE * (beforeMs + awayMs + 6_000)) / 1_000);

  const before = await run.rate(beforeMs);
  await redis.kill();
  const away = await run.rate(awayMs);
  await run.checkReady(true);
  await redis.restart();
  const returnedAt = performance.now();
  await run.checkReturn(redis.url);
  const afterwards = await run.rate(2_000);
  run.compare(away, before);
  return {
    ...(await run.report(returnedAt, { away_ms: awayMs, per_second: before, away_per_second: away, afterwards })),
    test: 'queue-away (stopped)',
    goal: `Redis is away under load: ${GOAL}`,
  };
}

/** Nothing listens at REDIS_URL when the processes start. */
async function closedFromTheStart(context: FaultContext, scope: FaultContext['scope']): Promise<FaultReport> {
  const port = await freePort();
  const awayMs = context.quick ? 5_000 : 30_000;
  const run = await Run.start(context, scope, `redis://127.0.0.1:${port}`, (RATE * (awayMs + 10_000)) / 1_000);
  const away = await run.rate(awayMs);
  await run.checkReady(true);
  const redis = await BenchRedis.start(scope, port);
  const startedAt = performance.now();
  await run.checkReturn(redis.url);
  const afterwards = await run.rate(4_000);
  run.compare(away, afterwards);
  await redis.kill();
  await run.checkStop();
  return {
    ...(await run.report(startedAt, { away_ms: awayMs, away_per_second: away, per_second: afterwards })),
    test: 'queue-away (closed from the start)',
    goal: `Redis cannot be reached from the start: ${GOAL}; a stop takes less than ${STOP_WITHIN_MS / 1_000} s`,
  };
}

const PREFIX = 'away';

/** A stage on one Redis, with messages that are accepted beside the faults and codes that go out all the time. */
class Run {
  readonly violations: string[] = [];
  readonly late: string[] = [];
  private readonly acknowledged: string[] = [];
  private sendsCodes = true;

  private constructor(
    private readonly stage: FaultStage,
    private readonly messages: number,
    private readonly codes: CodeProject,
    private readonly working: Promise<unknown>[],
  ) {}

  static async start(
    context: FaultContext,
    scope: FaultContext['scope'],
    redisUrl: string,
    messages: number,
  ): Promise<Run> {
    const stage = await FaultStage.set(context, scope, {
      lanes: LANES,
      messagesPerSecond: LANE_RATE,
      recipients: Math.ceil(messages / LANES),
      latencyMs: 20,
      workers: 2,
      settings: { ...CODE_SETTINGS, REDIS_URL: redisUrl, QUEUE_PREFIX: PREFIX },
    });
    const codes = await CodeProject.seed(stage.stage.database.pool, stage.stage.simulator, 80);
    const run = new Run(stage, messages, codes, []);
    run.working.push(run.accept(), run.sendCodes());
    for (const work of run.working) work.catch(() => undefined); // awaited in `report`
    // From here on every lane has a backlog.
    await waitFor('messages to go out', async () => ((await stage.taken()) >= RATE ? true : null), {
      timeoutMs: 60_000,
    });
    return run;
  }

  /** Messages and codes a second that the platform takes from now on. */
  async rate(ms: number): Promise<number> {
    const [taken, from] = [await this.stage.taken(), performance.now()];
    await pause(ms);
    return Math.round(((await this.stage.taken()) - taken) / ((performance.now() - from) / 1_000));
  }

  /** @param away messages a second without Redis */
  compare(away: number, withRedis: number): void {
    if (away >= withRedis * MIN_SHARE) return;
    this.late.push(`${away}/s without Redis, ${withRedis}/s with it`);
  }

  /** Every process is ready, and its part `queue` is right soon. */
  async checkReady(away: boolean): Promise<void> {
    for (const { url, roles } of [this.stage.api, ...this.stage.workers]) {
      const isSo = async (): Promise<true | null> => {
        const response = await fetch(`${url}/health/ready`);
        const { parts } = (await response.json()) as { parts: { queue?: { detail?: string } } };
        if (response.status !== 200) this.violations.push(`${roles}: /health/ready answered ${response.status}`);
        return (parts.queue?.detail?.startsWith('away') === true) === away ? true : null;
      };
      await waitFor('the truth', isSo, { timeoutMs: BACK_WITHIN_MS }).catch(() => {
        this.violations.push(`${roles}: /health/ready says that the queue is ${away ? 'there' : 'away'}`);
      });
    }
  }

  /** The queue gets jobs again. */
  async checkReturn(redisUrl: string): Promise<void> {
    const client = new Redis(redisUrl);
    try {
      const jobs = async () => Number((await client.get(`${PREFIX}:send:id`)) ?? 0);
      const before = await jobs();
      // A job tells of an accepted message, and all of the run may be accepted by now.
      const more = async () => {
        await this.acceptOne(this.acknowledged.length);
        return (await jobs()) > before ? true : null;
      };
      await waitFor('jobs in the queue', more, { timeoutMs: BACK_WITHIN_MS }).catch(() => {
        this.late.push(`Redis was back for ${BACK_WITHIN_MS / 1_000} s and got no jobs`);
      });
    } finally {
      client.disconnect();
    }
    await this.checkReady(false);
  }

  /** A worker that cannot reach Redis ends at once and is started again. */
  async checkStop(): Promise<void> {
    const { worker } = this.stage;
    const from = performance.now();
    await worker.child.stop();
    const ms = Math.round(performance.now() - from);
    if (ms > STOP_WITHIN_MS) this.late.push(`a worker took ${ms} ms to stop without Redis`);
    worker.revive();
    await worker.ready();
  }

  async report(faultAt: number, notes: FaultReport['notes']): Promise<FaultReport> {
    this.sendsCodes = false;
    await Promise.all(this.working);
    const recoveredMs = await this.stage.recoveredAfter(Math.max(faultAt, performance.now()));
    const codes = await this.judgeCodes();
    return reportOf({
      faults: 1,
      attempted: this.acknowledged.length,
      recoveredMs,
      judgement: await this.stage.judge(this.acknowledged),
      violations: this.violations,
      late: this.late,
      notes: { ...notes, ...codes },
    });
  }

  private accept(): Promise<unknown> {
    return forEachOf(this.messages, 8, (n) => this.acceptOne(n));
  }

  private async acceptOne(n: number): Promise<void> {
    const connection = this.stage.workspace.connections[n % LANES];
    if (connection === undefined) return;
    const recipient = Math.floor(n / LANES) % Math.ceil(this.messages / LANES);
    this.acknowledged.push((await this.stage.caller.send(connection, recipient)).messageId);
  }

  private async sendCodes(): Promise<void> {
    for (let n = 0; this.sendsCodes; n++) {
      await this.codes.send(this.stage.api.url, recipientNumber(n));
      await pause(CODE_EVERY_MS);
    }
  }

  private async judgeCodes(): Promise<{ codes: number; slowest_code_ms: number }> {
    const { pool } = this.stage.stage.database;
    const open = `select 1 from otp_challenge where status in ('queued', 'sending') limit 1`;
    const none = async () => ((await pool.query(open)).rowCount === 0 ? true : null);
    await waitFor('every code to have a final state', none, { timeoutMs: 60_000 }).catch(() => null);
    const { rows } = await pool.query<{ codes: number; unsent: number; slowest: number }>(
      `select count(*)::integer as codes, count(*) filter (where sending_at is null or status in ('failed', 'outcome_unknown'))::integer as unsent,
         coalesce(max(extract(epoch from sending_at - created_at)), 0)::float8 as slowest
       from otp_challenge`,
    );
    const { codes = 0, unsent = 0, slowest = 0 } = rows[0] ?? {};
    if (codes === 0) this.late.push('no code was asked for');
    if (unsent > 0) this.violations.push(`${unsent} of ${codes} codes were not sent`);
    if (slowest > CODE_WITHIN_SECONDS) this.late.push(`a code waited for ${slowest.toFixed(1)} s`);
    return { codes, slowest_code_ms: Math.round(slowest * 1_000) };
  }
}
