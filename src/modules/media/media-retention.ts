import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { Retention } from '../../infrastructure/lanes/retention.js';
import { MediaRemoval } from './media-removal.js';
import { MediaRepository } from './media.repository.js';
import { MEDIA_DIRECTIONS, type MediaDirection, type MediaObject } from './media.types.js';

const DAY_MS = 86_400_000;

/** Deletes files that have been kept for long enough: those of customers and those of workspaces, each in its time. */
@Injectable()
export class MediaRetention implements OnModuleInit {
  private readonly days: Readonly<Record<MediaDirection, number>>;

  constructor(
    private readonly media: MediaRepository,
    private readonly removal: MediaRemoval,
    private readonly retention: Retention,
    config: Config,
  ) {
    this.days = { inbound: config.retention.receivedMediaDays, outbound: config.retention.uploadedMediaDays };
  }

  onModuleInit(): void {
    for (const direction of MEDIA_DIRECTIONS) {
      this.retention.add({
        name: `${direction} files`,
        days: this.days[direction],
        clear: async (before, limit) => this.removal.finish(await this.media.deleteOld(direction, before, limit)),
      });
    }
  }

  /** When a file will be deleted by itself; null: never. */
  expiryOf({ direction, createdAt }: Pick<MediaObject, 'direction' | 'createdAt'>): Date | null {
    const days = this.days[direction];
    return days === 0 ? null : new Date(createdAt.getTime() + days * DAY_MS);
  }
}
