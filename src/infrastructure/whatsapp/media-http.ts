import { parseUrl } from '../../common/parse-url.js';
import { isPublicAddress } from '../../common/public-address.js';
import type { IncomingHttpHeaders } from 'node:http';
import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { ADDRESS_ATTEMPT_MS, connectOptions } from './connect-options.js';
import { loggableCode, type Exchange } from './http-exchanger.js';

export interface MediaHttpOptions {
  /** Scheme, host and port of the configured platform. */
  readonly origin: string;
  /** Name lookup, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Without a byte going either way, before the answer and within it. */
  readonly idleTimeoutMs: number;
  /** Sockets at the most, for each host. */
  readonly connections: number;
  readonly lookup?: LookupFunction | undefined;
  readonly ca?: string | undefined;
}

export interface StreamedPost {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Buffer>;
  /** For all of it. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export interface Download {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** More than this is not read. */
  readonly maxBytes: number;
  /** For all of it, redirects included. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Takes one chunk; the next is read when it has. */
  readonly consume: (chunk: Buffer) => Promise<void> | void;
}

/** `address`: where it lies, or is said to lie, nothing is fetched from. */
export type DownloadExchange =
  | { readonly kind: 'downloaded'; readonly sizeBytes: number }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'address' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'broken'; readonly code: string };

/** As `HttpExchanger`: an idle socket is closed before the other side does it under a request. */
const KEEP_ALIVE_MS = 4_000;
const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_ANSWER_BYTES = 64 * 1024;

/** Files to and from the platform over HTTP: streamed, bounded, never sent again by itself. */
export class MediaHttp {
  private readonly near: Agent;
  private readonly far: Agent;
  private readonly running = new Set<AbortController>();
  private closed = false;

  constructor(private readonly options: MediaHttpOptions) {
    this.near = agentOf(options, options.lookup);
    this.far = agentOf(options, publicLookup(options.lookup));
  }

  /** Posts a body of known length (say it in the headers) to the platform. @throws what the body's source throws. */
  async post(request: StreamedPost): Promise<Exchange> {
    const source = watched(request.body);
    try {
      return await this.within(request, async (signal) => {
        const response = await this.near.request({
          origin: this.options.origin,
          method: 'POST',
          path: request.path,
          headers: request.headers,
          body: Readable.from(source.chunks),
          signal,
        });
        const { statusCode: status, headers } = response;
        return { kind: 'answered', status, headers, body: await textOf(response.body) } as const;
      });
    } catch (error) {
      if (source.failure !== null) throw source.failure.error;
      const code = error instanceof TimeIsUp ? 'ANSWER_TIMEOUT' : loggableCode(error);
      const timedOut = code === 'ANSWER_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT';
      return { kind: 'broken', written: true, timedOut, code };
    }
  }

  /** Fetches a file of the platform's, chunk by chunk. @throws what `consume` throws. */
  async download(request: Download): Promise<DownloadExchange> {
    try {
      return await this.within(request, (signal) => this.follow(request, signal));
    } catch (error) {
      if (error instanceof ConsumerError) throw error.cause;
      return { kind: 'broken', code: error instanceof TimeIsUp ? 'ANSWER_TIMEOUT' : loggableCode(error) };
    }
  }

  /** Breaks off whatever still runs, and closes every socket. */
  async close(): Promise<void> {
    this.closed = true;
    for (const controller of this.running) controller.abort(new Closed());
    await Promise.all([this.near.destroy(), this.far.destroy()]);
  }

  private async follow(request: Download, signal: AbortSignal): Promise<DownloadExchange> {
    let address = request.url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const url = parseUrl(address);
      // Before each request: the headers contain the token, and a redirect may lead anywhere.
      if (url === null || !isPlatformAddress(url, this.options.origin)) return { kind: 'address' };
      const agent = url.origin === this.options.origin ? this.near : this.far;
      const response = await agent.request({
        origin: url.origin,
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        headers: request.headers,
        signal,
      });
      const { statusCode, headers, body } = response;
      if (statusCode === 200) return await readInto(request, headers, body);
      discard(body);
      const location = REDIRECTS.has(statusCode) ? headers.location : undefined;
      if (typeof location !== 'string') return { kind: 'refused', status: statusCode };
      if (parseUrl(location, url.href) === null) return { kind: 'address' };
      address = new URL(location, url).href;
    }
    return { kind: 'address' };
  }

  /** Runs `work` with a signal that ends it after its time, at the caller's wish, or when this is closed. */
  private async within<T>(
    { timeoutMs, signal }: Pick<Download, 'timeoutMs' | 'signal'>,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.closed || signal?.aborted === true) throw new Closed();
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new TimeIsUp()), timeoutMs);
    const onAbort = (): void => controller.abort(new Closed());
    signal?.addEventListener('abort', onAbort, { once: true });
    this.running.add(controller);
    try {
      return await work(controller.signal);
    } catch (error) {
      // Whatever broke because it was broken off broke for that reason.
      throw controller.signal.aborted && !(error instanceof ConsumerError) ? controller.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.running.delete(controller);
    }
  }
}

