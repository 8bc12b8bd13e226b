import type { DisabledReason } from '../webhook.types.js';

const HOUR = 3_600_000;

/** So long without one success, while events were tried, and the endpoint is disabled. */
export const FAILING_DISABLES_AFTER_MS = 5 * 24 * HOUR;

/**
 * After so long without any attempt the time of failing starts anew: an endpoint must not be disabled for two failures
 * with a quiet week between them. Within one event's schedule attempts are at most 12 h apart.
 */
export const QUIET_STARTS_ANEW_AFTER_MS = 48 * HOUR;

/** Health is written down at most this often while an endpoint goes on failing. */
const WRITE_EVERY_MS = 60_000;

/** Rests further apart than this are not in a row. */
const RESTS_APART_MS = 5 * 60_000;
const LONGEST_REST_MS = 60_000;
const MOST_RESTS = 10;

/** The endpoint said that it is gone (Standard Webhooks). */
export const GONE = 410;

/** What is known of an endpoint's failing. Times are milliseconds since the epoch, by the database's clock. */
export interface Health {
  /** First failed attempt after the last success; null while attempts succeed. */
  failingSince: number | null;
  lastFailureAt: number | null;
  disabledReason: DisabledReason | null;
}

export interface Attempted {
  succeeded: boolean;
  httpStatus: number | null;
}

/** The endpoint's health after one more attempt; the same object where there is nothing to write down. */
export function healthAfter(health: Health, attempt: Attempted, now: number): Health {
  if (health.disabledReason !== null) return health;
  if (attempt.succeeded) {
    return health.failingSince === null ? health : { failingSince: null, lastFailureAt: null, disabledReason: null };
  }
  if (attempt.httpStatus === GONE) {
    return { failingSince: health.failingSince ?? now, lastFailureAt: now, disabledReason: 'gone' };
  }
  const { failingSince, lastFailureAt } = health;
  if (failingSince === null || lastFailureAt === null || now - lastFailureAt > QUIET_STARTS_ANEW_AFTER_MS) {
    return { failingSince: now, lastFailureAt: now, disabledReason: null };
  }
  if (now - failingSince >= FAILING_DISABLES_AFTER_MS) {
    return { failingSince, lastFailureAt: now, disabledReason: 'failing' };
  }
  return now - lastFailureAt < WRITE_EVERY_MS ? health : { failingSince, lastFailureAt: now, disabledReason: null };
}

/** A time in which nothing is delivered to an endpoint that hangs, or that asked for it. */
export interface Rest {
  /** Milliseconds by the database's clock; null: none that counts any more. */
  until: number | null;
  /** Rests in a row. */
  count: number;
}

export interface AttemptedBeside {
  succeeded: boolean;
  /** Milliseconds for which the endpoint is to rest at least; null: it need not. */
  restMs: number | null;
  /** When it was claimed, by the database's clock. */
  claimedAt: number;
}

/**
 * The endpoint's rest after one more attempt; the same object where nothing changes. Rests in a row grow: 1, 4, 16, then
 * 60 s. One that runs is not prolonged, so that ten answers to ten attempts at once count as one. Only the success of an
 * attempt that was claimed after the rest ends the row; one that was claimed before passed by what the rest is for.
 */
export function restAfter(rest: Rest, attempt: AttemptedBeside, now: number): Rest {
  if (attempt.restMs !== null) {
    if (rest.until !== null && rest.until > now) return rest;
    const earlier = rest.until !== null && rest.until > now - RESTS_APART_MS ? rest.count : 0;
    const planned = Math.min(LONGEST_REST_MS, 1_000 * 4 ** earlier);
    const until = now + Math.max(planned, Math.min(attempt.restMs, LONGEST_REST_MS));
    return { until, count: Math.min(earlier + 1, MOST_RESTS) };
  }
  const isOver = rest.until !== null && rest.until <= attempt.claimedAt;
  return attempt.succeeded && isOver ? { until: null, count: 0 } : rest;
}
