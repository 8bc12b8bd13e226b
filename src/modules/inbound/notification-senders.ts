import { LRUCache } from 'lru-cache';
import { originOf } from '../../common/public-address.js';
import { systemClock, type Clock } from '../../common/clock.js';
import { upTo } from '../../common/expiring-cache.js';
import { GuessLimiter } from '../../infrastructure/rates/guess-limiter.js';

/**
 * How long an address counts as WhatsApp's after a valid signature; WhatsApp posts every few seconds while there is
 * traffic.
 */
const PROVEN_MS = 600_000;
const MAX_PROVEN = 10_000;

/** An address that posts notifications. */
export interface Sender {
  origin: string;
  /** Whether it recently sent a valid signature. */
  proven: boolean;
}

/**
 * Which addresses post valid or invalid signatures. In this process's memory, and bounded: with too many addresses,
 * those whose last signature is oldest are forgotten.
 */
export class NotificationSenders {
  /** When each last sent a valid signature. */
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

  /** Records a valid signature. */
  prove({ origin }: Sender): void {
    this.proven.set(origin, this.clock.monotonic());
  }

  /**
   * Records an invalid signature.
   *
   * @returns null while the address is within its limit, otherwise the seconds until it may fail again.
   */
  fail({ origin }: Sender): number | null {
    return this.failures.fail(origin);
  }

  /**
   * For how many seconds long bodies of an address that failed too often are not read; null: they are read. Proven
   * addresses are never blocked.
   */
  blockedFor({ origin, proven }: Sender): number | null {
    return proven ? null : this.failures.blockedFor(origin);
  }
}
