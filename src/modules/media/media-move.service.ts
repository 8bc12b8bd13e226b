import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { mapAtOnce } from '../../common/map-at-once.js';
import { retry } from '../../common/retry.js';
import { Config } from '../../infrastructure/config/config.js';
import type { StorageKind } from '../../infrastructure/config/settings.js';
import { FileGoneError, type FileStorage, StorageUnavailableError } from '../../infrastructure/storage/file-storage.js';
import { storageOf } from '../../infrastructure/storage/storage.module.js';
import { MediaRepository } from './media.repository.js';
import type { StoredFile } from './media.types.js';

const ROWS_AT_ONCE = 500;
const FILES_AT_ONCE = 4;
/** If a storage is away or busy for this long, the move ends; a repeated run continues it. */
const PATIENCE_MS = 60_000;
const TELL_EVERY_MS = 10_000;
const NAMED = 20;

/** The result of the move. */
export interface MoveResult {
  copied: number;
  copiedBytes: number;
  /** Files that existed in the other storage already. */
  present: number;
  /** Files whose bytes are in neither storage. */
  missing: number;
  /** Files whose bytes differ from the stored checksum: they are not copied. */
  damaged: number;
  /** Some of the missing and damaged ones, by the ids of their media. */
  examples: string[];
}

export interface MoveOptions {
  to: StorageKind;
  /** Also read existing files, and copy those whose bytes differ. */
  verify: boolean;
  tell: (progress: MoveResult) => void;
}

/** Copies files from one storage to the other while the service runs. The originals stay. */
@Injectable()
export class MediaMoveService {
  constructor(
    private readonly media: MediaRepository,
    private readonly config: Config,
  ) {}

  /**
   * Copies every stored file that the other storage does not have. Each copy is read back and compared with the SHA-256
   * of its upload. It may be interrupted and run again.
   *
   * @throws StorageUnavailableError where one of the storages is away
   */
  async move({ to, verify, tell }: MoveOptions): Promise<MoveResult> {
    if (this.config.s3.bucket === null)
      throw new Error('MEDIA_S3_BUCKET must be set: the bucket that files move to or from');
    const target = storageOf(to, this.config);
    const source = storageOf(to === 's3' ? 'folder' : 's3', this.config);
    const result: MoveResult = { copied: 0, copiedBytes: 0, present: 0, missing: 0, damaged: 0, examples: [] };
    const timer = setInterval(() => tell(result), TELL_EVERY_MS);
    try {
      let after: string | null = null;
      for (;;) {
        const files: StoredFile[] = await this.media.storedAfter(after, ROWS_AT_ONCE);
        after = files.at(-1)?.id ?? null;
        if (after === null) return result;
        await mapAtOnce(files, FILES_AT_ONCE, (file) => this.moveOne(file, { source, target, verify }, result));
      }
    } finally {
      clearInterval(timer);
    }
  }

  private async moveOne(file: StoredFile, way: Way, result: MoveResult): Promise<void> {
    const outcome = await retry(() => copy(file, way), {
      forMs: PATIENCE_MS,
      onFailure: (error) => {
        if (!(error instanceof StorageUnavailableError)) throw error;
      },
    });
    if (outcome === 'copied') result.copiedBytes += file.sizeBytes;
    // The file was deleted during the copy, and no row would remove the copy later.
    if (outcome === 'copied' && (await this.media.unknownKeys([file.storageKey])).length > 0) {
      await way.target.remove(file.storageKey);
      return;
    }
    if (outcome === 'missing' && (await this.media.unknownKeys([file.storageKey])).length > 0) return;
    result[outcome]++;
    const isLost = outcome === 'missing' || outcome === 'damaged';
    if (isLost && result.examples.length < NAMED) result.examples.push(file.id);
  }
}

interface Way {
  source: FileStorage;
  target: FileStorage;
  verify: boolean;
}

async function copy(
  file: StoredFile,
  { source, target, verify }: Way,
): Promise<'copied' | 'present' | 'missing' | 'damaged'> {
  const { storageKey: key, sizeBytes, sha256 } = file;
  if ((await target.sizeOf(key)) === sizeBytes && (!verify || (await digestOf(target, key)) === sha256)) {
    return 'present';
  }
  let bytes;
  try {
    bytes = await source.open(key);
  } catch (error) {
    if (error instanceof FileGoneError) return 'missing';
    throw error;
  }
  const written = await target.create(key).catch((error: unknown) => {
    bytes.destroy();
    throw error;
  });
  try {
    const hash = createHash('sha256');
    for await (const chunk of wholeOf(bytes)) {
      hash.update(chunk);
      await written.write(chunk);
    }
    if (written.sizeBytes !== sizeBytes || hash.digest('hex') !== sha256) return 'damaged';
    await written.put();
  } finally {
    bytes.destroy();
    await written.discard();
  }
  if ((await digestOf(target, key)) === sha256) return 'copied';
  await target.remove(key);
  throw new StorageUnavailableError(`a copy was read back with other bytes than were written: ${key}`);
}

async function digestOf(storage: FileStorage, key: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of wholeOf(await storage.open(key))) hash.update(chunk);
  return hash.digest('hex');
}

/** An error in mid-read comes from the network or a disk. */
async function* wholeOf(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    if (error instanceof StorageUnavailableError) throw error;
    throw new StorageUnavailableError(`a file could not be read: ${describeError(error)}`, { cause: error });
  }
}
