import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { Client, Pool, type buildConnector, type Dispatcher } from 'undici';
import { databaseClock } from '../../common/clock.js';
import { parseRetryAfter } from '../../common/retry-after.js';
import { checkTargetUrl, TargetChecker, type TargetOptions } from './address/target-checker.js';
import { answerWord, Connector, DeliveryError, type Destination, type OpenSocket } from './delivery/connector.js';

/** A receiver cannot ask for a longer rest; the retry schedule has its own limits. */
const MAX_REST_MS = 24 * 3_600_000;

export interface DeliveryRequest {
  /** As `TargetChecker` made it. */
  readonly url: string;
  /** Without Host, Content-Length and Connection, which this client writes. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  readonly signal?: AbortSignal | undefined;
  /** Id of the endpoint: its deliveries may follow each other on a kept connection. Without it, each gets its own. */
  readonly endpoint?: string | undefined;
}

export type DeliveryResult =
  /** Any status, redirects included: they are answers and are not followed. */
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs: number | null;
      readonly durationMs: number;
    }
  /** `error` is a short stable word: see docs/webhooks.md. */
  | { readonly kind: 'failed'; readonly error: string; readonly durationMs: number };

export interface DeliveryClientOptions extends TargetOptions {
  /** Certificate authorities to trust instead of Node's (PEM). For tests; no setting feeds it. */
  readonly ca?: string | undefined;
  /** Stands for port 443. For tests, which may not listen there; no setting feeds it. */
  readonly httpsPort?: number | undefined;
  readonly limits?: Partial<typeof LIMITS> | undefined;
}

/** In milliseconds. */
const LIMITS = {
  /** For all of a delivery; each part of it has a limit of its own. */
  totalMs: 10_000,
  dnsMs: 4_000,
  /** TCP with one address. */
  connectMs: 3_000,
  tlsMs: 3_000,
  /** From the request to the answer's head. */
  headersMs: 10_000,
  /** From the answer's head to the end of its body; an answer whose body takes longer still counts. */
  bodyMs: 2_000,
  /** Of the body, in bytes; what is longer is cut off, and the answer still counts. */
  bodyBytes: 65_536,
};

/** @property notAfter for all of it, by `performance.now()`. */
type Limits = typeof LIMITS & { notAfter: number };

/**
 * Delivers to addresses that callers chose.
 *
 * What happens to one delivery: the form of the URL is checked again; its host is resolved, and every address found must
 * be public; a connection is opened to one of those addresses (not to the name, so no name server can answer differently
 * a moment later), and the address that the socket reached is checked before a byte is written; the certificate is
 * verified for the host; the request goes out once; the head of the answer decides, its body is read up to a limit and
 * thrown away. No redirect is followed, no proxy asked, no cookie kept.
 *
 * A kept connection that turns out to have been closed by the server before any answer is replaced by a new one, once:
 * deliveries are "at least once" anyway, and their ids make repeats known.
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

  /** Makes one delivery, within ten seconds. Never rejects: whatever goes wrong is a result of its own. */
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

  /** Takes no more deliveries, lets those under way come to their end (ten seconds at most), closes what is kept. */
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
    // One signal serves many deliveries at once.
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
    // Over a connection of its own.
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

/** How a kept connection ends that the server had closed in the meantime. */
const CLOSED_BEFORE: ReadonlySet<string> = new Set(['connection_closed', 'connection_reset']);

/** Endpoints whose connections are kept, and connections of all of them: the one used least lately gives its own up. */
const MAX_POOLS = 512;
const MAX_OPEN = 512;

/** A name moves, a certificate expires: connections are renewed from time to time. */
const MAX_LIFE_MS = 60_000;

/**
 * An idle connection lives for 4 s, or 1 s less than the server announces: what meets a connection that the other side
 * is just closing has to be sent again.
 */
const KEEP_ALIVE_MS = 4_000;
const KEEP_ALIVE_MARGIN_MS = 1_000;

/** More in an answer's head is an attempt to fill our memory. */
const HEAD_BYTES = 16_384;

/** For one connection, all addresses that are tried and the handshake together. */
const CONNECT_MS = 10_000;

interface EndpointPool {
  readonly pool: Pool;
  /** Found by the last delivery. */
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
 * Connections for the deliveries of each endpoint. One endpoint never gets another's, not even where both name the same
 * host, so that what one server says on it can only ever reach the workspace that chose that server.
 */
class EndpointPools {
  private readonly pools = new LRUCache<string, EndpointPool>({
    max: MAX_POOLS,
    ttl: MAX_LIFE_MS,
    // What is under way comes to its end.
    dispose: ({ pool }) => void pool.close(),
  });
  private readonly closing = new AbortController();
  private open = 0;

  constructor(private readonly connector: Connector) {
    setMaxListeners(0, this.closing.signal);
  }

  /** Those of this endpoint, all of which lead to addresses that were found and checked just now. */
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

  /** Closes the connections; only when nothing is in flight any more. */
  close(): void {
    this.closing.abort();
    this.pools.clear();
  }

  /** One that is not kept: the caller closes it. */
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

/** A request by which its connection finds the exchange. */
interface ExchangeRequest extends Dispatcher.DispatchOptions {
  readonly exchange: Exchange;
}

/**
 * One request's way through undici. The head of the answer decides: its body is read within its limits to free the
 * connection, and an answer whose body breaks off is an answer. undici's own time limits restart with each chunk and
 * count to within a second, so the limits are kept here.
 */
class Exchange implements Dispatcher.DispatchHandler {
  /** The connection had served before. */
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

  /** Resolves when all of it is over. @throws DeliveryError */
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
