import { describeError } from '../../common/describe-error.js';
import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { systemClock } from '../../common/clock.js';
import type { BucketLimits } from '../../common/token-bucket.js';
import { Counters } from '../operations/counters.js';
import { LeasedBuckets, type RateDecision } from './leased-buckets.js';
import { RateBucketRepository } from './rate-bucket.repository.js';

/** The limits of one key and their header, made once. */
export interface RateLimits extends BucketLimits {
  /** Value of `RateLimit-Policy`. */
  policy: string;
}

export function rateLimits(ratePerSecond: number, burst: number): RateLimits {
  const windowSeconds = Math.max(1, Math.ceil(burst / ratePerSecond));
  return { ratePerSecond, burst, policy: `"default";q=${burst};w=${windowSeconds}` };
}

const TICK_MS = 1_000;

/** How fast each API key may ask. See `LeasedBuckets` for what several processes promise together. */
@Injectable()
export class RateLimiter implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(RateLimiter.name);
  private readonly buckets: LeasedBuckets;
  private timer: NodeJS.Timeout | null = null;

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
    if (this.timer !== null) clearInterval(this.timer);
    await this.buckets.close();
  }

  /** Takes one request of the key. */
  take(keyId: string, limits: BucketLimits): RateDecision | Promise<RateDecision> {
    return this.buckets.take(keyId, limits);
  }
}
