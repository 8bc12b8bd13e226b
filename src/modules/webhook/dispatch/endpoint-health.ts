import type { DisabledReason } from '../webhook.types.js';

const HOUR = 3_600_000;

/** So long without one success, while events were tried, and the endpoint is disabled. */
export const FAILING_DISABLES_AFTER_MS = 5 * 24 * HOUR;

/**
 * After so long without any attempt the time of failing restarts: an endpoint must not be disabled for two failures
 * with a week without attempts between them. Within one event's schedule attempts are at most 12 h apart.
 */
export const QUIET_STARTS_ANEW_AFTER_MS = 48 * HOUR;

/** Health is written down at most this often while an endpoint goes on failing. */
const WRITE_EVERY_MS = 60_000;

/** The endpoint said that it is gone (Standard Webhooks). */
export const GONE = 410;

/** What is known of an endpoint's failing. Times are milliseconds since the epoch, by the database's clock. */
export interface Health {
  /** First failed attempt after the last success; null while attempts succeed. */
  failingSince: number | null;
  lastFailureAt: number | null;
  disabledReason: DisabledReason | null;
}

/** The endpoint's health after one more attempt; the same object where there is nothing to write down. */
export function healthAfter(
  health: Health,
  attempt: { succeeded: boolean; httpStatus: number | null },
  now: number,
): Health {
  if (health.disabledReason !== null) return health;
  if (attempt.succeeded) {
    return health.failingSince === null ? health : { failingSince: null, lastFailureAt: null, disabledReason: null };
  }
  const failing = (since: number, disabledReason: DisabledReason | null = null): Health => ({
    failingSince: since,
    lastFailureAt: now,
    disabledReason,
  });
  const { failingSince, lastFailureAt } = health;
  if (attempt.httpStatus === GONE) return failing(failingSince ?? now, 'gone');
  if (failingSince === null || lastFailureAt === null) return failing(now);
  if (now - lastFailureAt > QUIET_STARTS_ANEW_AFTER_MS) return failing(now);
  if (now - failingSince >= FAILING_DISABLES_AFTER_MS) return failing(failingSince, 'failing');
  return now - lastFailureAt < WRITE_EVERY_MS ? health : failing(failingSince);
}
