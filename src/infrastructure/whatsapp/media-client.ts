import { databaseClock } from '../../common/clock.js';
import { storableText } from '../../common/json.js';
import type { OnApplicationShutdown } from '@nestjs/common';
import { lookup as systemLookup } from 'node:dns';
import { setMaxListeners } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import { parseUrl } from '../../common/parse-url.js';
import { isPublicAddress } from '../../common/public-address.js';
import { apiRootOf, type ApiRoot, poolOptions, type ConnectOptions } from './connect-options.js';
import type { CloudApiClient } from './cloud-api-client.js';
import { presentable } from './graph-error.js';
import { loggableCode, type Exchange } from './http-exchanger.js';
import { ownId, ownInteger, ownText, parseJson } from './json-access.js';
import { classifyExchange, isSendableToken, UNSENDABLE_TOKEN, type NotAcceptedOutcome } from './outcome.js';
import { failure, toPlatformResult, type PlatformResult } from './platform-result.js';
import { multipartAround, type UploadedFile, type Watched, wholeFile } from './upload-body.js';

export interface MediaClientOptions extends Pick<ConnectOptions, 'lookup' | 'ca'> {
  /** As `CloudApiClientOptions`. */
  readonly baseUrl: string;
  readonly apiVersion: string;
  /**
   * Time without a byte in either direction, before the answer and within it. WhatsApp reads a whole file before it
   * answers.
   */
  readonly idleTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 3_000;
const IDLE_TIMEOUT_MS = 30_000;
/** Limit of sockets for each host. */
const CONNECTIONS = 64;

export interface UploadMediaInput extends UploadedFile {
  readonly phoneNumberId: string;
  readonly token: string;
  readonly signal?: AbortSignal;
}

/** A sample file for a template. */
export interface UploadSampleInput extends Omit<UploadMediaInput, 'phoneNumberId'> {
  /** The id of the Meta app, or `app` for the token's own. */
  readonly appId: string;
}

/** WhatsApp accepted the file, or did not; a failure is like that of a send with the same answer. */
export type UploadOutcome = { readonly kind: 'uploaded'; readonly mediaId: string } | NotAcceptedOutcome;

export interface MediaReference {
  readonly mediaId: string;
  /** The number that owns the file. */
  readonly phoneNumberId: string;
  readonly token: string;
}

export interface DownloadMediaInput {
  /** From WhatsApp's description of the file; valid for five minutes. */
  readonly url: string;
  readonly token: string;
  /** Limit of bytes to read. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Receives one chunk; no more is read until its promise resolves. */
  readonly consume: (chunk: Buffer) => Promise<void> | void;
}

/** `address`: the file's stated location is one from which nothing may be fetched. */
export type DownloadExchange =
  | { readonly kind: 'downloaded'; readonly sizeBytes: number }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'address' }
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'broken'; readonly code: string };

/** A transfer gets a minute, plus a second per 64 KiB, at most 15 minutes. */
const BASE_TRANSFER_MS = 60_000;
const SLOWEST_BYTES_PER_SECOND = 64 * 1024;
const MAX_TRANSFER_MS = 15 * 60_000;

/** A media type that is valid in a header: `audio/ogg; codecs=opus`. */
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w-]{1,40}=[\w.+-]{1,100}){0,3}$/;

/** The session's signature looks like a query, but is a part of its id. */
const UPLOAD_SESSION = /^upload:[\w.~:=%+-]{1,2048}(?:\?[\w.~:=%&+-]{1,2048})?$/;

const MAX_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * The media calls of the Cloud API. Failures of the network or of WhatsApp are results, never thrown; none contains the
 * access token, which is sent only to WhatsApp's hosts. A file is streamed, never held in memory, and never re-sent
 * automatically.
 */
export class MediaClient implements OnApplicationShutdown {
  private readonly root: ApiRoot;
  /** `near`: to the configured platform; `far`: to its other hosts. */
  private readonly near: Agent;
  private readonly far: Agent;
  private readonly running = new Set<AbortController>();
  private closed = false;

