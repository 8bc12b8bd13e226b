import type { Server } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

const LOOK_MS = 25;

/**
 * The graceful stop of the HTTP side: no new connections, readiness turns to 503, idle connections are closed, answers
 * include `Connection: close`, and requests in flight are completed.
 */
@Injectable()
export class Drain {
  private started = false;
  private open = 0;
  private readonly closing = new AbortController();

  /** Aborted once no new requests are accepted: waiting requests must answer at once. */
  get closed(): AbortSignal {
    return this.closing.signal;
  }

  /** True from the moment the process received the signal to stop. */
  get stopping(): boolean {
    return this.started;
  }

  /** Requests that have no answer yet. */
  get inFlight(): number {
    return this.open;
  }

  enter(): void {
    this.open += 1;
  }

  leave(): void {
    this.open -= 1;
  }

  /** Turns readiness to 503 without closing anything, so that a balancer can switch first. */
  announce(): void {
    this.started = true;
  }

  /**
   * Stops listening and resolves once every request is answered, or after `timeoutMs`, when the rest is cut off.
   * Returns the number of requests that were cut off. A second call waits for the same end.
   */
  async stop(server: Server, timeoutMs: number): Promise<number> {
    this.announce();
    this.closing.abort();
    const closed = new Promise<void>((resolve) => {
      if (server.listening) server.close(() => resolve());
      else resolve();
    });
    const deadline = performance.now() + timeoutMs;
    while (this.open > 0 && performance.now() < deadline) {
      server.closeIdleConnections();
      await pause(LOOK_MS);
    }
    const cutOff = this.open;
    // A finished answer may still be in the socket's buffer.
    if (cutOff === 0) await pause(LOOK_MS);
    server.closeAllConnections();
    await closed;
    return cutOff;
  }
}
