import { randomBytes } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import { buffer as bytesOf } from 'node:stream/consumers';
import { describeError } from '../../common/describe-error.js';
import { newId } from '../../common/ids.js';
import type { Config } from '../config/config.js';
import { FileStorage, StorageUnavailableError } from './file-storage.js';
import type { ByteRange, NewFile, TemporaryFile } from './file-storage.js';
import type { S3Bucket } from './s3-bucket.js';
import { heldBytes, S3File } from './s3-file.js';

/** No file has this key. */
const NO_FILE = '00000000-0000-0000-0000-000000000000';
/** As long as a caller's client waits without a byte, with room to spare. */
const WAIT_FOR_MEMORY_MS = 10_000;
/** By the store's clock. No upload lasts nearly as long. */
const ABANDONED_AFTER_MS = 6 * 60 * 60_000;

/**
 * Files in a bucket: `<MEDIA_S3_PREFIX><2 hex>/<2 hex>/<key>`, the same names as in the folder. Bytes pass through memory in
 * small pieces and never through a disk.
 */
export class S3Storage extends FileStorage {
  readonly parts = 256;
  private readonly timeoutMs: number;
  private readonly memory: Memory;
  private loading: Promise<S3Bucket> | null = null;
  private canListParts = true;

  constructor(private readonly config: Pick<Config, 's3' | 'process'>) {
    super();
    this.timeoutMs = config.s3.timeoutMs;
    this.memory = new Memory(config.s3.bufferBytes);
  }

  /** A wrong setting is said at the start; messages without a file go on meanwhile. */
  override onApplicationBootstrap(): void {
    if (this.config.process.roles.length === 0) return;
    this.keysOf(0, 0).catch((error: unknown) => {
      this.logger.error(`files can't be stored or sent: ${describeError(error)}; see herald doctor`);
    });
    super.onApplicationBootstrap();
  }

  /** Closes idle connections. */
  async close(): Promise<void> {
    (await this.loading)?.close();
  }

  async create(known: NewFile = {}): Promise<TemporaryFile> {
    const { key = newId() } = known;
    const bucket = await this.bucket();
    const bytes = heldBytes(known);
    if (!(await this.memory.take(bytes, WAIT_FOR_MEMORY_MS))) {
      throw new StorageUnavailableError(`${bucket.name}: files on their way to it fill MEDIA_S3_BUFFER_MIB`);
    }
    const left = (error: unknown): void => {
      this.logger.warn(`an upload that broke off could not be removed and will be later: ${describeError(error)}`);
    };
    const over = (): void => this.memory.giveBack(bytes);
    return new S3File(key, { bucket, known, timeoutMs: this.timeoutMs, over, left });
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    return inTime(await (await this.bucket()).open(key, range), this.timeoutMs);
  }

  async sizeOf(key: string): Promise<number | null> {
    return (await this.bucket()).sizeOf(key);
  }

  /** Asks for an object that is never there: whether the store answers and takes our keys. */
  async check(): Promise<void> {
    await this.sizeOf(NO_FILE);
  }

  async remove(key: string): Promise<void> {
    await (await this.bucket()).remove(key);
  }

  async removeAbandoned(): Promise<number> {
    if (!this.canListParts) return 0;
    const bucket = await this.bucket();
    const begun = await bucket.partsBegun(ABANDONED_AFTER_MS).catch((error: unknown) => {
      if (!/NotImplemented|MethodNotAllowed/.test(describeError(error))) throw error;
      this.canListParts = false;
      this.logger.warn('the store has no list of uploads that broke off: give the bucket a rule that removes them');
      return [];
    });
    for (const { key, uploadId } of begun) await bucket.abortParts(key, uploadId);
    if (begun.length > 0) this.logger.log(`removed ${begun.length} uploads of processes that are gone`);
    return begun.length;
  }

  async keysOf(part: number, olderThanMs: number): Promise<string[]> {
    return (await this.bucket()).keysIn(`${part.toString(16).padStart(2, '0')}/`, olderThanMs);
  }

  /**
   * Writes, reads, lists and removes one object, as files are. Returns what an operator should know beyond that.
   *
   * @throws StorageUnavailableError
   */
  async probe(): Promise<string | null> {
    const bytes = randomBytes(64);
    const file = await this.create({ atMostBytes: bytes.length });
    try {
      await file.write(bytes);
      await file.put();
      const read = await bytesOf(await this.open(file.key, { start: 0, end: bytes.length - 1 }));
      if (!read.equals(bytes)) throw new StorageUnavailableError('it gave other bytes than it was given');
      const listed = await this.keysOf(Number.parseInt(file.key.slice(-2), 16), -ABANDONED_AFTER_MS);
      if (!listed.includes(file.key)) throw new StorageUnavailableError('it does not list what was stored');
    } catch (error) {
      await file.discard();
      await this.remove(file.key).catch(() => undefined);
      throw error;
    }
    await this.remove(file.key);
    if ((await this.sizeOf(file.key)) !== null) throw new StorageUnavailableError('it keeps what was removed');
    return (await (await this.bucket()).keepsVersions()) === true
      ? 'it keeps versions: what is deleted or erased stays there until a lifecycle rule expires old versions'
      : null;
  }

  /** The SDK is loaded with the first use: a command that needs no file does not wait for it. */
  private bucket(): Promise<S3Bucket> {
    this.loading ??= import('./s3-bucket.js').then(({ S3Bucket: Bucket }) => new Bucket(this.config));
    return this.loading;
  }
}

/** Bytes that may be in memory at once; who asks first gets first, and all that was asked for. */
class Memory {
  private readonly waiting: { bytes: number; end: (isGranted: boolean) => void }[] = [];

  constructor(private free: number) {}

  /** False where there is no room in time. */
  async take(bytes: number, withinMs: number): Promise<boolean> {
    if (bytes === 0) return true;
    return new Promise((resolve) => {
      const end = (isGranted: boolean): void => {
        clearTimeout(timer);
        this.waiting.splice(this.waiting.indexOf(waiter), 1);
        resolve(isGranted);
      };
      const waiter = { bytes, end };
      const timer = setTimeout(() => {
        end(false);
        this.serve();
      }, withinMs);
      this.waiting.push(waiter);
      this.serve();
    });
  }

  giveBack(bytes: number): void {
    this.free += bytes;
    this.serve();
  }

  private serve(): void {
    for (let next = this.waiting[0]; next !== undefined && next.bytes <= this.free; next = this.waiting[0]) {
      this.free -= next.bytes;
      next.end(true);
    }
  }
}

/** The same bytes; breaks where none come for so long though they are wanted. A reader may pause. */
function inTime(body: Readable, timeoutMs: number): Readable {
  const bytes = new Transform({
    transform: (chunk, _encoding, done) => {
      timer.refresh();
      done(null, chunk);
    },
  });
  const late = new StorageUnavailableError(`the bucket gave no bytes for ${timeoutMs} ms`);
  const timer = setTimeout(() => {
    if (bytes.readableLength > 0) timer.refresh();
    else bytes.destroy(late);
  }, timeoutMs);
  pipeline(body, bytes, () => clearTimeout(timer));
  return bytes;
}
