const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits after the first, second ... failed attempt of an event (contract: webhook deliveries); ten attempts in all. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  10 * HOUR,
];

/** A receiver's `Retry-After` is followed up to here where it asks for more than the schedule. */
export const LONGEST_RETRY_AFTER_MS = HOUR;

const SPREAD = 0.2;

/**
 * Milliseconds until the next attempt of an event that failed `tries` times; null after the last one.
 *
 * Each wait is spread by ±20 %, so that what failed together does not come back together. A receiver that asks for a
 * longer wait gets it, up to an hour; one that asks for a shorter wait does not hurry the schedule.
 *
 * @param tries failed attempts so far, this one included: 1 or more.
 * @param random a number from 0 up to 1.
 * @param retryAfterMs what the receiver asked for.
 */
export function retryDelayMs(tries: number, random: number, retryAfterMs: number | null): number | null {
  const base = RETRY_DELAYS_MS[Math.max(0, tries - 1)];
  if (base === undefined) return null;
  const planned = Math.round(base * (1 - SPREAD + 2 * SPREAD * random));
  return Math.max(planned, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS));
}
