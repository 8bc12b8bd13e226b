import type { Socket } from 'node:net';
import { Client } from 'undici';
import { bounded } from './bounded.js';
import { DeliveryFault } from './delivery-fault.js';
import { Exchange, type Head } from './exchange.js';

export interface Post {
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Asks the server to leave the connection open. */
  readonly keep: boolean;
}

export interface AnswerLimits {
  /** Milliseconds until the answer's head is here, and from then until its body ends. */
  readonly headersTimeoutMs: number;
  readonly bodyTimeoutMs: number;
  /** For all of it, by `performance.now()`. */
  readonly notAfter: number;
  readonly bodyBytes: number;
  readonly signal: AbortSignal | undefined;
}

export interface Answer extends Head {
  /** The body came to its end within its limits, so the connection may serve again. */
  readonly complete: boolean;
}

/** More in an answer's head is an attempt to fill our memory. */
const HEAD_BYTES = 16_384;

/**
 * An idle connection lives for 4 s, or 1 s less than the server announces: what meets a connection that the other side
 * is just closing has to be sent again.
 */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** A name moves, a certificate runs out: from time to time a connection is made anew. */
const LONGEST_LIFE_MS = 60_000;

/** HTTP/1.1 over one socket that is connected already; it never opens another. */
export class Connection {
  private readonly client: Client;
  private readonly openedAt = performance.now();
  private handedOver = false;

  constructor(
    origin: string,
    private readonly socket: Socket,
    readonly address: string,
  ) {
    this.client = new Client(origin, {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: HEAD_BYTES,
      // The limits are ours, see `post`; undici's start anew with each chunk and count to within a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      connect: (_options, callback) => {
        if (this.handedOver) {
          callback(new DeliveryFault('connection_closed'), null);
          return;
        }
        this.handedOver = true;
        // Called back at once, undici would not notice that it may begin.
        queueMicrotask(() => callback(null, this.socket));
      },
    });
  }

  /** Fit for one more request, as far as this side knows. */
  get usable(): boolean {
    return !this.socket.destroyed && !this.client.destroyed && performance.now() - this.openedAt < LONGEST_LIFE_MS;
  }

  onClosed(listener: () => void): void {
    this.client.once('disconnect', listener);
  }

  /**
   * Sends one request and waits for the head of the answer, then for its body as far as the limits go. An answer whose
   * body breaks off is an answer. @throws DeliveryFault
   */
  async post(post: Post, limits: AnswerLimits): Promise<Answer> {
    const { signal, notAfter } = limits;
    const exchange = new Exchange(limits.bodyBytes);
    const leftMs = notAfter - performance.now();
    const head = await bounded<Head>(
      { timeoutMs: Math.min(limits.headersTimeoutMs, leftMs), word: 'timeout', signal },
      (resolve, reject) => {
        exchange.listen(resolve, reject);
        const { path, headers, body } = post;
        this.client.dispatch({ method: 'POST', path, headers: { ...headers }, body, reset: !post.keep }, exchange);
        return () => this.destroy();
      },
    );
    return { ...head, complete: exchange.complete ?? (await this.readToEnd(exchange, limits)) };
  }

  private readToEnd(exchange: Exchange, limits: AnswerLimits): Promise<boolean> {
    const timeoutMs = Math.min(limits.bodyTimeoutMs, limits.notAfter - performance.now());
    return bounded<boolean>({ timeoutMs, word: 'timeout', signal: limits.signal }, (resolve) => {
      exchange.onEnd(resolve);
      return () => this.destroy();
    }).catch(() => false);
  }

  destroy(): void {
    this.socket.destroy();
    // Its promise tells of requests given up; each has its own end.
    void this.client.destroy().catch(() => {});
  }
}
