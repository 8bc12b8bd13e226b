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

/** Deliveries that one endpoint may have in flight at the most, unless WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT says otherwise. */
export const MAX_IN_FLIGHT = 64;

const FIRST = 2;
/** An answer after this long keeps a place busy that others could use. */
const SLOW_MS = 2_000;
/** So many attempts in a row that failed slowly, and the endpoint rests between attempts. */
const HANGING_AFTER = 3;
const MAX_ENDPOINTS = 100_000;

interface Window {
  /** The settings' revision under which it was earned. */
  revision: number;
  allowed: number;
  slowFailures: number;
}

/**
 * How many deliveries each endpoint may have in flight. An endpoint earns its places: it starts with two, gets one more
 * for each quick success, and loses one for each failure; one that hangs is left with a single attempt at a time, and
 * after three in a row it rests in between. So endpoints that hang hold a few of the process's places, not all of them.
 */
export class DeliveryWindows {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly most = MAX_IN_FLIGHT) {}

  /** Deliveries that may be in flight. */
  allowed(endpointId: string): number {
    return Math.min(this.windows.get(endpointId)?.allowed ?? FIRST, this.most);
  }

  /** @param revision of the endpoint's settings; what it did under earlier ones is forgotten. */
  started(endpointId: string, revision: number): void {
    const window = this.windowOf(endpointId);
    if (window.revision !== revision) Object.assign(window, { revision, allowed: FIRST, slowFailures: 0 });
  }

  /** Learns from an answer, or from the lack of one; true where the endpoint hangs and should rest for a while. */
  answered(endpointId: string, succeeded: boolean, durationMs: number): boolean {
    const window = this.windowOf(endpointId);
    const slow = durationMs >= SLOW_MS;
    if (!succeeded) {
      window.allowed = slow ? 1 : Math.max(1, window.allowed - 1);
      if (slow) window.slowFailures++;
      return slow && window.slowFailures >= HANGING_AFTER;
    }
    window.slowFailures = 0;
    window.allowed = slow ? Math.max(FIRST, window.allowed - 1) : Math.min(this.most, window.allowed + 1);
    return false;
  }

  private windowOf(endpointId: string): Window {
    let window = this.windows.get(endpointId);
    if (window === undefined) {
      const [oldest] = this.windows.size >= MAX_ENDPOINTS ? this.windows.keys() : [];
      if (oldest !== undefined) this.windows.delete(oldest);
      window = { revision: 0, allowed: FIRST, slowFailures: 0 };
      this.windows.set(endpointId, window);
    }
    return window;
  }
}
