import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { Client, Pool, type buildConnector, type Dispatcher } from 'undici';
import { databaseClock } from '../../common/clock.js';
import { parseRetryAfter } from '../../common/retry-after.js';
import { checkTargetUrl, TargetChecker, type TargetOptions } from './address/target-checker.js';
import { answerWord, Connector, DeliveryError, type Destination, type OpenSocket } from './delivery/connector.js';

/** Limit of the pause that a receiver can ask for; the retry schedule has its own limits. */
const MAX_REST_MS = 24 * 3_600_000;

export interface DeliveryRequest {
  /** The canonical URL from `TargetChecker`. */
  readonly url: string;
  /** Without Host, Content-Length and Connection, which this client adds. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly signal?: AbortSignal | undefined;
  /** The endpoint's id: its deliveries may reuse a connection. Without it, each delivery opens its own. */
  readonly endpoint?: string | undefined;
}

export type DeliveryResult =
  /** Any status, including redirects, which are not followed. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs: number | null;
      readonly durationMs: number;
    }
  /** `error` is a short stable word, listed in docs/webhooks.md. */
  | { readonly kind: 'failed'; readonly error: string; readonly durationMs: number };

export interface DeliveryClientOptions extends TargetOptions {
  /** Certificate authorities to trust instead of Node's (PEM). For tests; no setting sets it. */
  readonly ca?: string | undefined;
  /** Replaces port 443 in tests, which may not listen there; no setting sets it. */
  readonly httpsPort?: number | undefined;
  readonly limits?: Partial<typeof LIMITS> | undefined;
}

/** In milliseconds. */
const LIMITS = {
  /** For a whole delivery; each part has a limit of its own. */
  totalMs: 10_000,
  dnsMs: 4_000,
  /** For TCP to one address. */
  connectMs: 3_000,
  tlsMs: 3_000,
  /** From the request to the head of the answer. */
  headersMs: 10_000,
  /** From the head of the answer to the end of its body; an answer with a slower body still counts. */
  bodyMs: 2_000,
  /** For the body, in bytes; the rest is cut off, and the answer still counts. */
  bodyBytes: 65_536,
};

/** @property notAfter the deadline of the delivery, by `performance.now()`. */
type Limits = typeof LIMITS & { notAfter: number };

/**
 * Delivers to addresses that callers chose.
 *
 * The steps of one delivery: the form of the URL is checked again. Its host is resolved, and every address must be
 * public. A connection is opened to one of those addresses, not to the name, so a name server cannot answer differently
 * a moment later. The address that the socket reached is checked before a byte is written, and the certificate is
 * verified for the host. The request is sent once. The head of the answer decides; its body is read up to a limit and
 * discarded. No redirects, proxies or cookies are used.
 *
 * If the server closed a reused connection before any answer, the delivery is repeated once on a new connection:
 * deliveries are "at least once", and receivers recognise repeats by id.
 */
export class DeliveryClient {
  private readonly targets: TargetChecker;
  private readonly pools: EndpointPools;
  private readonly limits: typeof LIMITS;
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;

  constructor(private readonly options: DeliveryClientOptions) {
    this.limits = { ...LIMITS, ...options.limits };
    this.targets = new TargetChecker(options);
    const connector = new Connector({
      ...this.limits,
      ca: options.ca,
      isAllowed: (address) => this.targets.isAllowed(address),
    });
    this.pools = new EndpointPools(connector);
  }

  get inFlight(): number {
    return this.underWay.size;
  }

  /** Makes one delivery, within ten seconds. Never rejects: a failure is a result. */
  async deliver(request: DeliveryRequest): Promise<DeliveryResult> {
    const startedAt = performance.now();
    const sinceMs = (): number => Math.round(performance.now() - startedAt);
    if (this.closed || request.signal?.aborted === true) return { kind: 'failed', error: 'aborted', durationMs: 0 };
    const attempt = this.attempt(request, startedAt + this.limits.totalMs);
    this.underWay.add(attempt);
    try {
      const answer = await attempt;
      const retryAfterMs = parseRetryAfter(answer.retryAfter, databaseClock.now(), MAX_REST_MS);
      return { kind: 'answered', status: answer.status, retryAfterMs, durationMs: sinceMs() };
    } catch (error) {
      const word = error instanceof DeliveryError ? error.word : 'request_not_valid';
      return { kind: 'failed', error: word, durationMs: sinceMs() };
    } finally {
      this.underWay.delete(attempt);
    }
  }

