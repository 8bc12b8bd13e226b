import { LRUCache } from 'lru-cache';
import { originOf } from '../../common/public-address.js';
import { systemClock, type Clock } from '../../common/clock.js';
import { upTo } from '../../common/expiring-cache.js';
import { GuessLimiter } from '../../infrastructure/rates/guess-limiter.js';

/**
 * How long an address counts as the platform after a valid signature; the platform posts each few seconds while there
 * is traffic.
 */
const PROVEN_MS = 600_000;
const MAX_PROVEN = 10_000;

/** An address that posts notifications. */
export interface Sender {
  origin: string;
  /** It has given a valid signature lately. */
  proven: boolean;
}

/**
 * What the signatures so far say of the addresses that post notifications. In memory of this process and bounded: of too
 * many addresses those that signed least recently are forgotten.
 */
export class NotificationSenders {
  /** When each last gave a valid signature. */
  private readonly proven: LRUCache<string, number>;
  private readonly failures: GuessLimiter;

  constructor(
    failuresPerMinute: number,
    private readonly clock: Clock = systemClock,
    maxProven = MAX_PROVEN,
  ) {
    this.proven = new LRUCache(upTo(maxProven));
    this.failures = new GuessLimiter(failuresPerMinute, clock);
  }

  of(address: string): Sender {
    const origin = originOf(address);
    const provenAt = this.proven.peek(origin);
    return { origin, proven: provenAt !== undefined && this.clock.monotonic() - provenAt < PROVEN_MS };
  }

  /** Notes a valid signature. */
  prove({ origin }: Sender): void {
    this.proven.set(origin, this.clock.monotonic());
  }

  /**
   * Notes an invalid signature.
   *
   * @returns null while the address is within its limit, else the seconds until it may fail again.
   */
  fail({ origin }: Sender): number | null {
    return this.failures.fail(origin);
  }

  /** Seconds for which an address that failed too often gets no long body read; null: none. Proven ones always do. */
  blockedFor({ origin, proven }: Sender): number | null {
    return proven ? null : this.failures.blockedFor(origin);
  }
}
