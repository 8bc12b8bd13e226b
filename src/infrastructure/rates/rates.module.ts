import { Global, Module } from '@nestjs/common';
import { RateBucketRepository, RateLimiter } from './rate-limiter.js';

/** How fast callers may ask, for every module. */
@Global()
@Module({ providers: [RateBucketRepository, RateLimiter], exports: [RateLimiter] })
export class RatesModule {}
