/** Limit of tries for a message that WhatsApp deferred, or that was never sent. */
export const MAX_TRIES = 10;

const FIRST_DELAY_MS = 1_000;
export const MAX_DELAY_MS = 15 * 60 * 1_000;

/**
 * Milliseconds before the next try after `tries` failed ones: 1 s, 4 s, 16 s and so on, at most 15 minutes. Each is
 * spread by ±20 %, so that messages which failed together do not return together.
 *
 * @param random a number from 0 up to 1.
 */
export function deferralMs(tries: number, random: number): number {
  const base = Math.min(FIRST_DELAY_MS * 4 ** Math.max(0, tries - 1), MAX_DELAY_MS);
  return Math.min(Math.round(base * (0.8 + 0.4 * random)), MAX_DELAY_MS);
}

/**
 * Milliseconds that one recipient waits after the n-th hit of WhatsApp's pair limit (code 131056): 4^n seconds, as
 * WhatsApp asks (developers.facebook.com, Cloud API throughput), at most 15 minutes.
 */
export function pairLimitMs(tries: number): number {
  return Math.min(1_000 * 4 ** Math.max(0, tries), MAX_DELAY_MS);
}
