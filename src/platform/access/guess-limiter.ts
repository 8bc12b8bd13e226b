import { isIPv6 } from 'node:net';
import { systemClock, type Clock } from '../../common/clock.js';

interface Failures {
  count: number;
  startedAt: number;
}

const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 50_000;

/**
 * Counts requests without a valid key by address, so that keys can't be guessed. In memory of this process and bounded:
 * of too many addresses those that have failed least recently are forgotten.
 */
export class GuessLimiter {
  private readonly failures = new Map<string, Failures>();

  constructor(
    private readonly perMinute: number,
    private readonly clock: Clock = systemClock,
    private readonly maxAddresses = MAX_ADDRESSES,
  ) {}

  /**
   * Notes a failure.
   *
   * @returns null while the address is within its limit, else the seconds until its minute is over.
   */
  fail(address: string): number | null {
    const origin = originOf(address);
    const now = this.clock.monotonic();
    let entry = this.failures.get(origin);
    if (entry === undefined || now - entry.startedAt >= WINDOW_MS) entry = { count: 0, startedAt: now };
    this.failures.delete(origin);
    this.failures.set(origin, entry);
    if (this.failures.size > this.maxAddresses) this.forgetOldest();
    if (entry.count >= this.perMinute) return Math.max(1, Math.ceil((entry.startedAt + WINDOW_MS - now) / 1_000));
    entry.count++;
    return null;
  }

  private forgetOldest(): void {
    const oldest = this.failures.keys().next();
    if (!oldest.done) this.failures.delete(oldest.value);
  }
}

/** Whoever has one IPv6 address has the whole /64 around it; IPv4 in IPv6's clothes counts as IPv4. */
export function originOf(address: string): string {
  const plain = address.split('%', 1)[0] ?? '';
  if (!isIPv6(plain)) return plain;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain);
  if (mapped !== null) return mapped[1] ?? plain;
  const [head, tail] = plain.toLowerCase().split('::', 2) as [string, string | undefined];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const wide = right.some((group) => group.includes('.')) ? right.length + 1 : right.length;
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - wide);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
