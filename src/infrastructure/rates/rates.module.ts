import { Global, Module } from '@nestjs/common';
import { RateBucketRepository, RateLimiter } from './rate-limiter.js';

/** Rate limits, for every module. */
@Global()
@Module({ providers: [RateBucketRepository, RateLimiter], exports: [RateLimiter] })
export class RatesModule {}
