import { hash } from 'node:crypto';

/** For this long, equal requests without a key are the same message. */
export const MINUTE_MS = 60_000;

/** The minute of a time, counted from the epoch. */
export function minuteOf(timeMs: number): number {
  return Math.floor(timeMs / MINUTE_MS);
}

/** The idempotency key of a request without one: a UUID made from its meaning and minute (version 8, RFC 9562). */
export function keyOfMinute(fingerprint: string, minute: number): string {
  const hex = hash('sha256', `${fingerprint}/${minute}`);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