  /** @throws Error when the address or the version can't be used. */
  constructor(
    { baseUrl, apiVersion, idleTimeoutMs = IDLE_TIMEOUT_MS, lookup, ca }: MediaClientOptions,
    private readonly calls: Pick<CloudApiClient, 'request'>,
  ) {
    this.root = apiRootOf(baseUrl, apiVersion);
    const times = {
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      headersTimeoutMs: idleTimeoutMs,
      bodyTimeoutMs: idleTimeoutMs,
    };
    const options = { ...times, connections: CONNECTIONS, ca };
    this.near = new Agent(poolOptions({ ...options, lookup }));
    this.far = new Agent(poolOptions({ ...options, lookup: publicLookup(lookup) }));
  }

  /**
   * Uploads one file for one number.
   *
   * @throws errors of `open` or its stream, and LengthMismatchError where the file does not have the stated length
   */
  async uploadMedia(input: UploadMediaInput): Promise<UploadOutcome> {
    const { phoneNumberId, token, filename, sizeBytes } = input;
    if (!isSendableToken(token)) return UNSENDABLE_TOKEN;
    const mimeType = MIME_TYPE.test(input.mimeType) ? input.mimeType : 'application/octet-stream';
    const taken: Watched = { failure: null };
    const multipart = multipartAround({ filename, mimeType, sizeBytes, open: () => input.open() }, taken);
    const path = `${encodeURIComponent(phoneNumberId)}/media`;
    const headers = { 'content-type': multipart.contentType, 'content-length': String(multipart.contentLength) };
    const exchange = await this.post(path, { ...headersOf(token), ...headers }, multipart.chunks, input, taken);
    return uploadOutcome(exchange, token);
  }

  /**
   * Uploads one file by the resumable upload, in one piece; the result is its handle.
   *
   * @throws the same as `uploadMedia`
   */
  async uploadSample(input: UploadSampleInput): Promise<PlatformResult<string>> {
    const { appId, token, mimeType, filename, sizeBytes } = input;
    const begun = await this.calls.request({
      method: 'POST',
      path: `/${encodeURIComponent(appId)}/uploads`,
      token,
      query: { file_name: filename, file_length: String(sizeBytes), file_type: mimeType },
    });
    if (!begun.ok) return begun;
    const session = ownText(begun.body, 'id') ?? '';
    if (!UPLOAD_SESSION.test(session)) return failure('unavailable', { message: 'The platform named no upload.' });
    const taken: Watched = { failure: null };
    const headers = {
      ...headersOf(token),
      // Unlike all other calls, these do not accept Bearer.
      authorization: `OAuth ${token}`,
      file_offset: '0',
      'content-type': 'application/octet-stream',
      'content-length': String(sizeBytes),
    };
    const exchange = await this.post(
      session,
      headers,
      wholeFile(() => input.open(), sizeBytes, taken),
      input,
      taken,
    );
    const result = toPlatformResult(exchange, token);
    if (!result.ok) return result;
    const handle = ownText(result.body, 'h') ?? '';
    return handle === ''
      ? failure('unavailable', { status: result.status, message: 'The platform gave no handle for the file.' })
      : { ...result, body: handle };
  }

  /** Queries the location and the type of a file. */
  async describeMedia({ mediaId, phoneNumberId, token }: MediaReference): Promise<PlatformResult<MediaDescription>> {
    const result = await this.calls.request({
      method: 'GET',
      path: `/${encodeURIComponent(mediaId)}`,
      token,
      query: { phone_number_id: phoneNumberId },
    });
    if (!result.ok) return result;
    const body = readMediaDescription(result.body);
    const message = 'The platform answered something that is no description of a file.';
    return body === null ? failure('unavailable', { status: result.status, message }) : { ...result, body };
  }

