import { Injectable } from '@nestjs/common';
import { accessErrors } from '../../infrastructure/access/access.errors.js';
import type { Caller } from '../../infrastructure/access/caller.js';
import { RateLimiter } from '../../infrastructure/access/rate-limiter.js';
import { Config } from '../../infrastructure/config/config.js';

/** Seconds of the rate that may be used up at once. */
const BURST_SECONDS = 5;
/** Keys of one project together, as a multiple of one key. */
const PROJECT_KEYS = 3;

/** How fast codes may be sent and verified, besides the key's own limit: by key, and by project for all its keys. */
@Injectable()
export class OtpLimits {
  constructor(
    private readonly limiter: RateLimiter,
    private readonly config: Config,
  ) {}

  /** @throws RATE_LIMITED (429). */
  requireSend(caller: Caller): Promise<void> {
    return this.require('otp_send', caller, this.config.limits.otpSendsPerSecond);
  }

  /** @throws RATE_LIMITED (429). */
  requireVerify(caller: Caller): Promise<void> {
    return this.require('otp_verify', caller, this.config.limits.otpVerifiesPerSecond);
  }

  private async require(name: string, caller: Caller, ratePerSecond: number): Promise<void> {
    const { apiKeyId, otpProject } = caller;
    const buckets: [key: string, ratePerSecond: number][] = [[`${name}:${apiKeyId}`, ratePerSecond]];
    if (otpProject !== null) buckets.push([`${name}:${otpProject.id}`, ratePerSecond * PROJECT_KEYS]);
    for (const [key, rate] of buckets) {
      const decision = await this.limiter.take(key, { ratePerSecond: rate, burst: rate * BURST_SECONDS });
      if (!decision.allowed) throw accessErrors.RATE_LIMITED({ retryAfterSeconds: decision.resetSeconds });
    }
  }
}
