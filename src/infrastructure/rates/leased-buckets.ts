import type { Clock } from '../../common/clock.js';
import { type BucketLimits, TokenBucket } from '../../common/token-bucket.js';
import { within } from '../../common/within.js';

/** One key's part in an exchange with the shared bucket. */
export interface Ask {
  key: string;
  limits: BucketLimits;
  /** Tokens wanted; negative: tokens given back. */
  want: number;
  /** Tokens that this process keeps meanwhile: they count as part of the bucket's burst. */
  held: number;
}

export interface Grant {
  /** Whole tokens, 0 to `want`. */
  granted: number;
  /** What the shared bucket has left. */
  left: number;
}

export interface RateDecision {
  allowed: boolean;
  /** Whole tokens left, as far as this process knows. */
  remaining: number;
  /** Seconds until the bucket is full again; of a refusal: until as much as was asked for is allowed. At least 1. */
  resetSeconds: number;
}

export interface LeasedBucketsOptions {
  /** Exchanges tokens with the bucket that all processes share; one grant an ask, in the same order. */
  exchange(asks: Ask[]): Promise<Grant[]>;
  clock: Clock;
  /** For which an exchange is waited for. Default: a second. */
  timeoutMs?: number;
  /** Called when the shared buckets are out of reach and this process continues alone. */
  onAway?(error: unknown): void;
}

class Lease {
  tokens = 0;
  /** Beyond IDLE_TICKS its tokens are given back with the next exchange. */
  idleTicks = 0;
  /** Tokens that requests wait for. */
  waiting = 0;
  /** What the shared bucket had left at `exchangedAt`. */
  left: number;
  /** No exchange before: the shared bucket has no whole token, or is out of reach. */
  pausedUntil = 0;
  /** Decides while the shared bucket is out of reach. */
  local: TokenBucket | null = null;

  constructor(
    public limits: BucketLimits,
    public exchangedAt: number,
  ) {
    this.left = limits.burst;
  }
}

/** Part of the burst that one process may hold unused. */
const HELD_PART = 4;
/** Whole ticks; the one in which a lease was last used is none. */
const IDLE_TICKS = 5;
const EMPTY_PAUSE_MS = 20;
const EXCHANGE_TIMEOUT_MS = 1_000;
const AWAY_PAUSE_MS = 1_000;

/**
 * Token buckets that several processes share by leasing parts of them. A process takes tokens from the shared bucket
 * before it spends them: a quarter of the burst beside what its waiting requests need, and more when half of it is
 * used. After five idle seconds it releases all. So the rate is kept exactly, whatever the number of processes, and the
 * burst is exceeded by no more than what they hold from the last five seconds: a quarter each.
 *
 * Released tokens are given back only where another process could use it: where the shared bucket is full again by
 * then, as far as this process knows, it is discarded, which costs nothing.
 *
 * Requests decide on the tokens at hand without waiting. Only one that finds none waits for an exchange, at most a
 * second: after that, or when the exchange fails, the process goes on with a full bucket of its own and asks again
 * each second. A second, because processes that are all busy are late together, and each would then have a burst of its own.
 *
 * Several tokens are taken at once or not at all. After a refusal of several all that is here goes back at once, for
 * the caller may try again at another process.
 */
export class LeasedBuckets {
  private readonly leases = new Map<string, Lease>();
  private readonly asking = new Set<string>();
  private round: Promise<void> | null = null;

  constructor(private readonly options: LeasedBucketsOptions) {}

  /** Takes one token of the key's bucket, or `count` or none; more than the burst are never there. */
  take(key: string, limits: BucketLimits, count = 1): RateDecision | Promise<RateDecision> {
    const lease = this.leaseOf(key, limits);
    return this.tryTake(key, lease, count) ?? this.wait(key, lease, count);
  }

  /** Gives back tokens that were taken and not needed; what this process need not hold goes on to the others. */
  giveBack(key: string, limits: BucketLimits, count: number): RateDecision {
    const lease = this.leaseOf(key, limits);
    if (lease.local === null) lease.tokens = Math.min(lease.tokens + count, limits.burst);
    else lease.local.giveBack(count);
    if (lease.tokens > mostHeld(limits) + lease.waiting) this.ask(key);
    return this.decision(lease, true, 1);
  }

  /** Lets go of what is not used. Call it once a second. */
  tick(): void {
    for (const [key, lease] of this.leases) {
      if (lease.waiting === 0 && ++lease.idleTicks > IDLE_TICKS) this.letGo(key, lease);
    }
  }

  /** Gives back everything, before the process ends. */
  async close(): Promise<void> {
    for (const [key, lease] of this.leases) if (lease.waiting === 0) this.letGo(key, lease);
    while (this.round !== null) await this.round;
  }

  private letGo(key: string, lease: Lease): void {
    lease.idleTicks = Infinity;
    if (lease.tokens > 0 && this.sharedLevel(lease) >= lease.limits.burst) lease.tokens = 0;
    else if (lease.tokens > 0) this.ask(key);
    else if (lease.local === null && !this.asking.has(key)) this.leases.delete(key);
  }

  /** What the shared bucket has by now if no other process used it; more than the burst where it is full. */
  private sharedLevel({ left, exchangedAt, limits }: Lease): number {
    return left + ((this.options.clock.monotonic() - exchangedAt) / 1_000) * limits.ratePerSecond;
  }

  private leaseOf(key: string, limits: BucketLimits): Lease {
    const known = this.leases.get(key);
    if (known !== undefined) {
      if (known.limits !== limits) this.adopt(known, limits);
      return known;
    }
    const lease = new Lease(limits, this.options.clock.monotonic());
    this.leases.set(key, lease);
    return lease;
  }

