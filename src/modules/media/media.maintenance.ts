import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { describeError } from '../../common/describe-error.js';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { mapAtOnce } from '../../common/map-at-once.js';
import { Slots } from '../../common/slots.js';
import { within } from '../../common/within.js';
import { Config } from '../../infrastructure/config/config.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { Sweeps } from '../../infrastructure/queue/sweeps.js';
import { Backlogs } from '../../infrastructure/operations/backlogs.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { Metrics } from '../../infrastructure/operations/metrics/metrics.js';
import { FileStorage } from '../../infrastructure/storage/file-storage.js';
import { MediaClient } from '../../infrastructure/whatsapp/media-client.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { MediaFiles } from './media-files.js';
import { MediaRepository } from './media.repository.js';
import type { MediaDirection, MediaObject, PlatformCopy, RemovedMedia } from './media.types.js';
import { MEDIA_DIRECTIONS } from './media.types.js';

/** A check of a bucket is a paid request. */
const STORAGE_LOOK_EVERY_MS = 15_000;
/** Shorter than the time for a gauge: a storage that hangs is not available. */
const STORAGE_LOOK_MS = 1_500;

const DAY_MS = 86_400_000;
const ERASURE_BATCH = 200;
const REMOVALS_AT_ONCE = 8;

const COPIES_AT_ONCE = 4;
/** Beyond this limit copies are left to WhatsApp, which deletes them within 30 days. */
const MAX_WAITING_COPIES = 10_000;

// Storing the bytes and then the row takes milliseconds; younger files are not examined.
const UNKNOWN_MIN_AGE_MS = 60 * 60_000;
const UNKNOWN_BATCH = 1_000;
const UNKNOWN_LOOK_EVERY_MS = 5 * 60_000;
/** Frequent, because its silence makes the service unready; most rounds do nothing. */
const UNKNOWN_SWEEP_EVERY_MS = 10_000;

/**
 * Deletion of files: by retention, of deleted workspaces, bytes without a row, and WhatsApp's copies of deleted files.
 * Reports the backlog of files to fetch.
 */
@Injectable()
export class MediaMaintenance implements OnModuleInit {
  private readonly logger = new Logger(MediaMaintenance.name);
  private readonly days: Readonly<Record<MediaDirection, number>>;
  private readonly copySlots = new Slots(COPIES_AT_ONCE);
  private waitingCopies = 0;
  private readonly storageLook = new ExpiringCache<'now', boolean>({ ttlMs: STORAGE_LOOK_EVERY_MS, maxEntries: 1 });
  private nextPart: number;
  private nextLookAt = performance.now() + UNKNOWN_LOOK_EVERY_MS;

  constructor(
    private readonly media: MediaRepository,
    private readonly files: MediaFiles,
    private readonly storage: FileStorage,
    private readonly connections: ConnectionsService,
    private readonly client: MediaClient,
    private readonly counters: Counters,
    private readonly retention: Retention,
    private readonly workspaces: WorkspaceErasure,
    private readonly sweeps: Sweeps,
    private readonly backlogs: Backlogs,
    private readonly metrics: Metrics,
    config: Config,
  ) {
    this.days = { inbound: config.retention.receivedMediaDays, outbound: config.retention.uploadedMediaDays };
    // A random start, so that processes which restart often do not examine the same part each time.
    this.nextPart = Math.floor(Math.random() * storage.parts);
  }

