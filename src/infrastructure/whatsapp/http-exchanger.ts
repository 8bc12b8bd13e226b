import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Pool, type Dispatcher } from 'undici';
import type { Deadline } from '../../common/deadline.js';
import { codeOf } from '../../common/describe-error.js';
import { poolOptions, type ConnectOptions } from './connect-options.js';

/** The course of one HTTP request to WhatsApp, before its outcome is judged. */
export type Exchange = AnsweredExchange | BrokenExchange;

/** A status line was received. */
export interface AnsweredExchange {
  readonly kind: 'answered';
  readonly status: number;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The received body: shorter than sent where the connection broke, empty where it was too long. */
  readonly body: string;
}

/** No status line was received. */
export interface BrokenExchange {
  readonly kind: 'broken';
  /** True when any part of the request may have been sent. */
  readonly written: boolean;
  /** True when the request was written and the time for the answer ran out. */
  readonly timedOut: boolean;
  /** Such as `ECONNREFUSED`, `UND_ERR_HEADERS_TIMEOUT`; `TOO_LATE` and `CLOSED` are ours. */
  readonly code: string;
}

const REASONS: readonly (readonly [codes: RegExp, words: string])[] = [
  [/^ECONNREFUSED$/, 'the connection was refused'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'the name could not be resolved'],
  [/^(UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'no connection was made in time'],
  [/CERT|TLS|SSL/, 'no secure connection was made'],
  [/^(TOO_LATE|CLOSED)$/, 'its time was over'],
];

/** Why an exchange broke, in words for a caller: libraries change their codes between versions. */
export function brokenReason(code: string): string {
  return REASONS.find(([codes]) => codes.test(code))?.[1] ?? 'the connection failed';
}

export interface HttpExchangerOptions extends ConnectOptions {
  /** Scheme, host and port. */
  readonly origin: string;
}

export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Alternating names and values. */
  readonly headers: string[];
  readonly body: Buffer | null;
  /** No byte is written after this time. */
  readonly notAfter: Deadline;
  /** Limit for the answer's body; a longer one reads as empty. */
  readonly maxBytes: number;
}

const SENT_HEADERS = 'undici:client:sendHeaders';

/** setTimeout would fire at once for larger values. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * HTTP to one host over a pool of kept connections, one request at a time on each. Reports for every request whether it
 * may have been sent, writes nothing after its deadline, follows no redirects, and never sends twice.
 */
export class HttpExchanger {
  private readonly pool: Pool;
  /**
   * Keyed by the request's body, the very buffer that undici names when it sends; without a body by the call itself.
   */
  private readonly calls = new Map<object, Call>();
  private readonly answerTimeoutMs: number;
  private drained: (() => void) | null = null;
  private closing: Promise<void> | null = null;

  constructor(options: HttpExchangerOptions) {
    this.answerTimeoutMs = options.headersTimeoutMs + options.bodyTimeoutMs;
    this.pool = new Pool(options.origin, poolOptions(options));
    subscribe(SENT_HEADERS, this.onSentHeaders);
  }

  /** Requests in flight, including those that wait for a socket. */
  get inFlight(): number {
    return this.calls.size;
  }

  /** Makes one exchange. Never rejects: every error is a result. */
  exchange(request: ExchangeRequest): Promise<Exchange> {
    if (this.closing !== null) return Promise.resolve(notWritten('CLOSED'));
    return new Promise((resolve) => {
      const call = new Call(request, this.answerTimeoutMs, (exchange) => {
        this.calls.delete(request.body ?? call);
        if (this.calls.size === 0) this.drained?.();
        resolve(exchange);
      });
      this.calls.set(request.body ?? call, call);
      call.dispatchTo(this.pool);
    });
  }

  /** Aborts unwritten requests, lets requests in flight end, then closes every socket. */
  close(): Promise<void> {
    this.closing ??= this.drain();
    return this.closing;
  }

