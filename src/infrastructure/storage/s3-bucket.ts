import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { S3, type S3RequestOptions, type ListObjectsV2Request } from '@aws-sdk/client-s3';
import { codeOf, describeError } from '../../common/describe-error.js';
import { type Config, environmentDefault } from '../config/config.js';
import { isUuid } from '../../common/ids.js';
import {
  type ByteRange,
  FileGoneError,
  pathOfKey,
  StorageUnavailableError,
  type TemporaryFile,
} from './file-storage.js';

const CONNECT_WITHIN_MS = 5_000;
/**
 * Tries per request. The waits between them count into the time limit: three timeouts would delay a caller too long.
 */
const TRIES = 3;
const TIMEOUTS_IN_ALL = 2;
/**
 * More than uploads, sends and fetches use together. Beyond it a request waits for a socket, at most as long as for an
 * answer.
 */
const SOCKETS = 512;
const KEYS_IN_A_LIST = 1_000;
const RETRY_AFTER_MS = 200;
const CHUNK_BYTES = 64 * 1_024;
const STATUS_BUSY = 429;

/** A finished file, before it is stored. */
export type ReadableFile = Pick<TemporaryFile, 'sizeBytes' | 'read'>;

/**
 * Requests to a bucket, with timeouts, retries of requests that are safe to repeat, and Herald's errors for the
 * store's. The only file that imports the SDK: it is loaded only if S3 is chosen.
 */
export class S3Bucket {
  private readonly client: S3;
  private readonly bucket: string;
  private readonly prefix: string;
  private readonly timeoutMs: number;
  private readonly encryption: { ServerSideEncryption?: 'AES256' | 'aws:kms'; SSEKMSKeyId?: string };

  constructor({ s3 }: Pick<Config, 's3'>) {
    const { endpoint, region, accessKeyId, secretAccessKey, encryption, kmsKeyId } = s3;
    this.bucket = s3.bucket ?? '';
    this.prefix = s3.prefix;
    this.timeoutMs = s3.timeoutMs;
    this.encryption = {
      ...(encryption !== 'none' && { ServerSideEncryption: encryption }),
      ...(kmsKeyId !== null && { SSEKMSKeyId: kmsKeyId }),
    };
    // Herald itself reports, once, the cost of an older Node; the pinned SDK release supports it.
    environmentDefault('AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED', 'true');
    const sockets = { keepAlive: true, maxSockets: SOCKETS };
    this.client = new S3({
      ...(endpoint !== null && { endpoint, region: 'us-east-1' }),
      ...(region !== null && { region }),
      ...(accessKeyId !== null && secretAccessKey !== null && { credentials: { accessKeyId, secretAccessKey } }),
      forcePathStyle: s3.pathStyle,
      maxAttempts: TRIES,
      // By default the SDK adds a checksum trailer to each upload, which R2, older MinIO and others refuse or store as
      // data.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      // With a proxy that does not support it, each file would take six seconds longer.
      expectContinueHeader: false,
      // The caller reports failures; the SDK would write to the console.
      logger: { trace: silent, debug: silent, info: silent, warn: silent, error: silent },
      requestHandler: {
        connectionTimeout: CONNECT_WITHIN_MS,
        requestTimeout: this.timeoutMs,
        throwOnRequestTimeout: true,
        // A reader that pauses leaves its socket idle too, so the reader has its own time limit.
        socketTimeout: 0,
        httpAgent: sockets,
        httpsAgent: sockets,
      },
    });
    // Some stores compute a different signature for "/bucket/" than for "/bucket", which every client except this SDK
    // sends.
    this.client.middlewareStack.add(
      (next) => (args) => {
        const request = args.request as { path: string };
        if (request.path === `/${this.bucket}/`) request.path = `/${this.bucket}`;
        return next(args);
      },
      { step: 'build', name: 'pathOfBucket' },
    );
  }

  /**
   * Stores a file in one request with its length. Repeats the request if the store is busy or the network breaks,
   * because the SDK does not repeat a request whose body is a stream.
   *
   * @throws StorageUnavailableError
   */
  async put(key: string, file: ReadableFile): Promise<void> {
    const startedAt = performance.now();
    for (let left = TRIES - 1; ; left--) {
      try {
        return await this.send(key, file);
      } catch (error) {
        if (left === 0 || !mayPass(error) || performance.now() - startedAt > this.timeoutMs) throw error;
      }
      await delay(RETRY_AFTER_MS);
    }
  }