class TimeIsUp extends Error {}

class Closed extends Error {
  readonly code = 'CLOSED';
}

class ConsumerError extends Error {}

function agentOf(options: MediaHttpOptions, lookup: LookupFunction | undefined): Agent {
  return new Agent({
    connections: options.connections,
    pipelining: 1,
    allowH2: false,
    connectTimeout: options.connectTimeoutMs,
    headersTimeout: options.idleTimeoutMs,
    bodyTimeout: options.idleTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    connect: connectOptions({ lookup, ca: options.ca }),
  });
}

/**
 * The same chunks, and what their source threw: undici reports that as an error of the request. A request that breaks
 * is no error of the source: its stream would throw into a generator, so what it gets has no `throw`.
 */
function watched(source: AsyncIterable<Buffer>): { chunks: AsyncIterable<Buffer>; failure: { error: unknown } | null } {
  const iterator = source[Symbol.asyncIterator]();
  const chunks: AsyncIterator<Buffer> = {
    async next() {
      try {
        return await iterator.next();
      } catch (error) {
        result.failure = { error };
        throw error;
      }
    },
    async return() {
      await iterator.return?.();
      return { done: true, value: undefined };
    },
  };
  const result: ReturnType<typeof watched> = { chunks: { [Symbol.asyncIterator]: () => chunks }, failure: null };
  return result;
}

async function readInto(
  request: Download,
  headers: IncomingHttpHeaders,
  body: Dispatcher.ResponseData['body'],
): Promise<DownloadExchange> {
  let sizeBytes = 0;
  if (Number(headers['content-length'] ?? 0) > request.maxBytes) {
    discard(body);
    return { kind: 'too_large' };
  }
  for await (const chunk of body as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    // Leaving the loop destroys the stream, and the socket with it.
    if (sizeBytes > request.maxBytes) return { kind: 'too_large' };
    try {
      await request.consume(chunk);
    } catch (cause) {
      throw new ConsumerError('the file could not be taken', { cause });
    }
  }
  return { kind: 'downloaded', sizeBytes };
}

async function textOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Drops an answer that is not read; a short one leaves its socket of use. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined);
  void body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
}

/**
 * Domains on which the platform keeps files. `lookaside.fbsbx.com` is what its answers name; the others were seen as
 * targets of its redirects.
 */
const PLATFORM_DOMAINS = ['fbsbx.com', 'facebook.com', 'whatsapp.net', 'fbcdn.net'];

/**
 * True where a file may be fetched from, with the access token: the configured platform itself (the simulator, or a
 * proxy before it), and the platform's domains over HTTPS on its own port. A host given as digits is never one.
 */
export function isPlatformAddress(url: URL, baseOrigin: string): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.origin === baseOrigin) return true;
  const host = url.hostname.toLowerCase();
  return url.protocol === 'https:' && url.port === '' && PLATFORM_DOMAINS.some((domain) => host.endsWith(`.${domain}`));
}

/** Looks names up as `lookup` does, and knows no address inside our own network: a forged name leads nowhere. */
export function publicLookup(lookup: LookupFunction = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error !== null) {
        callback(error, address, family);
        return;
      }
      const addresses = Array.isArray(address) ? address : [{ address, family: family ?? 0 }];
      const [first, ...more] = addresses.filter((each) => isPublicAddress(each.address));
      if (first === undefined) {
        callback(Object.assign(new Error('the name leads into a private network'), { code: 'EPRIVATE' }), []);
      } else if (Array.isArray(address)) {
        callback(null, [first, ...more]);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
