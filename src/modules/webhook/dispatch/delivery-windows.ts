/** Limit of deliveries in flight to one endpoint, unless WEBHOOK_MAX_IN_FLIGHT_PER_ENDPOINT sets another. */
export const MAX_IN_FLIGHT = 64;

const FIRST = 2;
/** An answer slower than this takes capacity from other endpoints. */
const SLOW_MS = 2_000;
/** After this many slow failures in a row the endpoint's lane is paused between attempts. */
const HANGING_AFTER = 3;
const MAX_ENDPOINTS = 100_000;

interface Window {
  /** The revision of the settings for which the window was learned. */
  revision: number;
  allowed: number;
  slowFailures: number;
}

/**
 * The limit of deliveries in flight for each endpoint: its window. It starts at two, grows by one with each quick
 * success, and shrinks by one with each failure. An endpoint that does not answer in time gets a single attempt at a
 * time, and after three in a row its lane is paused in between. So such endpoints use a small part of the process's
 * capacity.
 */
export class DeliveryWindows {
  private readonly windows = new Map<string, Window>();

  constructor(private readonly most = MAX_IN_FLIGHT) {}

  /** Deliveries that may be in flight. */
  allowed(endpointId: string): number {
    return Math.min(this.windows.get(endpointId)?.allowed ?? FIRST, this.most);
  }

  /** @param revision the revision of the endpoint's settings; results under earlier settings are forgotten. */
  started(endpointId: string, revision: number): void {
    const window = this.windowOf(endpointId);
    if (window.revision !== revision) Object.assign(window, { revision, allowed: FIRST, slowFailures: 0 });
  }

  /**
   * Learns from an answer, or from its absence; true where the endpoint hangs and its lane should be paused.
   *
   * @param revision the revision under which the attempt was made; results of an earlier one are ignored.
   */
  answered(endpointId: string, revision: number, succeeded: boolean, durationMs: number): boolean {
    const window = this.windowOf(endpointId);
    if (window.revision !== revision) return false;
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
