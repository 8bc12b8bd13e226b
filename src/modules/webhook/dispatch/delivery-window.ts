/** Deliveries that one endpoint may have in flight at the most. */
export const MOST_IN_FLIGHT = 10;

const FIRST = 2;
/** An answer after this long keeps a place busy that others could use. */
const SLOW_MS = 2_000;
/** So many attempts in a row that failed slowly, and the endpoint rests between attempts. */
const HANGING_AFTER = 3;
const MOST_ENDPOINTS = 100_000;

interface Window {
  /** The settings' revision under which it was earned. */
  revision: number;
  allowed: number;
  inFlight: number;
  slowFailures: number;
}

/**
 * How many deliveries each endpoint may have in flight. An endpoint earns its places: it starts with two, gets one more
 * for each quick success, and loses one for each failure; one that hangs is left with a single attempt at a time, and
 * after three in a row it rests in between. So endpoints that hang hold a few of the process's places, not all of them.
 */
export class DeliveryWindows {
  private readonly windows = new Map<string, Window>();

  /** Deliveries that may start now. */
  capacity(endpointId: string): number {
    const window = this.windows.get(endpointId);
    return window === undefined ? FIRST : Math.max(0, window.allowed - window.inFlight);
  }

  isIdle(endpointId: string): boolean {
    return (this.windows.get(endpointId)?.inFlight ?? 0) === 0;
  }

  /** @param revision of the endpoint's settings; what it did under earlier ones is forgotten. */
  started(endpointId: string, revision: number): void {
    const window = this.windowOf(endpointId);
    if (window.revision !== revision) {
      window.revision = revision;
      window.allowed = FIRST;
      window.slowFailures = 0;
    }
    window.inFlight++;
  }

  /** A delivery's place is free again; with or without an answer, and after it was written down. */
  ended(endpointId: string): void {
    this.windowOf(endpointId).inFlight--;
  }

  /** Learns from an answer, or from the lack of one; true where the endpoint hangs and should rest for a while. */
  answered(endpointId: string, succeeded: boolean, durationMs: number): boolean {
    const window = this.windowOf(endpointId);
    const slow = durationMs >= SLOW_MS;
    if (!succeeded && slow) {
      window.allowed = 1;
      window.slowFailures++;
      return window.slowFailures >= HANGING_AFTER;
    }
    if (!succeeded) {
      window.allowed = Math.max(1, window.allowed - 1);
      return false;
    }
    window.slowFailures = 0;
    window.allowed = slow ? Math.max(FIRST, window.allowed - 1) : Math.min(MOST_IN_FLIGHT, window.allowed + 1);
    return false;
  }

  private windowOf(endpointId: string): Window {
    let window = this.windows.get(endpointId);
    if (window === undefined) {
      if (this.windows.size >= MOST_ENDPOINTS) this.makeRoom();
      window = { revision: 0, allowed: FIRST, inFlight: 0, slowFailures: 0 };
      this.windows.set(endpointId, window);
    }
    return window;
  }

  private makeRoom(): void {
    for (const [endpointId, window] of this.windows) if (window.inFlight === 0) this.windows.delete(endpointId);
  }
}
