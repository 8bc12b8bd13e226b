import { Injectable, Logger } from '@nestjs/common';
import type { AppError } from '../../common/app-error.js';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { isUnreachable } from '../../infrastructure/database/database-faults.js';
import { FileStorage, type TemporaryFile } from '../../infrastructure/storage/file-storage.js';
import { mediaErrors } from './media.errors.js';
import { MediaRepository, type NewMedia } from './media.repository.js';
import type { MediaObject, StoredFacts } from './media.types.js';

/** The facts about a finished temporary file. */
export type FileFacts = Omit<StoredFacts, 'storageKey'>;

/**
 * Keeps rows and bytes consistent: a row that says `stored` always has its file, and a workspace never exceeds its
 * limit of bytes.
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

  /** A file to write to: store it with one of the methods below, or discard it. @throws StorageUnavailableError */
  create(): Promise<TemporaryFile> {
    return this.storage.create();
  }

  /**
   * MEDIA_STORAGE_FULL (400) if this many more bytes would exceed the workspace's limit, otherwise null. Does not
   * consider concurrent uploads.
   */
  async lackOfSpace(organizationId: string, sizeBytes: number): Promise<AppError | null> {
    const { usedBytes, limitBytes: own } = await this.media.usageOf(organizationId);
    const limitBytes = own ?? this.config.media.workspaceLimitBytes;
    const fits = limitBytes === null || usedBytes + sizeBytes <= limitBytes;
    return fits ? null : mediaErrors.MEDIA_STORAGE_FULL({ usedBytes, limitBytes });
  }

  /**
   * Stores an upload. Uploads that end at the same time wait for each other.
   *
   * @throws StorageUnavailableError, MEDIA_STORAGE_FULL (400)
   */
  keepUploaded(file: TemporaryFile, media: Omit<NewMedia, 'storageKey'>): Promise<MediaObject> {
    const { organizationId, sizeBytes } = media;
    return this.keep(file, (storageKey) =>
      this.database.transaction(async () => {
        await this.media.lockUsage(organizationId);
        const lack = await this.lackOfSpace(organizationId, sizeBytes);
        if (lack !== null) throw lack;
        return this.media.insertUploaded({ ...media, storageKey });
      }),
    );
  }

  /**
   * Stores a customer's file that was pending. Returns false, and stores nothing, where it is no longer pending. Files that
   * arrive at once wait for one another: each is counted first, which locks its row before the sum, as a deletion does.
   *
   * @throws StorageUnavailableError, MEDIA_STORAGE_FULL (400)
   */
  async keepFetched(
    file: TemporaryFile,
    { organizationId, id }: Pick<MediaObject, 'organizationId' | 'id'>,
    facts: FileFacts,
  ): Promise<boolean> {
    return this.keep(file, async (storageKey) => {
      const isKept = await this.database.transaction(async () => {
        const isStored = await this.media.setStored(organizationId, id, { ...facts, storageKey });
        const lack = isStored ? await this.lackOfSpace(organizationId, 0) : null;
        if (lack !== null) throw lack;
        return isStored;
      });
      if (!isKept) await this.removeBytes(storageKey);
      return isKept;
    });
  }

  /** Bytes first, then the row. */
  private async keep<T>(file: TemporaryFile, writeRow: (storageKey: string) => Promise<T>): Promise<T> {
    const { key: storageKey } = file;
    await file.put();
    try {
      return await writeRow(storageKey);
    } catch (error) {
      // After a broken connection the row may exist, and then needs its bytes.
      if (!isUnreachable(error)) await this.removeBytes(storageKey);
      throw error;
    }
  }

  /** Never rejects: the sweep of unknown files finds what is left. */
  async removeBytes(storageKey: string): Promise<void> {
    await this.storage.remove(storageKey).catch((error: unknown) => {
      this.logger.warn(`a file could not be removed and will be later: ${String(error)}`);
    });
  }
}