  private async drain(): Promise<void> {
    for (const call of this.calls.values()) call.giveUpUnwritten('CLOSED');
    if (this.calls.size > 0) {
      await new Promise<void>((resolve) => {
        this.drained = resolve;
      });
    }
    unsubscribe(SENT_HEADERS, this.onSentHeaders);
    await this.pool.destroy();
  }

  private readonly onSentHeaders = (message: unknown): void => {
    const { body } = (message as { request: { body: Buffer | null } }).request;
    if (body !== null) this.calls.get(body)?.onWritten();
  };
}

/** One request on undici, from the queue for a socket to its single result. */
class Call implements Dispatcher.DispatchHandler {
  private written = false;
  private settled = false;
  private timedOut = false;
  private overlong = false;
  private status = 0;
  private headers: Record<string, string | string[] | undefined> = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private timer: NodeJS.Timeout | undefined;
  private controller: Dispatcher.DispatchController | null = null;

  constructor(
    private readonly request: ExchangeRequest,
    private readonly answerTimeoutMs: number,
    private readonly settle: (exchange: Exchange) => void,
  ) {}

  dispatchTo(pool: Pool): void {
    const waitMs = this.request.notAfter.msLeft;
    if (!(waitMs > 0)) {
      this.giveUpUnwritten('TOO_LATE');
      return;
    }
    const { method, path, headers, body } = this.request;
    pool.dispatch({ method, path, headers, body }, this);
    // If a socket was free, it has just been written.
    if (this.written || this.settled) return;
    // While it waits for a socket there is nothing in undici to abort. The call ends here, and `onRequestStart` refuses
    // it later.
    this.timer = setTimeout(() => this.giveUpUnwritten('TOO_LATE'), Math.min(waitMs, MAX_TIMER_MS));
  }

  giveUpUnwritten(code: string): void {
    if (!this.written) this.finish(notWritten(code));
  }

  /** Undici calls this synchronously, directly before it writes; if it throws, nothing is written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.settled || this.written || !(this.request.notAfter.msLeft >= 0)) throw new UnwantedWriteError();
    this.controller = controller;
    if (this.request.body === null) this.onWritten();
  }

  onWritten(): void {
    this.written = true;
    clearTimeout(this.timer);
    // Undici's own limits restart with each chunk, so a slow answer would never time out.
    this.timer = setTimeout(() => {
      this.timedOut = true;
      this.controller?.abort(new Error('the answer took too long'));
    }, this.answerTimeoutMs);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx are interim; the final answer follows.
    if (status >= 200) {
      this.status = status;
      this.headers = headers;
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.size += chunk.length;
    if (this.size > this.request.maxBytes) {
      this.overlong = true;
      controller.abort(new Error('the answer is too long'));
      return;
    }
    this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.finishAnswered();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: unknown): void {
    if (this.status > 0) {
      this.finishAnswered();
      return;
    }
    if (error instanceof UnwantedWriteError && !this.written) {
      this.finish(notWritten('TOO_LATE'));
      return;
    }
    const code = loggableCode(error);
    const timedOut = this.timedOut || code === 'UND_ERR_HEADERS_TIMEOUT';
    this.finish({
      kind: 'broken',
      written: this.written,
      timedOut: this.written && timedOut,
      code: this.timedOut ? 'ANSWER_TIMEOUT' : code,
    });
  }

  private finishAnswered(): void {
    const [first, ...more] = this.chunks;
    const body = more.length === 0 ? first : Buffer.concat(this.chunks, this.size);
    this.finish({
      kind: 'answered',
      status: this.status,
      headers: this.headers,
      body: this.overlong || body === undefined ? '' : body.toString('utf8'),
    });
  }

  private finish(exchange: Exchange): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.settle(exchange);
  }
}

class UnwantedWriteError extends Error {
  readonly code = 'UNWANTED_WRITE';
}

function notWritten(code: string): BrokenExchange {
  return { kind: 'broken', written: false, timedOut: false, code };
}

/** Only the code: a message may contain addresses and other foreign text. */
export function loggableCode(error: unknown): string {
  const code = codeOf(error);
  return code !== undefined && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : 'UNKNOWN';
}