  /** Accepts no more deliveries, lets current ones end (ten seconds at most), and closes kept connections. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.underWay);
    this.pools.close();
  }

  private async attempt(request: DeliveryRequest, notAfter: number): Promise<Answer> {
    const { body, endpoint, signal } = request;
    const form = checkTargetUrl(request.url, this.options);
    if (!form.ok) throw new DeliveryError(form.reason);
    const { url } = form;
    // One signal serves many deliveries at the same time.
    if (signal !== undefined) setMaxListeners(0, signal);
    const destination = await this.find(url, signal, notAfter);
    const limits = { ...this.limits, notAfter };
    const post = (pool: Pool, reset: boolean): Promise<Answer> => {
      const path = url.pathname + url.search;
      return Exchange.run(pool, { method: 'POST', path, headers: { ...request.headers }, body, reset }, limits, signal);
    };
    if (endpoint !== undefined) {
      try {
        return await post(this.pools.of(endpoint, url.origin, destination), false);
      } catch (error) {
        const isStale = error instanceof DeliveryError && error.onKept && CLOSED_BEFORE.has(error.word);
        if (!isStale) throw error;
      }
    }
    // Opens a separate connection.
    const { pool } = this.pools.make(url.origin, destination);
    try {
      return await post(pool, true);
    } finally {
      void pool.destroy();
    }
  }

  private async find(url: URL, signal: AbortSignal | undefined, notAfter: number): Promise<Destination> {
    const timeoutMs = Math.min(this.limits.dnsMs, notAfter - performance.now());
    const found = await this.targets.find(url.hostname, timeoutMs, signal);
    if (signal?.aborted) throw new DeliveryError('aborted');
    if (!found.ok) throw new DeliveryError(found.failure);
    const secure = url.protocol === 'https:';
    const port = url.port === '' ? (secure ? (this.options.httpsPort ?? 443) : 80) : Number(url.port);
    return { host: url.hostname, secure, port, addresses: found.addresses };
  }
}

/** Errors of a kept connection that the server had closed meanwhile. */
const CLOSED_BEFORE: ReadonlySet<string> = new Set(['connection_closed', 'connection_reset']);

/** Limit of endpoints whose connections are kept, and of all their connections: the least recently used is closed. */
const MAX_POOLS = 512;
const MAX_OPEN = 512;

/** Names move and certificates expire, so connections are renewed from time to time. */
const MAX_LIFE_MS = 60_000;

/**
 * An idle connection lives for 4 s, or 1 s less than the server announces. A request on a connection that the server is
 * just closing would have to be sent again.
 */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** A longer head is an attempt to fill the memory. */
const HEAD_BYTES = 16_384;

/** For one connection: all addresses that are tried, and the handshake. */
const CONNECT_MS = 10_000;

interface EndpointPool {
  readonly pool: Pool;
  /** The destination found by the last delivery. */
  destination: Destination;
  readonly sockets: Set<OpenSocket>;
}

/** HTTP/1.1 over one connection at a time. */
class EndpointClient extends Client {
  override dispatch(request: ExchangeRequest, handler: Dispatcher.DispatchHandler): boolean {
    request.exchange.kept = this.stats.connected;
    return super.dispatch(request, handler);
  }
}

/**
 * Connections for the deliveries of each endpoint. Endpoints never share a connection, even to the same host, so that a
 * server's answers reach only the workspace that chose it.
 */
class EndpointPools {
  private readonly pools = new LRUCache<string, EndpointPool>({
    max: MAX_POOLS,
    ttl: MAX_LIFE_MS,
    // Running requests come to their end.
    dispose: ({ pool }) => void pool.close(),
  });
  private readonly closing = new AbortController();
  private open = 0;

