import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { parseUrl } from '../../common/parse-url.js';
import { apiRootOf } from './api-root.js';
import type { CloudApiClient } from './cloud-api-client.js';
import { presentable } from './graph-error.js';
import type { Exchange } from './http-exchanger.js';
import { ownId, ownInteger, ownText, parseJson, storableText } from './json-access.js';
import { MediaHttp, type DownloadExchange, type MediaHttpOptions } from './media-http.js';
import { classifyExchange, isSendableToken, UNSENDABLE_TOKEN, type NotAcceptedOutcome } from './outcome.js';
import { failure, type PlatformResult } from './platform-result.js';

export interface MediaClientOptions extends Partial<Omit<MediaHttpOptions, 'origin'>> {
  /** As `CloudApiClientOptions`. */
  readonly baseUrl: string;
  readonly apiVersion: string;
}

/** The platform looks at a whole file before it answers. */
const DEFAULTS = { connectTimeoutMs: 3_000, idleTimeoutMs: 30_000, connections: 64 };

export interface UploadMediaInput {
  readonly phoneNumberId: string;
  readonly token: string;
  readonly mimeType: string;
  /** The platform derives types from it too; a path's last part only. */
  readonly filename: string;
  /** Exactly what `open` gives. */
  readonly sizeBytes: number;
  /** Opens the file's bytes; called at most once, when there is a connection. */
  open(): Promise<Readable>;
  readonly signal?: AbortSignal;
}

/** The platform took the file, or it did not: then as a send with the same answer. */
export type UploadOutcome = { readonly kind: 'uploaded'; readonly mediaId: string } | NotAcceptedOutcome;

export interface MediaReference {
  readonly mediaId: string;
  /** The number that owns the file. */
  readonly phoneNumberId: string;
  readonly token: string;
}

export interface DownloadMediaInput {
  /** What the platform's description names; valid for five minutes. */
  readonly url: string;
  readonly token: string;
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** Takes one chunk; no more is read until it has. */
  readonly consume: (chunk: Buffer) => Promise<void> | void;
}

/** A file on its way gets a minute, and a second for each 64 KiB; never more than 15 minutes. */
const BASE_TRANSFER_MS = 60_000;
const SLOWEST_BYTES_PER_SECOND = 64 * 1024;
const LONGEST_TRANSFER_MS = 15 * 60_000;

/** A media type that can be in a header: `audio/ogg; codecs=opus`. */
const MIME_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w-]{1,40}=[\w.+-]{1,100}){0,3}$/;

/**
 * The media calls of the Cloud API. Failures of the network or the platform are answers, never thrown; the access token
 * is in none of them, and goes to no host but the platform's. A file is streamed, never held, and never sent again by
 * itself.
 */
export class MediaClient {
  private readonly http: MediaHttp;
  private readonly root: string;

  /** @throws Error when the address or the version can't be used. */
  constructor(
    options: MediaClientOptions,
    private readonly calls: Pick<CloudApiClient, 'request'>,
  ) {
    const { origin, path } = apiRootOf(options.baseUrl, options.apiVersion);
    this.root = path;
    this.http = new MediaHttp({ ...DEFAULTS, ...options, origin });
  }

  /**
   * Uploads one file for one number.
   * @throws what `open` or its stream throws, and LengthMismatchError where the file is not as long as was said
   */
  async uploadMedia(input: UploadMediaInput): Promise<UploadOutcome> {
    const { phoneNumberId, token, filename, sizeBytes, signal } = input;
    if (!isSendableToken(token)) return UNSENDABLE_TOKEN;
    const mimeType = MIME_TYPE.test(input.mimeType) ? input.mimeType : 'application/octet-stream';
    const multipart = multipartAround(
      { name: 'file', filename, mimeType, sizeBytes },
      { messaging_product: 'whatsapp', type: mimeType },
    );
    const exchange = await this.http.post({
      path: `${this.root}/${encodeURIComponent(phoneNumberId)}/media`,
      headers: {
        ...headersOf(token),
        'content-type': multipart.contentType,
        'content-length': String(multipart.contentLength),
      },
      body: bodyOf(multipart, () => input.open(), sizeBytes),
      timeoutMs: transferTimeMs(sizeBytes),
      signal,
    });
    return uploadOutcome(exchange, token);
  }

  /** Asks where a file lies and what it is. */
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