  private adopt(lease: Lease, limits: BucketLimits): void {
    const same = lease.limits.ratePerSecond === limits.ratePerSecond && lease.limits.burst === limits.burst;
    lease.limits = limits;
    if (same) return;
    lease.tokens = 0; // counted by the old limits
    lease.pausedUntil = 0;
    lease.local?.setLimits(limits, this.options.clock.monotonic());
  }

  /** Null: nothing at hand, an exchange may bring some. */
  private tryTake(key: string, lease: Lease, count: number): RateDecision | null {
    const now = this.options.clock.monotonic();
    const mayAsk = now >= lease.pausedUntil;
    if (lease.tokens >= count) {
      lease.tokens -= count;
      lease.idleTicks = 0;
      if (lease.tokens < mostHeld(lease.limits) / 2 && mayAsk) this.ask(key);
      return this.decision(lease, true, count);
    }
    if (lease.local !== null) {
      lease.idleTicks = 0;
      if (mayAsk) this.ask(key);
      return this.decision(lease, lease.local.take(now, count), count);
    }
    return mayAsk ? null : this.decision(lease, false, count);
  }

  private async wait(key: string, lease: Lease, count: number): Promise<RateDecision> {
    let decision: RateDecision | null = null;
    lease.idleTicks = 0;
    lease.waiting += count;
    try {
      // Each round ends with tokens, a pause or a local bucket; a waiter may see tokens go to others.
      for (let rounds = 0; decision === null && rounds < 10; rounds++) {
        this.ask(key);
        await this.round;
        decision = this.tryTake(key, lease, count);
      }
    } finally {
      lease.waiting -= count;
    }
    decision ??= this.decision(lease, false, count);
    if (!decision.allowed && count > 1 && lease.tokens > 0 && lease.waiting === 0) {
      lease.idleTicks = Infinity;
      lease.pausedUntil = 0;
      this.ask(key);
    }
    return decision;
  }

  private decision(lease: Lease, allowed: boolean, count: number): RateDecision {
    const { limits, tokens, local } = lease;
    const { ratePerSecond, burst } = limits;
    const shared = Math.max(0, Math.min(burst - tokens, this.sharedLevel(lease)));
    const level = local === null ? tokens + shared : local.level(this.options.clock.monotonic());
    if (!allowed) {
      const left = count === 1 ? 0 : Math.floor(level);
      return { allowed, remaining: left, resetSeconds: seconds((count - Math.min(level, count)) / ratePerSecond) };
    }
    const remaining = Math.floor(level);
    return { allowed, remaining, resetSeconds: seconds((burst - remaining) / ratePerSecond) };
  }

  private ask(key: string): void {
    this.asking.add(key);
    this.round ??= this.exchange().finally(() => {
      this.round = null;
      const next = this.asking.values().next();
      if (!next.done) this.ask(next.value);
    });
  }

  private async exchange(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve)); // all requests of this turn share the round
    const asks = [...this.asking].flatMap((key) => {
      const lease = this.leases.get(key);
      return lease === undefined ? [] : [askOf(key, lease)];
    });
    this.asking.clear();
    const answer = this.options.exchange(asks).then((grants) => {
      // What comes too late was still taken from the shared bucket.
      for (const [index, ask] of asks.entries()) this.accept(ask, grants[index] ?? { granted: 0, left: 0 });
      return true;
    });
    const timeoutMs = this.options.timeoutMs ?? EXCHANGE_TIMEOUT_MS;
    try {
      // After a turn in which the loop was held up timers come first, and an answer that has long arrived after them.
      if ((await within(timeoutMs, answer)) === null && (await within(0, answer)) === null)
        throw new Error(`no answer within ${timeoutMs} ms`);
    } catch (error) {
      this.options.onAway?.(error);
      for (const { key } of asks) this.goAlone(key);
    }
  }

  private accept(ask: Ask, grant: Grant): void {
    const lease = this.leases.get(ask.key);
    if (lease === undefined) return;
    const now = this.options.clock.monotonic();
    lease.tokens += grant.granted;
    lease.left = grant.left;
    lease.exchangedAt = now;
    lease.local = null;
    const untilNextMs = ((1 - grant.left) / lease.limits.ratePerSecond) * 1_000;
    lease.pausedUntil = grant.granted < ask.want ? now + Math.max(untilNextMs, EMPTY_PAUSE_MS) : 0;
  }

  private goAlone(key: string): void {
    const lease = this.leases.get(key);
    if (lease === undefined) return;
    const now = this.options.clock.monotonic();
    lease.local ??= new TokenBucket(lease.limits, now);
    lease.pausedUntil = now + AWAY_PAUSE_MS;
  }
}

/** What is wanted for the waiting requests and to be held beside, or what is more than that; of a lease that is let go, all. */
function askOf(key: string, lease: Lease): Ask {
  const { limits, tokens, waiting } = lease;
  const isUsed = lease.idleTicks <= IDLE_TICKS || waiting > 0;
  const want = (isUsed ? mostHeld(limits) + waiting : 0) - tokens;
  if (want < 0) lease.tokens += want;
  return { key, limits, want, held: lease.tokens };
}

/** Tokens that a process may hold beside those for its waiting requests. */
function mostHeld(limits: BucketLimits): number {
  return Math.max(1, Math.floor(limits.burst / HELD_PART));
}

function seconds(exact: number): number {
  return Math.max(1, Math.ceil(exact));
}