  onModuleInit(): void {
    for (const direction of MEDIA_DIRECTIONS) {
      this.retention.add({
        besides: true,
        name: `${direction} files`,
        days: this.days[direction],
        clear: async (before, limit) => this.finishRemoval(await this.media.deleteOld(direction, before, limit)),
      });
    }
    this.workspaces.add({
      // Counted with the rows of the other tables.
      batch: async (organizationId, _cursor, erase) => {
        const removed = erase
          ? await this.finishRemoval(await this.media.deleteSome(organizationId, ERASURE_BATCH))
          : 0;
        return { found: { media_object: removed }, cursor: removed === 0 ? null : 'more' };
      },
    });
    this.sweeps.add({
      name: 'media_files',
      everyMs: UNKNOWN_SWEEP_EVERY_MS,
      run: (signal) => this.removeUnknown(signal),
    });
    this.backlogs.add('files', () => this.media.readBacklog());
    this.metrics.add({
      name: 'media_storage_available',
      help: 'Whether the storage of files can be used, the folder or the bucket: 1 or 0; looked at once in 15 seconds.',
      collect: async () => [{ value: (await this.storageLook.get('now', () => this.storageAnswers())) ? 1 : 0 }],
    });
  }

  private async storageAnswers(): Promise<boolean> {
    const answers = this.storage.check().then(
      () => true,
      () => false,
    );
    return (await within(STORAGE_LOOK_MS, answers)) ?? false;
  }

  /** When a file will be deleted by retention; null: never. */
  expiryOf({ direction, createdAt }: Pick<MediaObject, 'direction' | 'createdAt'>): Date | null {
    const days = this.days[direction];
    return days === 0 ? null : new Date(createdAt.getTime() + days * DAY_MS);
  }

  /**
   * Deletes the bytes of files whose rows are gone, and starts to delete WhatsApp's copies. Never rejects: if a process
   * dies, the sweep of unknown files finds the rest. Returns how many files there were.
   */
  async finishRemoval(removed: readonly RemovedMedia[]): Promise<number> {
    const keys = removed.flatMap(({ storageKey }) => storageKey ?? []);
    await mapAtOnce(keys, REMOVALS_AT_ONCE, (key) => this.files.removeBytes(key));
    for (const copy of removed.flatMap(({ copies }) => copies)) {
      // An empty id means a running upload: its process finds the file gone and deletes its copy.
      if (copy.platformMediaId === '' || this.waitingCopies >= MAX_WAITING_COPIES) continue;
      this.waitingCopies++;
      void this.removeCopy(copy).finally(() => this.waitingCopies--);
    }
    return removed.length;
  }

  /** Optional: WhatsApp deletes the copies after a while itself. */
  private async removeCopy(copy: PlatformCopy): Promise<void> {
    await this.copySlots.acquire();
    try {
      const connection = await this.connections.forSending(copy.connectionId);
      if (connection === null || connection.organizationId !== copy.organizationId) return;
      const { phoneNumberId, token } = connection;
      const result = await this.client.deleteMedia({ mediaId: copy.platformMediaId, phoneNumberId, token });
      this.counters.increment(result.ok ? 'media_copies_removed' : 'media_copies_left');
    } catch (error) {
      this.counters.increment('media_copies_left');
      this.logger.warn(`a copy at the platform: ${describeError(error)}`);
    } finally {
      this.copySlots.release();
    }
  }

  /** Every five minutes it examines one part of the storage, so that all of it is covered about once a day. */
  private async removeUnknown(signal: AbortSignal): Promise<number> {
    if (performance.now() < this.nextLookAt) return 0;
    this.nextLookAt = performance.now() + UNKNOWN_LOOK_EVERY_MS;
    this.nextPart = (this.nextPart + 1) % this.storage.parts;
    return this.removeUnknownIn(this.nextPart, signal);
  }

  /**
   * Deletes files of one part that no row refers to: a process died between storing and the row, or a deletion could
   * not delete the bytes. Returns how many.
   */
  async removeUnknownIn(part: number, signal?: AbortSignal): Promise<number> {
    const keys = await this.storage.keysOf(part, UNKNOWN_MIN_AGE_MS);
    let removed = 0;
    for (let at = 0; at < keys.length && signal?.aborted !== true; at += UNKNOWN_BATCH) {
      for (const key of await this.media.unknownKeys(keys.slice(at, at + UNKNOWN_BATCH))) {
        await this.storage.remove(key);
        removed++;
      }
    }
    return removed;
  }
}