  /** Fetches a file's bytes, following redirects within WhatsApp's hosts. @throws errors of `consume` */
  async downloadMedia(input: DownloadMediaInput): Promise<DownloadExchange> {
    const { token, maxBytes, signal } = input;
    if (!isSendableToken(token)) return { kind: 'broken', code: 'TOKEN' };
    const taken: Watched = { failure: null };
    try {
      return await this.within(maxBytes, signal, (end) => this.follow(input, taken, end));
    } catch (error) {
      if (taken.failure !== null) throw taken.failure.error;
      return { kind: 'broken', code: loggableCode(error) };
    }
  }

  deleteMedia({ mediaId, phoneNumberId, token }: MediaReference): Promise<PlatformResult> {
    return this.calls.request({
      method: 'DELETE',
      path: `/${encodeURIComponent(mediaId)}`,
      token,
      query: { phone_number_id: phoneNumberId },
    });
  }

  /** Aborts transfers and closes every socket. */
  async close(): Promise<void> {
    this.closed = true;
    for (const controller of this.running) controller.abort(new BrokenOff('CLOSED'));
    await Promise.all([this.near.destroy(), this.far.destroy()]);
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Posts a file, and reads the answer. @throws errors of its stream */
  private async post(
    path: string,
    headers: Record<string, string>,
    chunks: AsyncIterable<Uint8Array>,
    { sizeBytes, signal }: Pick<UploadMediaInput, 'sizeBytes' | 'signal'>,
    taken: Watched,
  ): Promise<Exchange> {
    const request = { origin: this.root.origin, method: 'POST', path: `${this.root.path}/${path}`, headers } as const;
    try {
      return await this.within(sizeBytes, signal, async (end) => {
        const answer = await this.near.request({ ...request, body: Readable.from(chunks), signal: end });
        return {
          kind: 'answered',
          status: answer.statusCode,
          headers: answer.headers,
          body: await textOf(answer.body),
        };
      });
    } catch (error) {
      if (taken.failure !== null) throw taken.failure.error;
      return brokenBy(error);
    }
  }

  private async follow(input: DownloadMediaInput, taken: Watched, signal: AbortSignal): Promise<DownloadExchange> {
    // A compressed answer would have another digest and no known length.
    const requestHeaders = { ...headersOf(input.token), 'accept-encoding': 'identity' };
    let address = input.url;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const url = parseUrl(address);
      // Checked before each request: the headers contain the token, and a redirect may lead anywhere.
      if (url === null || !isPlatformAddress(url, this.root.origin)) return { kind: 'address' };
      const agent = url.origin === this.root.origin ? this.near : this.far;
      const response = await agent.request({
        origin: url.origin,
        method: 'GET',
        path: `${url.pathname}${url.search}`,
        headers: requestHeaders,
        signal,
      });
      const { statusCode, headers, body } = response;
      if (statusCode === 200) return await readInto(input, taken, headers, body);
      discard(body);
      const location = REDIRECTS.has(statusCode) ? headers.location : undefined;
      if (typeof location !== 'string') return { kind: 'refused', status: statusCode };
      if (parseUrl(location, url.href) === null) return { kind: 'address' };
      address = new URL(location, url).href;
    }
    return { kind: 'address' };
  }

  /**
   * Runs `work` with a signal that aborts it after the file's time limit, on the caller's signal, or when this client
   * is closed.
   */
  private async within<T>(
    bytes: number,
    signal: AbortSignal | undefined,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    if (this.closed || signal?.aborted === true) throw new BrokenOff('CLOSED');
    const controller = new AbortController();
    const timeoutMs = Math.min(BASE_TRANSFER_MS + (bytes / SLOWEST_BYTES_PER_SECOND) * 1_000, MAX_TRANSFER_MS);
    const timer = setTimeout(() => controller.abort(new BrokenOff('ANSWER_TIMEOUT')), timeoutMs);
    const onAbort = (): void => controller.abort(new BrokenOff('CLOSED'));
    // One signal serves many files at once.
    if (signal !== undefined) setMaxListeners(Infinity, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.running.add(controller);
    try {
      return await work(controller.signal);
    } catch (error) {
      // If the work was aborted, the reason of the abort is the error.
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.running.delete(controller);
    }
  }
}

class BrokenOff extends Error {
  constructor(readonly code: 'ANSWER_TIMEOUT' | 'CLOSED') {
    super(code);
  }
}

function brokenBy(error: unknown): Exchange {
  const code = loggableCode(error);
  const timedOut = code === 'ANSWER_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT';
  return { kind: 'broken', written: true, timedOut, code };
}

function headersOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: '*/*', 'user-agent': 'Herald' };
}

