export interface BucketLimits {
  /** Tokens that come back each second. */
  ratePerSecond: number;
  /** Tokens of a full bucket: how many may be taken at once. */
  burst: number;
}

/**
 * A token bucket. Pure: the caller passes the time, in milliseconds of a clock that never runs backwards. In any span
 * of t seconds it gives at most `burst + t * ratePerSecond` tokens.
 */
export class TokenBucket {
  private tokens: number;
  private refilledAtMs: number;

  constructor(
    private limits: BucketLimits,
    nowMs: number,
    tokens: number = limits.burst,
  ) {
    this.tokens = Math.min(tokens, limits.burst);
    this.refilledAtMs = nowMs;
  }

  /** Takes `count` tokens, or none if there are fewer. */
  take(nowMs: number, count = 1): boolean {
    this.refill(nowMs);
    if (this.tokens < count) return false;
    this.tokens -= count;
    return true;
  }

  /** Returns tokens that were taken and not needed. */
  giveBack(count: number): void {
    this.tokens = Math.min(this.limits.burst, this.tokens + count);
  }

  /** Tokens now, including fractions. */
  level(nowMs: number): number {
    this.refill(nowMs);
    return this.tokens;
  }

  /** Milliseconds until `count` tokens are available; 0: now. Infinity where the bucket is too small. */
  msUntil(count: number, nowMs: number): number {
    this.refill(nowMs);
    if (this.tokens >= count) return 0;
    if (count > this.limits.burst) return Infinity;
    return ((count - this.tokens) / this.limits.ratePerSecond) * 1_000;
  }

  /** Changes the limits; present tokens stay, up to the new size. */
  setLimits(limits: BucketLimits, nowMs: number): void {
    this.refill(nowMs);
    this.limits = limits;
    this.tokens = Math.min(this.tokens, limits.burst);
  }

  private refill(nowMs: number): void {
    const elapsedMs = nowMs - this.refilledAtMs;
    if (elapsedMs <= 0) return;
    this.tokens = Math.min(this.limits.burst, this.tokens + (elapsedMs / 1_000) * this.limits.ratePerSecond);
    this.refilledAtMs = nowMs;
  }
}
