import { setMaxListeners } from 'node:events';
import { parseRetryAfter } from '../../common/retry-after.js';
import { checkTargetUrl } from './address/check-url.js';
import { TargetAddresses, type FoundAddresses, type TargetOptions } from './address/target-addresses.js';
import { bounded } from './delivery/bounded.js';
import { Connection, type Answer } from './delivery/connection.js';
import { Connector, type Limits } from './delivery/connector.js';
import { DeliveryFault } from './delivery/delivery-fault.js';
import { IdleConnections } from './delivery/idle-connections.js';

/** A receiver cannot ask for a longer rest; the retry schedule has its own limits. */
const LONGEST_REST_MS = 24 * 3_600_000;

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
  readonly limits?: Partial<DeliveryLimits> | undefined;
}

export interface DeliveryLimits {
  /** For all of a delivery, in milliseconds; each part of it has a limit of its own. */
  readonly totalMs: number;
  readonly dnsMs: number;
  /** TCP with one address. */
  readonly connectMs: number;
  readonly tlsMs: number;
  /** From the request to the answer's head. */
  readonly headersMs: number;
  /** From the answer's head to the end of its body; an answer whose body takes longer counts all the same. */
  readonly bodyMs: number;
  /** Of the body; what is longer is cut off, and the answer counts all the same. */
  readonly bodyBytes: number;
}

const LIMITS: DeliveryLimits = {
  totalMs: 10_000,
  dnsMs: 4_000,
  connectMs: 3_000,
  tlsMs: 3_000,
  headersMs: 10_000,
  bodyMs: 2_000,
  bodyBytes: 65_536,
};

/**
 * Delivers to addresses that strangers chose.
 *
 * What happens to one delivery: the form of the URL is checked again; its host is resolved, and every address found must
 * be public; a connection is opened to one of those addresses (not to the name, so nobody can answer differently a
 * moment later), and the address that the socket reached is checked before a byte is written; the certificate is
 * verified for the host; the request goes out once; the head of the answer decides, its body is read up to a limit and
 * thrown away. No redirect is followed, no proxy asked, no cookie kept.
 *
 * A kept connection that turns out to have been closed by the server before any answer is replaced by a new one, once:
 * deliveries are "at least once" anyway, and their ids make repeats known.
 */
export class DeliveryClient {
  private readonly addresses: TargetAddresses;
  private readonly connector: Connector;
  private readonly limits: DeliveryLimits;
  private readonly idle = new IdleConnections();
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;

  constructor(private readonly options: DeliveryClientOptions) {
    this.limits = { ...LIMITS, ...options.limits };
    this.addresses = new TargetAddresses(options);
    this.connector = new Connector({
      connectTimeoutMs: this.limits.connectMs,
      tlsTimeoutMs: this.limits.tlsMs,
      ca: options.ca,
      isAllowed: (address) => this.addresses.isAllowed(address),
    });
  }

  /** Deliveries under way. */
  get inFlight(): number {
    return this.underWay.size;
  }

  /** Makes one delivery, within ten seconds. Never rejects: every fault is a result of its own. */
  async deliver(request: DeliveryRequest): Promise<DeliveryResult> {
    const startedAt = performance.now();
    const sinceMs = (): number => Math.round(performance.now() - startedAt);
    if (this.closed) {
      return { kind: 'failed', error: 'aborted', durationMs: 0 };
    }
    const attempt = this.attempt(request, startedAt + this.limits.totalMs);
    this.underWay.add(attempt);
    try {
      const answer = await attempt;
      const retryAfterMs = parseRetryAfter(answer.retryAfter, Date.now(), LONGEST_REST_MS);
      return { kind: 'answered', status: answer.status, retryAfterMs, durationMs: sinceMs() };
    } catch (error) {
      const word = error instanceof DeliveryFault ? error.word : 'request_not_valid';
      return { kind: 'failed', error: word, durationMs: sinceMs() };
    } finally {
      this.underWay.delete(attempt);
    }
  }

  /** Takes no more deliveries, lets those under way come to their end (ten seconds at most), closes what is kept. */
  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.underWay);
    this.idle.clear();
  }

  private async attempt(request: DeliveryRequest, notAfter: number): Promise<Answer> {
    const form = checkTargetUrl(request.url, this.options.policy);
    if (!form.ok) {
      throw new DeliveryFault(form.reason);
    }
    const { url } = form;
    const limits = { notAfter, signal: request.signal };
    if (request.signal !== undefined) {
      // One signal serves many deliveries at once.
      setMaxListeners(0, request.signal);
    }
    const found = await this.find(url.hostname, limits);
    if (!found.ok) {
      throw new DeliveryFault(found.fault);
    }
    const key = request.endpoint === undefined ? null : `${request.endpoint} ${url.origin}`;
    const kept = key === null ? null : this.idle.take(key, found.addresses);
    if (kept !== null) {
      try {
        return await this.post(kept, key, url, request, limits);
      } catch (error) {
        if (!(error instanceof DeliveryFault && CLOSED_BEFORE.has(error.word))) {
          throw error;
        }
      }
    }
    const { socket, address } = await this.connector.open(
      { host: url.hostname, secure: url.protocol === 'https:', port: this.portOf(url), addresses: found.addresses },
      limits,
    );
    const connection = new Connection(url.origin, socket, address);
    if (key !== null) {
      connection.onClosed(() => this.idle.remove(key, connection));
    }
    return this.post(connection, key, url, request, limits);
  }

  private find(host: string, limits: Limits): Promise<FoundAddresses> {
    const timeoutMs = Math.min(this.limits.dnsMs, limits.notAfter - performance.now());
    return bounded({ timeoutMs, word: 'dns_timeout', signal: limits.signal }, (resolve) => {
      void this.addresses.find(host).then(resolve);
      return () => {};
    });
  }

  private portOf(url: URL): number {
    if (url.port !== '') {
      return Number(url.port);
    }
    return url.protocol === 'https:' ? (this.options.httpsPort ?? 443) : 80;
  }

  private async post(
    connection: Connection,
    key: string | null,
    url: URL,
    request: DeliveryRequest,
    limits: Limits,
  ): Promise<Answer> {
    let answer: Answer | null = null;
    try {
      answer = await connection.post(
        { path: url.pathname + url.search, headers: request.headers, body: request.body, keep: key !== null },
        {
          ...limits,
          headersTimeoutMs: this.limits.headersMs,
          bodyTimeoutMs: this.limits.bodyMs,
          bodyBytes: this.limits.bodyBytes,
        },
      );
      return answer;
    } finally {
      if (key !== null && answer?.complete === true && !this.closed) {
        this.idle.put(key, connection);
      } else {
        connection.destroy();
      }
    }
  }
}

/** How a kept connection ends that the server had closed in the meantime. */
const CLOSED_BEFORE: ReadonlySet<string> = new Set(['connection_closed', 'connection_reset']);
