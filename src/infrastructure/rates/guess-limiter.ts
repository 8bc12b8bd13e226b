import { LRUCache } from 'lru-cache';
import { originOf } from '../../common/public-address.js';
import { systemClock, type Clock } from '../../common/clock.js';
import { upTo } from '../../common/expiring-cache.js';

interface Failures {
  count: number;
  startedAt: number;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;

/**
 * Counts requests without a valid key by address, to prevent guessing of keys. In this process's memory, and bounded:
 * with too many addresses, those whose last failure is oldest are forgotten.
 */
export class GuessLimiter {
  private readonly failures: LRUCache<string, Failures>;

  constructor(
    private readonly perMinute: number,
    private readonly clock: Clock = systemClock,
    maxAddresses = MAX_ADDRESSES,
  ) {
    this.failures = new LRUCache(upTo(maxAddresses));
  }

  /**
   * Records a failure.
   *
   * @returns null while the address is within its limit, otherwise the seconds until its minute ends.
   */
  fail(address: string): number | null {
    const origin = originOf(address);
    const now = this.clock.monotonic();
    let entry = this.failures.get(origin);
    if (entry === undefined || now - entry.startedAt >= WINDOW_MS) entry = { count: 0, startedAt: now };
    this.failures.set(origin, entry);
    if (entry.count >= this.perMinute) return Math.max(1, Math.ceil((entry.startedAt + WINDOW_MS - now) / 1_000));
    entry.count++;
    return null;
  }

  /** Seconds until an address that is over its limit may fail again; null: it is within. */
  blockedFor(address: string): number | null {
    const entry = this.failures.peek(originOf(address));
    if (entry === undefined || entry.count < this.perMinute) return null;
    const leftMs = entry.startedAt + WINDOW_MS - this.clock.monotonic();
    return leftMs <= 0 ? null : Math.ceil(leftMs / 1_000);
  }
}
