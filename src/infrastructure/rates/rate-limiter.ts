import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import type { Response } from 'express';
import { AppError } from '../../common/app-error.js';
import { systemClock } from '../../common/clock.js';
import { describeError } from '../../common/describe-error.js';
import type { BucketLimits } from '../../common/token-bucket.js';
import { Database } from '../database/database.js';
import { Counters } from '../operations/counters.js';
import { ratesErrors } from './rates.errors.js';
import { type Ask, type Grant, LeasedBuckets, type RateDecision } from './leased-buckets.js';

/** The limits of one key and their header, computed once. */
export interface RateLimits extends BucketLimits {
  /** Value of `RateLimit-Policy`. */
  policy: string;
}

export function rateLimits(ratePerSecond: number, burst: number): RateLimits {
  const windowSeconds = Math.max(1, Math.ceil(burst / ratePerSecond));
  return { ratePerSecond, burst, policy: `"default";q=${burst};w=${windowSeconds}` };
}

/** Value of `RateLimit`. */
export function rateHeader({ remaining, resetSeconds }: RateDecision): string {
  return `"default";r=${remaining};t=${resetSeconds}`;
}

/**
 * The only place with SQL on the table `rate_bucket`: token buckets that all processes share, by the database's clock.
 */
@Injectable()
export class RateBucketRepository {
  constructor(private readonly database: Database) {}

  /** Returns and takes tokens; new buckets start full. One grant per request, in the same order. */
  async exchange(asks: readonly Ask[]): Promise<Grant[]> {
    const grants = new Map<string, Grant>();
    let open = asks;
    for (let tries = 0; open.length > 0 && tries < 2; tries++) {
      if (tries > 0) await this.create(open);
      for (const row of await this.move(open)) grants.set(row.key, { granted: row.granted, left: row.left });
      open = open.filter((ask) => !grants.has(ask.key));
    }
    return asks.map((ask) => grants.get(ask.key) ?? { granted: 0, left: 0 });
  }

  /** Locks rows in the order of their keys, so that two processes never deadlock. */
  private move(asks: readonly Ask[]): Promise<(Grant & { key: string })[]> {
    return this.database.detached(() =>
      this.database.query<Grant & { key: string }>(
        `with ask as (
           select * from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::float8[])
             as a(key, want, held, rate, burst)
         ), bucket as (
           select b.key, t.at, a.want,
             least(a.burst - a.held,
               b.tokens + greatest(extract(epoch from t.at - b.refilled_at), 0) * a.rate + greatest(-a.want, 0)
             ) as level
           from rate_bucket b join ask a on a.key = b.key cross join lateral (select clock_timestamp() as at) t
           order by b.key
           for update of b
         ), share as (
           select key, at, level, greatest(least(want, floor(level)), 0) as granted from bucket
         )
         update rate_bucket b set tokens = s.level - s.granted,
           -- Further ahead than two processes overtake one another: the database's clock has stepped back.
           refilled_at = case when b.refilled_at > s.at + interval '1 second' then s.at
             else greatest(s.at, b.refilled_at) end
         from share s where b.key = s.key
         returning b.key, s.granted, b.tokens as left`,
        [
          asks.map((ask) => ask.key),
          asks.map((ask) => ask.want),
          asks.map((ask) => ask.held),
          asks.map((ask) => ask.limits.ratePerSecond),
          asks.map((ask) => ask.limits.burst),
        ],
      ),
    );
  }

  private async create(asks: readonly Ask[]): Promise<void> {
    await this.database.detached(() =>
      this.database.execute(
        `insert into rate_bucket (key, tokens, refilled_at)
         select key, burst, clock_timestamp() from unnest($1::text[], $2::float8[]) as a(key, burst) order by key
         on conflict (key) do nothing`,
        [asks.map((ask) => ask.key), asks.map((ask) => ask.limits.burst)],
      ),
    );
  }
}

const TICK_MS = 1_000;

/** The rate limit of each API key. See `LeasedBuckets` for the guarantees across processes. */
@Injectable()
export class RateLimiter implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(RateLimiter.name);
  private readonly buckets: LeasedBuckets;
  private timer: NodeJS.Timeout | undefined;

  constructor(buckets: RateBucketRepository, counters: Counters) {
    this.buckets = new LeasedBuckets({
      clock: systemClock,
      exchange: (asks) => buckets.exchange(asks),
      onAway: (error) => {
        counters.increment('rate_limit_alone');
        this.logger.warn(`rate limits are counted by this process alone: ${describeError(error)}`);
      },
    });
  }

  onModuleInit(): void {
    this.timer = setInterval(() => this.buckets.tick(), TICK_MS);
    this.timer.unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.buckets.close();
  }

  take(keyId: string, limits: BucketLimits): RateDecision | Promise<RateDecision> {
    return this.buckets.take(keyId, limits);
  }

  /** For a request that may cost more than the one token that the guard took. */
  spendingOf(keyId: string, limits: RateLimits, res: Response): Spending {
    return new Spending(this.buckets, keyId, limits, res);
  }
}

/** The tokens of one request; updates the headers of its answer. */
export class Spending {
  /** The guard took the first one. */
  taken = 1;

  constructor(
    private readonly buckets: LeasedBuckets,
    private readonly keyId: string,
    private readonly limits: RateLimits,
    private readonly res: Response,
  ) {}

  /**
   * Takes the missing tokens; a request never costs more than a full bucket.
   *
   * @param of what the answer names as the reason for the tokens.
   * @throws RATE_LIMITED (429) where fewer are left; then none was taken.
   */
  async raiseTo(tokens: number, of: { messages?: number } = {}): Promise<void> {
    const missing = Math.min(tokens, this.limits.burst) - this.taken;
    if (missing <= 0) return;
    const decision = await this.buckets.take(this.keyId, this.limits, missing);
    this.res.setHeader('RateLimit', rateHeader(decision));
    if (!decision.allowed) {
      throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: decision.resetSeconds, tokens, ...of });
    }
    this.taken += missing;
  }

  /** Returns the tokens above this number. */
  lowerTo(tokens: number): void {
    const surplus = this.taken - tokens;
    if (surplus <= 0) return;
    this.taken = tokens;
    const decision = this.buckets.giveBack(this.keyId, this.limits, surplus);
    if (!this.res.headersSent) this.res.setHeader('RateLimit', rateHeader(decision));
  }

  /**
   * Runs work that costs up to this many tokens, and returns those that it did not cost. A refusal as too large costs
   * all of them, any other failure one.
   *
   * @throws RATE_LIMITED (429) where fewer are left.
   */
  async upTo<T>(most: number, work: () => Promise<T>, priceOf: (done: T) => number): Promise<T> {
    await this.raiseTo(most);
    let price = 1;
    try {
      const done = await work();
      price = priceOf(done);
      return done;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unprocessable') price = most;
      throw error;
    } finally {
      this.lowerTo(price);
    }
  }
}
