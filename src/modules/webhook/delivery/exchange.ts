import type { Dispatcher } from 'undici';
import { answerWord, DeliveryError } from './delivery-error.js';

/** What of an answer counts. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
}

/** Milliseconds. */
export interface ExchangeLimits {
  /** For all of it, by `performance.now()`. */
  readonly notAfter: number;
  /** From the request to the answer's head. */
  readonly headersMs: number;
  /** From the answer's head to the end of its body. */
  readonly bodyMs: number;
  readonly bodyBytes: number;
}

/** A request by which its connection finds the exchange. */
export interface ExchangeRequest extends Dispatcher.DispatchOptions {
  readonly exchange: Exchange;
}

/**
 * One request's way through undici. The head of the answer decides: its body is read within its limits to free the
 * connection, and an answer whose body breaks off is an answer. undici's own time limits start anew with each chunk and
 * count to within a second, so the limits are kept here.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** The connection had served before. */
  kept = false;
  private answer: Answer | null = null;
  private bodyBytes = 0;
  private controller: Dispatcher.DispatchController | null = null;
  private timer: NodeJS.Timeout | undefined;
  private settled = false;
  private readonly onAbort = (): void => this.giveUp('aborted');

  private constructor(
    private readonly limits: ExchangeLimits,
    private readonly signal: AbortSignal | undefined,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: DeliveryError) => void,
  ) {
    signal?.addEventListener('abort', this.onAbort);
    this.within(Infinity, 'connect_timeout');
  }

  /** Resolves when all of it is over. @throws DeliveryError */
  static run(
    pool: Dispatcher,
    request: Dispatcher.DispatchOptions,
    limits: ExchangeLimits,
    signal: AbortSignal | undefined,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(limits, signal, resolve, reject);
      const withExchange: ExchangeRequest = { ...request, exchange };
      pool.dispatch(withExchange, exchange);
    });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // Given up while it waited for its connection: nothing of it is written.
    if (this.settled) controller.abort(new DeliveryError('aborted'));
    else this.within(this.limits.headersMs, 'timeout');
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx are announcements; the answer follows.
    if (status < 200) return;
    this.answer = { status, retryAfter: headers['retry-after'] };
    this.within(this.limits.bodyMs, 'timeout');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.bodyBytes > this.limits.bodyBytes) this.giveUp('answer_body_too_large');
  }

  onResponseEnd(): void {
    // undici lets a connection serve again after a turn of the event loop; the next delivery is to find it free.
    setImmediate(() => setImmediate(() => this.settle(new DeliveryError('connection_failed'))));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    this.settle(error instanceof DeliveryError ? error : new DeliveryError(answerWord(error), this.kept));
  }

  private within(ms: number, word: string): void {
    clearTimeout(this.timer);
    const leftMs = Math.max(0, Math.min(ms, this.limits.notAfter - performance.now()));
    this.timer = setTimeout(() => this.giveUp(word), leftMs);
  }

  private giveUp(word: string): void {
    const error = new DeliveryError(word);
    this.settle(error);
    this.controller?.abort(error);
  }

  /** Ends it with its answer, else with this error. */
  private settle(error: DeliveryError): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.onAbort);
    if (this.answer === null) this.reject(error);
    else this.resolve(this.answer);
  }
}
