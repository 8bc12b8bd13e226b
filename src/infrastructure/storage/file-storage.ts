import type { Readable } from 'node:stream';

/** Bytes of a file, both ends included, counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A file that is being written and that nobody else sees. Whoever made it must `put` or `discard` it. */
export interface TemporaryFile {
  /** Bytes written so far. */
  readonly sizeBytes: number;
  /**
   * Appends; wait for it before the next one. What it was given may be used again afterwards.
   *
   * @throws StorageUnavailableError where the bytes do not fit.
   */
  write(bytes: Uint8Array): Promise<void>;
  /** Up to `length` bytes from `position`; fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>;
  /** Removes it. Harmless after `put`, and when it is called twice. Never rejects. */
  discard(): Promise<void>;
}

/**
 * Where the bytes of media files lie. Keys are UUIDs that Herald makes: a name from outside never becomes a path.
 * What is stored under a key never changes.
 */
export abstract class FileStorage {
  /** @throws StorageUnavailableError where there is no room. */
  abstract create(): Promise<TemporaryFile>;

  /**
   * Stores a finished file: afterwards it is there as a whole and survives a loss of power. The temporary file is gone.
   *
   * @throws StorageUnavailableError; the temporary file is then still there.
   */
  abstract put(file: TemporaryFile, key: string): Promise<void>;

  /**
   * The bytes, or some of them. Destroy the stream to stop early.
   *
   * @throws FileGoneError where nothing is stored under the key.
   */
  abstract open(key: string, range?: ByteRange): Promise<Readable>;

  /** Removes what is stored under the key, if anything. */
  abstract remove(key: string): Promise<void>;

  /** Removes temporary files whose makers are gone. Returns how many. */
  abstract removeAbandoned(): Promise<number>;

  /** The number of parts that `keysOf` divides all keys into. */
  abstract readonly parts: number;

  /** Keys of one part that were stored longer ago than `olderThanMs`, for the search for files that nobody knows. */
  abstract keysOf(part: number, olderThanMs: number): Promise<string[]>;
}

/** The storage can't take or give bytes now: it is full, read-only, or out of handles. Worth another try. */
export class StorageUnavailableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StorageUnavailableError';
  }
}

/** Nothing is stored under that key. */
export class FileGoneError extends Error {
  constructor(key: string) {
    super(`nothing is stored under ${key}`);
    this.name = 'FileGoneError';
  }
}
