import type { Readable } from 'node:stream';
import { Injectable, Logger } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { isUnreachable } from '../../infrastructure/database/database-faults.js';
import { type ByteRange, FileStorage, type TemporaryFile } from '../../infrastructure/storage/file-storage.js';
import type { KeptMedia } from './media-row.js';
import { MediaRepository, type NewMedia, type StoredFacts } from './media.repository.js';
import type { MediaObject } from './media.types.js';
import { StorageQuota } from './storage-quota.js';

/** What is known of a finished temporary file. */
export type FileFacts = Omit<StoredFacts, 'storageKey'>;

/** Brings rows and bytes together: a row that says `stored` always has its file. */
@Injectable()
export class MediaFiles {
  private readonly logger = new Logger(MediaFiles.name);

  constructor(
    private readonly media: MediaRepository,
    private readonly storage: FileStorage,
    private readonly quota: StorageQuota,
  ) {}

  /** A file to write into: `put` it by one of the methods below, or discard it. @throws StorageUnavailableError */
  create(): Promise<TemporaryFile> {
    return this.storage.create();
  }

  /**
   * The bytes of a stored file, or some of them.
   *
   * @throws FileGoneError where there are none.
   */
  open(media: Pick<KeptMedia, 'storageKey' | 'id'>, range?: ByteRange): Promise<Readable> {
    return this.storage.open(media.storageKey ?? media.id, range);
  }

  /** Stores an upload. @throws StorageUnavailableError, MEDIA_STORAGE_FULL (400) */
  async keepUploaded(file: TemporaryFile, media: Omit<NewMedia, 'storageKey'>): Promise<MediaObject> {
    const storageKey = newId();
    await this.storage.put(file, storageKey);
    try {
      const insert = () => this.media.insertUploaded({ ...media, storageKey });
      return await this.quota.within(media.organizationId, media.sizeBytes, insert);
    } catch (error) {
      await this.removeUnlessKept(storageKey, error);
      throw error;
    }
  }

  /**
   * Stores a customer's file that was pending. Returns false, and keeps nothing, where it is pending no more.
   *
   * @throws StorageUnavailableError
   */
  async keepFetched(
    file: TemporaryFile,
    media: Pick<MediaObject, 'organizationId' | 'id'>,
    facts: FileFacts,
  ): Promise<boolean> {
    const storageKey = newId();
    await this.storage.put(file, storageKey);
    let kept: boolean;
    try {
      kept = await this.media.setStored(media.organizationId, media.id, { ...facts, storageKey });
    } catch (error) {
      await this.removeUnlessKept(storageKey, error);
      throw error;
    }
    if (!kept) await this.removeBytes(storageKey);
    return kept;
  }

  /** A connection that broke says nothing of the row: it may be there, and then needs its bytes. */
  private async removeUnlessKept(storageKey: string, error: unknown): Promise<void> {
    if (!isUnreachable(error)) await this.removeBytes(storageKey);
  }

  /** Never rejects: what stays behind is found by the search for files that nobody knows. */
  async removeBytes(storageKey: string): Promise<void> {
    await this.storage.remove(storageKey).catch((error: unknown) => {
      this.logger.warn(`a file could not be removed and will be later: ${String(error)}`);
    });
  }
}