  /** One try. Ends if the store accepts no bytes, or does not answer, for the timeout. */
  private async send(key: string, file: ReadableFile): Promise<void> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.timeoutMs);
    const body = Readable.from(
      chunksOf(file, () => timer.refresh()),
      { objectMode: false },
    );
    const input = { ...this.at(key), ...this.encryption, Body: body, ContentLength: file.sizeBytes };
    try {
      await this.client.putObject(input, { requestTimeout: 0, abortSignal: late.signal });
    } catch (error) {
      throw this.errorOf(error);
    } finally {
      clearTimeout(timer);
      body.destroy();
    }
  }

  /** @throws FileGoneError, StorageUnavailableError */
  async open(key: string, range?: ByteRange): Promise<Readable> {
    const input = { ...this.at(key), Range: range && `bytes=${range.start}-${range.end}` };
    const answer = await this.ask((options) => this.client.getObject(input, options)).catch((error: unknown) => {
      throw isMissing(error) ? new FileGoneError(key) : error;
    });
    const body = answer.Body as Readable;
    if (range !== undefined && (answer.ContentLength ?? Infinity) > range.end - range.start + 1) {
      body.destroy();
      throw new StorageUnavailableError(`${this.name}: it answered a range with more than that`);
    }
    return body;
  }

  async sizeOf(key: string): Promise<number | null> {
    try {
      const input = this.at(key);
      return (await this.ask((options) => this.client.headObject(input, options))).ContentLength ?? null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async remove(key: string): Promise<void> {
    const input = this.at(key);
    await this.ask((options) => this.client.deleteObject(input, options));
  }

  /**
   * Keys below a folder of the prefix that are old enough. Pages by the last name instead of the store's token, so that
   * pages are independent.
   */
  async keysIn(folder: string, olderThanMs: number): Promise<string[]> {
    const keys: string[] = [];
    const input: ListObjectsV2Request = {
      Bucket: this.bucket,
      Prefix: this.prefix + folder,
      MaxKeys: KEYS_IN_A_LIST,
    };
    for (let isMore = true; isMore;) {
      const { Contents: objects = [], IsTruncated: isCut } = await this.ask((options) =>
        this.client.listObjectsV2(input, options),
      );
      const before = this.storeTime() - olderThanMs;
      for (const { Key: name, LastModified: storedAt } of objects) {
        const key = this.keyOf(name);
        if (key !== null && storedAt !== undefined && storedAt.getTime() < before) keys.push(key);
      }
      input.StartAfter = objects.at(-1)?.Key;
      isMore = isCut === true && input.StartAfter !== undefined;
    }
    return keys;
  }

  /** Whether removed objects stay as old versions; null where the store does not say. */
  async keepsVersions(): Promise<boolean | null> {
    const input = { Bucket: this.bucket };
    return this.ask((options) => this.client.getBucketVersioning(input, options)).then(
      ({ Status: status }) => status === 'Enabled',
      () => null,
    );
  }

  close(): void {
    this.client.destroy();
  }

  get name(): string {
    return `the bucket ${this.bucket}`;
  }

  /**
   * The store's clock, which dates its lists, as of the last answer: the SDK takes its offset from the header `Date`. A
   * host with a wrong clock must not take a new file for an old one.
   */
  private storeTime(): number {
    return Date.now() + this.client.config.systemClockOffset;
  }

  /** @throws TypeError where the key is not valid. */
  private at(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.bucket, Key: this.prefix + pathOfKey(key) };
  }

  /** Null where the name is not one that Herald gives. */
  private keyOf(name = ''): string | null {
    const key = name.slice(name.lastIndexOf('/') + 1);
    return isUuid(key) && name === this.at(key).Key ? key : null;
  }

  /** Every request has a time limit: each try, and all together. */
  private async ask<T>(request: (options: S3RequestOptions) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), this.timeoutMs * TIMEOUTS_IN_ALL);
    try {
      return await request({ abortSignal: late.signal });
    } catch (error) {
      throw this.errorOf(error);
    } finally {
      // Reading the answer's body afterwards may take longer.
      clearTimeout(timer);
    }
  }

  /**
   * Any error of the store, the network or the SDK means that the bytes are not available now; a programming error
   * stays one.
   */
  private errorOf(error: unknown): unknown {
    if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return error;
    return new StorageUnavailableError(`${this.name}: ${sentenceOf(error)}`, { cause: error });
  }
}

