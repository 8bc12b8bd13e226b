import type { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { isUnreachable } from '../../infrastructure/database/database-faults.js';
import {
  type ByteRange,
  FileStorage,
  type NewFile,
  type TemporaryFile,
} from '../../infrastructure/storage/file-storage.js';
import { mediaErrors } from './media.errors.js';
import { MediaRepository, type NewMedia, type StorageUsage, type StoredFacts } from './media.repository.js';
import type { MediaObject } from './media.types.js';

/** What is known of a finished temporary file. */
export type FileFacts = Omit<StoredFacts, 'storageKey'>;

/**
 * Brings rows and bytes together: a row that says `stored` always has its file, and a workspace has no more bytes than
 * its limit allows.
 */
@Injectable()
export class MediaFiles {
  private readonly logger = new Logger(MediaFiles.name);

  constructor(
    private readonly media: MediaRepository,
    private readonly storage: FileStorage,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** A file to write into: keep it by one of the methods below, or discard it. @throws StorageUnavailableError */
  create(known?: NewFile): Promise<TemporaryFile> {
    return this.storage.create(known);
  }

  /**
   * The bytes of a stored file, or some of them.
   *
   * @throws FileGoneError where there are none.
   */
  open(media: { id: string; storageKey: string | null }, range?: ByteRange): Promise<Readable> {
    return this.storage.open(media.storageKey ?? media.id, range);
  }

  /** False where so many bytes more would be beyond the limit. Says nothing of what comes in meanwhile. */
  async hasSpaceFor(organizationId: string, sizeBytes: number): Promise<boolean> {
    return fits(await this.usageOf(organizationId), sizeBytes);
  }

  /**
   * Before the first byte of an upload is stored.
   *
   * @throws MEDIA_STORAGE_FULL (400).
   */
  async requireSpaceFor(organizationId: string, sizeBytes: number): Promise<void> {
    const usage = await this.usageOf(organizationId);
    if (fits(usage, sizeBytes)) return;
    throw mediaErrors.MEDIA_STORAGE_FULL({ usedBytes: usage.usedBytes, limitBytes: usage.limitBytes ?? 0 });
  }

  /**
   * Stores an upload. Of uploads that end at once each waits for the one before.
   *
   * @throws StorageUnavailableError, MEDIA_STORAGE_FULL (400)
   */
  keepUploaded(file: TemporaryFile, media: Omit<NewMedia, 'storageKey'>): Promise<MediaObject> {
    const { organizationId, sizeBytes } = media;
    return this.keep(file, (storageKey) =>
      this.database.transaction(async () => {
        await this.media.lockUsage(organizationId);
        await this.requireSpaceFor(organizationId, sizeBytes);
        return this.media.insertUploaded({ ...media, storageKey });
      }),
    );
  }

  /**
   * Stores a customer's file that was pending. Returns false, and keeps nothing, where it is pending no more.
   *
   * @throws StorageUnavailableError
   */
  async keepFetched(
    file: TemporaryFile,
    { organizationId, id }: Pick<MediaObject, 'organizationId' | 'id'>,
    facts: FileFacts,
  ): Promise<boolean> {
    return this.keep(file, async (storageKey) => {
      const isKept = await this.media.setStored(organizationId, id, { ...facts, storageKey });
      if (!isKept) await this.removeBytes(storageKey);
      return isKept;
    });
  }

  /** Bytes first, then the row. */
  private async keep<T>(file: TemporaryFile, writeRow: (storageKey: string) => Promise<T>): Promise<T> {
    const { key: storageKey } = file;
    await this.storage.put(file);
    try {
      return await writeRow(storageKey);
    } catch (error) {
      // A connection that broke says nothing of the row: it may be there, and then needs its bytes.
      if (!isUnreachable(error)) await this.removeBytes(storageKey);
      throw error;
    }
  }

  /** Never rejects: what stays behind is found by the sweep of unknown files. */
  async removeBytes(storageKey: string): Promise<void> {
    await this.storage.remove(storageKey).catch((error: unknown) => {
      this.logger.warn(`a file could not be removed and will be later: ${String(error)}`);
    });
  }

  private async usageOf(organizationId: string): Promise<StorageUsage> {
    const { usedBytes, limitBytes } = await this.media.usageOf(organizationId);
    return { usedBytes, limitBytes: limitBytes ?? this.config.media.workspaceLimitBytes };
  }
}

function fits({ usedBytes, limitBytes }: StorageUsage, sizeBytes: number): boolean {
  return limitBytes === null || usedBytes + sizeBytes <= limitBytes;
}
