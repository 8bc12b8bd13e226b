import type { DisabledReason } from '../webhook.types.js';

const HOUR = 3_600_000;

/** An endpoint is disabled after this long with attempts and without a success. */
export const FAILING_DISABLES_AFTER_MS = 5 * 24 * HOUR;

/**
 * After this long without an attempt the failing time restarts, so that two failures a week apart do not disable an
 * endpoint. Within the schedule of one event, attempts are at most 12 h apart.
 */
export const QUIET_STARTS_ANEW_AFTER_MS = 48 * HOUR;

/** Health is stored at most this often while an endpoint keeps failing. */
const WRITE_EVERY_MS = 60_000;

/** The endpoint answered that it is gone (Standard Webhooks). */
export const GONE = 410;

/** The failures of an endpoint. Times are milliseconds since the epoch, by the database's clock. */
export interface Health {
  /** First failed attempt after the last success; null while attempts succeed. */
  failingSince: number | null;
  lastFailureAt: number | null;
  disabledReason: DisabledReason | null;
}

/** The endpoint's health after one more attempt; the same object where there is nothing to store. */
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