const silent = (): void => undefined;

async function* chunksOf(file: ReadableFile, taken: () => void): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.sizeBytes; at += CHUNK_BYTES) {
    yield await file.read(at, CHUNK_BYTES);
    taken();
  }
}

/** Whether the same request may succeed a moment later: the store says so, or did not answer. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof StorageUnavailableError)) return false;
  const { $metadata: answer } = (error.cause ?? {}) as { $metadata?: { httpStatusCode?: number } };
  const status = answer?.httpStatusCode;
  return status === undefined || status === STATUS_BUSY || (status >= 500 && status !== STATUS_FULL);
}

/** An answer to HEAD has no body, so the error has another name. */
function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(nameOf((error as Error).cause));
}

/** The store's code, or the network's. */
function nameOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { Code: code, name } = error as { Code?: unknown; name?: unknown };
  if (typeof code === 'string') return code;
  // The SDK may wrap the network's error.
  const network = codeOf(error) ?? /\bE[A-Z]{5,}\b/.exec(describeError(error))?.[0];
  return network ?? (typeof name === 'string' ? name : '');
}

/** What an operator should do, by the store's code. */
const REMEDIES: Readonly<Record<string, string>> = {
  AccessDenied: 'the key may not do this: allow s3:PutObject, s3:GetObject, s3:DeleteObject and s3:ListBucket',
  InvalidAccessKeyId: 'the store does not know the access key: correct MEDIA_S3_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the secret is not that of the access key: correct MEDIA_S3_SECRET_ACCESS_KEY',
  ExpiredToken: 'the temporary keys are too old: give new ones',
  NoSuchBucket: 'there is no such bucket: make it, or correct MEDIA_S3_BUCKET',
  PermanentRedirect: 'it is in another region: correct MEDIA_S3_REGION',
  AuthorizationHeaderMalformed: 'it is in another region: correct MEDIA_S3_REGION',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
  CredentialsProviderError: 'no keys were found: set MEDIA_S3_ACCESS_KEY_ID and MEDIA_S3_SECRET_ACCESS_KEY',
  SlowDown: 'the store has too much to do',
  ServiceUnavailable: 'the store has too much to do',
  InsufficientStorage: 'the store is full',
  XMinioStorageFull: 'the store is full',
  QuotaExceeded: 'the store is full',
  XMinioAdminBucketQuotaExceeded: 'the store is full',
  ENOTFOUND:
    'the host name is not known: correct MEDIA_S3_ENDPOINT, or set MEDIA_S3_PATH_STYLE=true where buckets have no host names',
  ECONNREFUSED: 'nothing listens there: correct MEDIA_S3_ENDPOINT, or start the store',
  TimeoutError: 'no answer came in time',
  AbortError: 'no answer came in time',
};

const STATUS_FULL = 507;

function sentenceOf(error: unknown): string {
  const name = nameOf(error);
  const { message, $metadata: answer } = error as { message?: string; $metadata?: { httpStatusCode?: number } };
  const status = answer?.httpStatusCode;
  const remedy = status === STATUS_FULL ? 'the store is full' : REMEDIES[name];
  if (remedy !== undefined) return `${remedy} (${name})`;
  if (message === 'Region is missing') return 'its region is not known: set MEDIA_S3_REGION';
  // HTML instead of XML: the port of the store's console, or a proxy.
  if (name === 'SyntaxError' || /deserialization/i.test(message ?? '')) {
    return `what answers there (HTTP ${status ?? '?'}) does not speak S3: correct MEDIA_S3_ENDPOINT`;
  }
  return `${describeError(error)} (${[status, name].filter(Boolean).join(' ')})`;
}
