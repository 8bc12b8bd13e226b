import type { Clock } from '../../common/clock.js';
import { type BucketLimits, TokenBucket } from '../../common/token-bucket.js';
import { within } from '../../common/within.js';

/** The request for one key in an exchange with the shared bucket. */
export interface Ask {
  key: string;
  limits: BucketLimits;
  /** Tokens wanted; negative: tokens returned. */
  want: number;
  /** Tokens that this process keeps: they count as part of the bucket's burst. */
  held: number;
}

export interface Grant {
  /** Whole tokens, 0 to `want`. */
  granted: number;
  /** Tokens left in the shared bucket. */
  left: number;
}

export interface RateDecision {
  allowed: boolean;
  /** Whole tokens left, as far as this process knows. */
  remaining: number;
  /** Seconds until the bucket is full again; after a refusal, until the requested number is allowed. At least 1. */
  resetSeconds: number;
}

export interface LeasedBucketsOptions {
  /** Exchanges tokens with the bucket that all processes share; one grant per request, in the same order. */
  exchange(asks: Ask[]): Promise<Grant[]>;
  clock: Clock;
  /** Time limit of an exchange. Default: a second. */
  timeoutMs?: number;
  /** Called when the shared buckets are out of reach and this process continues alone. */
  onAway?(error: unknown): void;
}

class Lease {
  tokens = 0;
  /** Beyond IDLE_TICKS its tokens are returned with the next exchange. */
  idleTicks = 0;
  /** Tokens that waiting requests need. */
  waiting = 0;
  /** Tokens left in the shared bucket at `exchangedAt`. */
  left: number;
  /** No exchange before this time: the shared bucket has no whole token, or cannot be reached. */
  pausedUntil = 0;
  /** Decides while the shared bucket cannot be reached. */
  local: TokenBucket | null = null;

  constructor(
    public limits: BucketLimits,
    public exchangedAt: number,
  ) {
    this.left = limits.burst;
  }
}

/** The part of the burst that one process may hold unused. */
const HELD_PART = 4;
/** Whole ticks; the tick of the last use does not count. */
const IDLE_TICKS = 5;
const EMPTY_PAUSE_MS = 20;
const EXCHANGE_TIMEOUT_MS = 1_000;
const AWAY_PAUSE_MS = 1_000;

/**
 * Token buckets that several processes share by leasing parts of them. A process takes tokens from the shared bucket
 * before it spends them: a quarter of the burst in addition to what its waiting requests need, and more when half of
 * that is used. After five idle seconds it releases all. So the rate is exact for any number of processes, and the
 * burst is exceeded at most by the tokens that they hold from the last five seconds: a quarter each.
 *
 * Released tokens are returned only if another process could use them. If the shared bucket should be full again by
 * then, as far as this process knows, they are discarded, which costs nothing.
 *
 * A request uses tokens at hand without waiting. If there are none it waits for an exchange, at most a second. After
 * that, or if the exchange fails, the process continues with a full bucket of its own and retries the exchange each
 * second. The wait is that long because busy processes are slow at the same time, and each would get a burst of its
 * own.
 *
 * Several tokens are taken together or not at all. After such a refusal all held tokens are returned at once, because
 * the caller may retry at another process.
 */
export class LeasedBuckets {
  private readonly leases = new Map<string, Lease>();
  private readonly asking = new Set<string>();
  private round: Promise<void> | null = null;

  constructor(private readonly options: LeasedBucketsOptions) {}

  /** Takes one token of the key's bucket, or `count` together; a request for more than the burst always fails. */
  take(key: string, limits: BucketLimits, count = 1): RateDecision | Promise<RateDecision> {
    const lease = this.leaseOf(key, limits);
    return this.tryTake(key, lease, count) ?? this.wait(key, lease, count);
  }

  /** Returns tokens that were taken and not needed; the surplus goes to other processes. */
  giveBack(key: string, limits: BucketLimits, count: number): RateDecision {
    const lease = this.leaseOf(key, limits);
    if (lease.local === null) lease.tokens = Math.min(lease.tokens + count, limits.burst);
    else lease.local.giveBack(count);
    if (lease.tokens > mostHeld(limits) + lease.waiting) this.ask(key);
    return this.decision(lease, true, 1);
  }

  /** Releases unused tokens. Call it once a second. */
  tick(): void {
    for (const [key, lease] of this.leases) {
      if (lease.waiting === 0 && ++lease.idleTicks > IDLE_TICKS) this.letGo(key, lease);
    }
  }

  /** Returns all tokens, before the process ends. */
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

  /** The shared bucket's present level if no other process has used it; more than the burst where it is full. */
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

  /** Null: no tokens at hand, but an exchange may bring some. */
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
      // Each round ends with tokens, a pause or a local bucket; another waiter may take the tokens.
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
      // A late answer still took tokens from the shared bucket.
      for (const [index, ask] of asks.entries()) this.accept(ask, grants[index] ?? { granted: 0, left: 0 });
      return true;
    });
    const timeoutMs = this.options.timeoutMs ?? EXCHANGE_TIMEOUT_MS;
    try {
      // After a blocked turn of the event loop timers run first, and an answer that arrived long ago only after them.
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

/**
 * The tokens to request for waiting requests and for the reserve, or the surplus to return; for a released lease, all
 * of its tokens.
 */
function askOf(key: string, lease: Lease): Ask {
  const { limits, tokens, waiting } = lease;
  const isUsed = lease.idleTicks <= IDLE_TICKS || waiting > 0;
  const want = (isUsed ? mostHeld(limits) + waiting : 0) - tokens;
  if (want < 0) lease.tokens += want;
  return { key, limits, want, held: lease.tokens };
}

/** Tokens that a process may hold in addition to those for its waiting requests. */
function mostHeld(limits: BucketLimits): number {
  return Math.max(1, Math.floor(limits.burst / HELD_PART));
}

function seconds(exact: number): number {
  return Math.max(1, Math.ceil(exact));
}
