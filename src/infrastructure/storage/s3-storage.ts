import { randomBytes } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import { buffer as bytesOf } from 'node:stream/consumers';
import { describeError } from '../../common/describe-error.js';
import type { Config } from '../config/config.js';
import { FileGoneError, FileStorage, StorageUnavailableError } from './file-storage.js';
import type { ByteRange, TemporaryFile } from './file-storage.js';
import { FolderStorage } from './folder-storage.js';
import type { S3Bucket } from './s3-bucket.js';

/** No file has this key. */
const NO_FILE = '00000000-0000-0000-0000-000000000000';
/** A negative age larger than any difference of clocks, so that even new objects are old enough. */
const ANY_AGE_MS = -6 * 60 * 60_000;

/**
 * Files in a bucket: `<MEDIA_S3_PREFIX><2 hex>/<2 hex>/<key>`, the same names as in the folder. While a file is written
 * it is a temporary file in the folder, because S3 needs its length first.
 */
export class S3Storage extends FileStorage {
  readonly parts = 256;
  private readonly timeoutMs: number;
  private readonly folder: FolderStorage;
  private readonly space: Space;
  private loading: Promise<S3Bucket> | null = null;

  constructor(private readonly config: Pick<Config, 's3' | 'process' | 'media'>) {
    super();
    this.timeoutMs = config.s3.timeoutMs;
    this.folder = new FolderStorage(config);
    this.space = { freeBytes: config.s3.temporaryBytes };
  }

  /** Logs a wrong setting at the start; messages without a file are sent meanwhile. */
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

  async create(key?: string): Promise<TemporaryFile> {
    const left = (error: unknown): void => {
      this.logger.warn(
        `what an upload left in the bucket could not be removed and will be later: ${describeError(error)}`,
      );
    };
    return new S3File(await this.folder.create(key), { bucket: () => this.bucket(), space: this.space, left });
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    return inTime(await (await this.bucket()).open(key, range), this.timeoutMs);
  }

  async sizeOf(key: string): Promise<number | null> {
    return (await this.bucket()).sizeOf(key);
  }

  /**
   * Requests an object that never exists: tests whether the store answers, accepts our credentials and has the bucket. By
   * GET, since the answer to HEAD has no body that tells a missing bucket from a missing object.
   */
  async check(): Promise<void> {
    const asked = this.open(NO_FILE).then(
      (bytes) => bytes.destroy(),
      (error: unknown) => {
        if (!(error instanceof FileGoneError)) throw error;
      },
    );
    await Promise.all([asked, this.folder.check()]);
  }

  async remove(key: string): Promise<void> {
    await (await this.bucket()).remove(key);
  }

  removeAbandoned(): Promise<number> {
    return this.folder.removeAbandoned();
  }

  async keysOf(part: number, olderThanMs: number): Promise<string[]> {
    return (await this.bucket()).keysIn(`${part.toString(16).padStart(2, '0')}/`, olderThanMs);
  }

  /**
   * Writes, reads, lists and removes one object. Returns a further remark for the operator, if any.
   *
   * @throws StorageUnavailableError
   */
  async probe(): Promise<string | null> {
    const bytes = randomBytes(64);
    const file = await this.create();
    try {
      await file.write(bytes);
      await file.put();
      const read = await bytesOf(await this.open(file.key, { start: 0, end: bytes.length - 1 }));
      if (!read.equals(bytes)) throw new StorageUnavailableError('it gave other bytes than it was given');
      const listed = await this.keysOf(Number.parseInt(file.key.slice(-2), 16), ANY_AGE_MS);
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

  /** The SDK is loaded at the first use, so that commands without files do not wait for it. */
  private bucket(): Promise<S3Bucket> {
    this.loading ??= import('./s3-bucket.js').then(({ S3Bucket: Bucket }) => new Bucket(this.config));
    return this.loading;
  }
}

/** Bytes that temporary files of this process may still use on the disk. */
interface Space {
  freeBytes: number;
}

interface S3FileOptions {
  bucket: () => Promise<S3Bucket>;
  space: Space;
  /** Called if an object could not be removed; the search for files without a row finds it later. */
  left: (error: unknown) => void;
}

/**
 * A temporary file of the folder that moves into the bucket when it is finished. The object has its final name at once:
 * no row refers to it before `put` has returned, and `discard` removes it.
 */
class S3File implements TemporaryFile {
  readonly key: string;
  /** Whether the store was asked to create the object. */
  private mayExist = false;
  private isOver = false;

  constructor(
    private readonly file: TemporaryFile,
    private readonly options: S3FileOptions,
  ) {
    this.key = file.key;
  }

  get sizeBytes(): number {
    return this.file.sizeBytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    const { space } = this.options;
    if (bytes.length > space.freeBytes) {
      throw new StorageUnavailableError('files on their way to the bucket fill MEDIA_S3_TEMPORARY_MIB');
    }
    space.freeBytes -= bytes.length;
    try {
      await this.file.write(bytes);
    } catch (error) {
      space.freeBytes += bytes.length;
      throw error;
    }
  }

  read(position: number, length: number): Promise<Buffer> {
    return this.file.read(position, length);
  }

  async put(): Promise<void> {
    const bucket = await this.options.bucket();
    this.mayExist = true;
    await bucket.put(this.key, this.file);
    await this.end();
  }

  async discard(): Promise<void> {
    if (this.isOver) return;
    await this.end();
    if (!this.mayExist) return;
    // Also after an error: the bytes may have been stored before it.
    const bucket = await this.options.bucket();
    await bucket.remove(this.key).catch(this.options.left);
  }

  private async end(): Promise<void> {
    this.isOver = true;
    this.options.space.freeBytes += this.file.sizeBytes;
    await this.file.discard();
  }
}

/** Passes the bytes on, and fails if none arrive for `timeoutMs` while the reader wants some. A reader may pause. */
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
