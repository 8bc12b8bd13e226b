import type { Readable } from 'node:stream';
import { Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { isUuid } from '../../common/ids.js';

const SWEEP_EVERY_MS = 10 * 60_000;

/** A range of bytes of a file, both ends inclusive, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A file being written, not visible to others. Its creator must `put` or `discard` it. */
export interface TemporaryFile {
  /** The key under which `put` stores it. */
  readonly key: string;
  /** Bytes written so far. */
  readonly sizeBytes: number;
  /**
   * Appends; await it before the next call. The buffer may be reused afterwards.
   *
   * @throws StorageUnavailableError where the bytes do not fit.
   */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Up to `length` bytes from `position`; fewer at the end of the file. Nothing may be written afterwards.
   *
   * @throws StorageUnavailableError
   */
  read(position: number, length: number): Promise<Buffer>;
  /**
   * Stores the finished file under its key: afterwards it is complete and survives a loss of power.
   *
   * @throws StorageUnavailableError; the temporary file then still exists.
   */
  put(): Promise<void>;
  /** Removes it. Harmless after `put`, and when called twice. Never rejects. */
  discard(): Promise<void>;
}

/**
 * Storage for the bytes of media files. Keys are UUIDs that Herald makes, so a name from outside never becomes a path.
 * Content under a key never changes.
 */
export abstract class FileStorage implements OnApplicationBootstrap, OnModuleDestroy {
  protected readonly logger = new Logger(this.constructor.name);
  private sweeping: NodeJS.Timeout | undefined;

  /**
   * @param key a UUID. Default: a new one; only a file copied from another storage has one already
   * @throws StorageUnavailableError where there is no space.
   */
  abstract create(key?: string): Promise<TemporaryFile>;

  /**
   * The bytes, or some of them. Destroy the stream to stop early.
   *
   * @throws FileGoneError where nothing is stored under the key, StorageUnavailableError.
   */
  abstract open(key: string, range?: ByteRange): Promise<Readable>;

  /** The size of the file under the key; null where there is none. @throws StorageUnavailableError */
  abstract sizeOf(key: string): Promise<number | null>;

  /** Checks cheaply whether files can be stored and read now. @throws StorageUnavailableError */
  abstract check(): Promise<void>;

  /** Removes the file under the key, if any. */
  abstract remove(key: string): Promise<void>;

  /** Removes temporary files whose processes are gone; also runs at intervals by itself. Returns how many. */
  abstract removeAbandoned(): Promise<number>;

  /** The number of parts that `keysOf` divides all keys into. */
  abstract readonly parts: number;

  /** Keys of one part that were stored more than `olderThanMs` ago, for the search for files without a row. */
  abstract keysOf(part: number, olderThanMs: number): Promise<string[]>;

  onApplicationBootstrap(): void {
    const sweep = (): void => {
      this.removeAbandoned().catch((error: unknown) => {
        this.logger.warn(`temporary files could not be removed and will be tried again: ${describeError(error)}`);
      });
    };
    this.sweeping = setInterval(sweep, SWEEP_EVERY_MS).unref();
    sweep();
  }

  onModuleDestroy(): void {
    clearInterval(this.sweeping);
  }
}

/** The storage can't store or return bytes now: it is full, read-only, away or out of handles. May be retried. */
export class StorageUnavailableError extends Error {
  override name = 'StorageUnavailableError';
}

/** Nothing is stored under that key. */
export class FileGoneError extends Error {
  override name = 'FileGoneError';

  constructor(key: string) {
    super(`nothing is stored under ${key}`);
  }
}

/**
 * Folders come from the end of the key: its beginning is the time, which would fill one folder after the other.
 *
 * @throws TypeError
 */
export function pathOfKey(key: string): string {
  if (!isUuid(key)) throw new TypeError('a storage key is a UUID');
  return `${key.slice(-2)}/${key.slice(-4, -2)}/${key}`;
}