function uploadOutcome(exchange: Exchange, token: string): UploadOutcome {
  if (exchange.kind === 'answered' && exchange.status >= 200 && exchange.status < 300) {
    const mediaId = ownId(parseJson(exchange.body), 'id');
    if (mediaId !== null && /^[\x21-\x7e]+$/.test(mediaId)) return { kind: 'uploaded', mediaId };
  }
  const outcome = classifyExchange(exchange, databaseClock.now());
  // An `accepted` outcome is meaningless here: the answer gives the file no id.
  if (outcome.kind === 'accepted') return { ...UNSENDABLE_TOKEN, kind: 'unknown', category: 'unknown', written: true };
  const { platformMessage } = outcome;
  return { ...outcome, platformMessage: platformMessage === null ? null : presentable(platformMessage, token) };
}

export interface MediaDescription {
  /** The address, valid for five minutes, with the access token. */
  readonly url: string;
  readonly mimeType: string | null;
  /** As WhatsApp writes it: hex here, base64 in its notifications. */
  readonly sha256: string | null;
  readonly sizeBytes: number | null;
}

/** Reads the answer to `GET /{media_id}`; null where it has no address. */
export function readMediaDescription(body: unknown): MediaDescription | null {
  const url = ownText(body, 'url');
  if (url === null || parseUrl(url) === null) return null;
  const sizeBytes = ownInteger(body, 'file_size');
  const mimeType = ownText(body, 'mime_type');
  return {
    url,
    mimeType: mimeType === null ? null : storableText(mimeType),
    sha256: ownText(body, 'sha256'),
    sizeBytes: sizeBytes === null || sizeBytes < 0 ? null : sizeBytes,
  };
}

async function readInto(
  { maxBytes, consume }: DownloadMediaInput,
  taken: Watched,
  headers: IncomingHttpHeaders,
  body: Dispatcher.ResponseData['body'],
): Promise<DownloadExchange> {
  let sizeBytes = 0;
  if (Number(headers['content-length'] ?? 0) > maxBytes) {
    discard(body);
    return { kind: 'too_large' };
  }
  for await (const chunk of body as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    // Leaving the loop destroys the stream and its socket.
    if (sizeBytes > maxBytes) return { kind: 'too_large' };
    try {
      await consume(chunk);
    } catch (error) {
      taken.failure = { error };
      throw error;
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

/** Discards an unread answer; after a short one its socket stays usable. */
function discard(body: Dispatcher.ResponseData['body']): void {
  body.on('error', () => undefined);
  void body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => undefined);
}

/**
 * Domains that host WhatsApp's files. Its answers name `lookaside.fbsbx.com`; the others were seen in its redirects.
 */
const PLATFORM_DOMAINS = ['fbsbx.com', 'facebook.com', 'whatsapp.net', 'fbcdn.net'];

/**
 * Whether a file may be fetched from this address with the access token: the configured platform (the simulator, or a
 * proxy), and WhatsApp's domains over HTTPS on the default port. A numeric host never is.
 */
export function isPlatformAddress(url: URL, baseOrigin: string): boolean {
  if (url.username !== '' || url.password !== '') return false;
  if (url.origin === baseOrigin) return true;
  const host = url.hostname.toLowerCase();
  return url.protocol === 'https:' && url.port === '' && PLATFORM_DOMAINS.some((domain) => host.endsWith(`.${domain}`));
}

/** Resolves names like `lookup`, but refuses addresses in our own network, so that a forged name leads nowhere. */
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