  constructor(private readonly connector: Connector) {
    setMaxListeners(0, this.closing.signal);
  }

  /** The connections of this endpoint; all lead to addresses that were just checked. */
  of(endpoint: string, origin: string, destination: Destination): Pool {
    const key = `${endpoint} ${origin}`;
    const known = this.pools.get(key);
    if (known !== undefined && [...known.sockets].every(({ address }) => destination.addresses.includes(address))) {
      known.destination = destination;
      return known.pool;
    }
    const made = this.make(origin, destination);
    this.pools.set(key, made);
    return made.pool;
  }

  /** Closes all connections; call it only when no delivery is in flight. */
  close(): void {
    this.closing.abort();
    this.pools.clear();
  }

  /** A connection that is not kept: the caller closes it. */
  make(origin: string, destination: Destination): EndpointPool {
    const pool = new Pool(origin, {
      factory: (url, options) => new EndpointClient(url, options),
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: HEAD_BYTES,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      connect: (_options, callback) => void this.connect(made, callback),
    });
    const made: EndpointPool = { pool, destination, sockets: new Set() };
    return made;
  }

  private async connect(pool: EndpointPool, callback: buildConnector.Callback): Promise<void> {
    const limits = { notAfter: performance.now() + CONNECT_MS, signal: this.closing.signal };
    let opened: OpenSocket;
    try {
      opened = await this.connector.open(pool.destination, limits);
    } catch (error) {
      callback(error as DeliveryError, null);
      return;
    }
    pool.sockets.add(opened);
    this.open++;
    opened.socket.once('close', () => {
      pool.sockets.delete(opened);
      this.open--;
    });
    if (this.open > MAX_OPEN) this.pools.pop();
    callback(null, opened.socket);
  }
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
}

/** A request through which its connection finds the exchange. */
interface ExchangeRequest extends Dispatcher.DispatchOptions {
  readonly exchange: Exchange;
}

/**
 * One request on undici. The head of the answer decides: its body is read within limits only to free the connection,
 * and an answer with a broken body counts. undici's own time limits restart with each chunk and are accurate to a
 * second only, so this class has its own.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** The connection had served an earlier request. */
  kept = false;
  private answer: Answer | null = null;
  private bodyBytes = 0;
  private controller: Dispatcher.DispatchController | null = null;
  private timer: NodeJS.Timeout | undefined;
  private settled = false;
  private readonly onAbort = (): void => this.giveUp('aborted');

  private constructor(
    private readonly limits: Limits,
    private readonly signal: AbortSignal | undefined,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: DeliveryError) => void,
  ) {
    signal?.addEventListener('abort', this.onAbort);
    this.within(Infinity, 'connect_timeout');
  }

  /** Resolves when the exchange is complete. @throws DeliveryError */
  static run(
    pool: Dispatcher,
    request: Dispatcher.DispatchOptions,
    limits: Limits,
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
    // Aborted while it waited for its connection: nothing was written.
    if (this.settled) controller.abort(new DeliveryError('aborted'));
    else this.within(this.limits.headersMs, 'timeout');
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 1xx are interim; the final answer follows.
    if (status < 200) return;
    this.answer = { status, retryAfter: headers['retry-after'] };
    this.within(this.limits.bodyMs, 'timeout');
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bodyBytes += chunk.length;
    if (this.bodyBytes > this.limits.bodyBytes) this.giveUp('answer_body_too_large');
  }

  onResponseEnd(): void {
    // undici reuses a connection only after a turn of the event loop; the next delivery must find it free.
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

  /** Ends the exchange with its answer, otherwise with this error. */
  private settle(error: DeliveryError): void {
    if (this.settled) return;
    this.settled = true;
    clearTimeout(this.timer);
    this.signal?.removeEventListener('abort', this.onAbort);
    if (this.answer === null) this.reject(error);
    else this.resolve(this.answer);
  }
}
