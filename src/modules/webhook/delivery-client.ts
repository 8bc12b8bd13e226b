import { setMaxListeners } from 'node:events';
import type { Pool } from 'undici';
import { parseRetryAfter } from '../../common/retry-after.js';
import { checkTargetUrl } from './address/check-url.js';
import { TargetAddresses, type TargetOptions } from './address/target-checker.js';
import { Connector, type Destination } from './delivery/connector.js';
import { DeliveryError } from './delivery/delivery-error.js';
import { EndpointPools, Exchange, EXCHANGE_LIMITS, type Answer } from './delivery/endpoint-pools.js';

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
  ...EXCHANGE_LIMITS,
};

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
  private readonly addresses: TargetAddresses;
  private readonly pools: EndpointPools;
  private readonly limits: typeof LIMITS;
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;

  constructor(private readonly options: DeliveryClientOptions) {
    this.limits = { ...LIMITS, ...options.limits };
    this.addresses = new TargetAddresses(options);
    const connector = new Connector({
      connectTimeoutMs: this.limits.connectMs,
      tlsTimeoutMs: this.limits.tlsMs,
      ca: options.ca,
      isAllowed: (address) => this.addresses.isAllowed(address),
    });
    this.pools = new EndpointPools(connector);
  }

  /** Deliveries under way. */
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
      const retryAfterMs = parseRetryAfter(answer.retryAfter, Date.now(), LONGEST_REST_MS);
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
    const form = checkTargetUrl(request.url, this.options.policy);
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
    const pool = this.pools.single(url.origin, destination);
    try {
      return await post(pool, true);
    } finally {
      void pool.destroy();
    }
  }

  private async find(url: URL, signal: AbortSignal | undefined, notAfter: number): Promise<Destination> {
    const timeoutMs = Math.min(this.limits.dnsMs, notAfter - performance.now());
    const found = await this.addresses.find(url.hostname, timeoutMs, signal);
    if (signal?.aborted) throw new DeliveryError('aborted');
    if (!found.ok) throw new DeliveryError(found.failure);
    const secure = url.protocol === 'https:';
    const port = url.port === '' ? (secure ? (this.options.httpsPort ?? 443) : 80) : Number(url.port);
    return { host: url.hostname, secure, port, addresses: found.addresses };
  }
}

/** How a kept connection ends that the server had closed in the meantime. */
const CLOSED_BEFORE: ReadonlySet<string> = new Set(['connection_closed', 'connection_reset']);