  /** Fetches a file's bytes, following redirects within the platform. @throws what `consume` throws */
  async downloadMedia({ url, token, maxBytes, signal, consume }: DownloadMediaInput): Promise<DownloadExchange> {
    if (!isSendableToken(token)) return { kind: 'broken', code: 'TOKEN' };
    return this.http.download({
      url,
      // A compressed answer would have another digest and no known length.
      headers: { ...headersOf(token), 'accept-encoding': 'identity' },
      maxBytes,
      timeoutMs: transferTimeMs(maxBytes),
      signal,
      consume,
    });
  }

  /** Deletes the platform's copy of a file. */
  deleteMedia({ mediaId, phoneNumberId, token }: MediaReference): Promise<PlatformResult> {
    return this.calls.request({
      method: 'DELETE',
      path: `/${encodeURIComponent(mediaId)}`,
      token,
      query: { phone_number_id: phoneNumberId },
    });
  }

  /** Breaks off what is under way and closes every socket. */
  close(): Promise<void> {
    return this.http.close();
  }
}

function headersOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, accept: '*/*', 'user-agent': 'Herald' };
}

function transferTimeMs(sizeBytes: number): number {
  return Math.min(BASE_TRANSFER_MS + (sizeBytes / SLOWEST_BYTES_PER_SECOND) * 1_000, LONGEST_TRANSFER_MS);
}

function uploadOutcome(exchange: Exchange, token: string): UploadOutcome {
  if (exchange.kind === 'answered' && exchange.status >= 200 && exchange.status < 300) {
    const mediaId = ownId(parseJson(exchange.body), 'id');
    if (mediaId !== null && /^[\x21-\x7e]+$/.test(mediaId)) return { kind: 'uploaded', mediaId };
  }
  const outcome = classifyExchange(exchange, Date.now());
  // An answer to a send has no place here: whatever it was, no file has an id by it.
  if (outcome.kind === 'accepted') return { ...UNSENDABLE_TOKEN, kind: 'unknown', category: 'unknown', written: true };
  const { platformMessage } = outcome;
  return { ...outcome, platformMessage: platformMessage === null ? null : presentable(platformMessage, token) };
}

/** What the platform says of one of its files. */
export interface MediaDescription {
  /** Where it can be fetched for five minutes, with the access token. */
  readonly url: string;
  readonly mimeType: string | null;
  /** As the platform writes it: hex here, base64 in its notifications. */
  readonly sha256: string | null;
  readonly sizeBytes: number | null;
}

/** Reads the answer to `GET /{media_id}`; null where it names no address. */
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

export interface FilePart {
  readonly name: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
}

/** A multipart body around one file that is not in memory. */
export interface Multipart {
  readonly contentType: string;
  /** Of the whole body, head and tail included. */
  readonly contentLength: number;
  readonly head: Buffer;
  readonly tail: Buffer;
}

/** Makes what is before and after the file's bytes. */
export function multipartAround(file: FilePart, fields: Readonly<Record<string, string>>): Multipart {
  const boundary = `herald-${randomBytes(18).toString('hex')}`;
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${quotable(name)}"\r\n\r\n${value}\r\n`,
  );
  const disposition = `form-data; name="${quotable(file.name)}"; filename="${quotable(file.filename)}"`;
  const fileHead = `--${boundary}\r\nContent-Disposition: ${disposition}\r\nContent-Type: ${file.mimeType}\r\n\r\n`;
  const head = Buffer.from([...parts, fileHead].join(''));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: head.length + file.sizeBytes + tail.length,
    head,
    tail,
  };
}

/** As browsers write names inside quotes (WHATWG, multipart/form-data encoding). */
function quotable(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

/**
 * Head, file, tail. The file is opened when the head was taken, so that one that is never sent is never opened.
 * @throws LengthMismatchError when the file has not as many bytes as it was said to have
 */
export async function* bodyOf(
  { head, tail }: Multipart,
  open: () => Promise<AsyncIterable<Buffer>>,
  sizeBytes: number,
): AsyncGenerator<Buffer> {
  yield head;
  let given = 0;
  for await (const chunk of await open()) {
    given += chunk.length;
    if (given > sizeBytes) throw new LengthMismatchError();
    yield chunk;
  }
  if (given !== sizeBytes) throw new LengthMismatchError();
  yield tail;
}

export class LengthMismatchError extends Error {
  constructor() {
    super('the file is shorter or longer than it was when it was stored');
    this.name = 'LengthMismatchError';
  }
}
