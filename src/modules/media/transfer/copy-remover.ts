import { describeError } from '../../../common/describe-error.js';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Slots } from '../../../common/slots.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { MediaClient } from '../../../infrastructure/whatsapp/media-client.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { MediaDeletions } from '../media-deletions.js';
import type { PlatformCopy } from '../media.types.js';

const AT_ONCE = 4;
/** More than this are left to the platform, which forgets them within 30 days. */
const MAX_WAITING = 10_000;

/** Deletes the platform's copies of files that were deleted here. Nothing depends on it: they end by themselves. */
@Injectable()
export class CopyRemover implements OnModuleInit {
  private readonly logger = new Logger(CopyRemover.name);
  private readonly places = new Slots(AT_ONCE);
  private waiting = 0;

  constructor(
    private readonly deletions: MediaDeletions,
    private readonly connections: ConnectionsService,
    private readonly client: MediaClient,
    private readonly counters: Counters,
  ) {}

  onModuleInit(): void {
    this.deletions.onDeleted((copies) => this.remove(copies));
  }

  private remove(copies: readonly PlatformCopy[]): void {
    for (const copy of copies) {
      // An empty id is an upload under way; whoever makes it finds the file gone, and removes its copy himself.
      if (copy.platformMediaId === '' || this.waiting >= MAX_WAITING) continue;
      this.waiting++;
      void this.removeOne(copy).finally(() => this.waiting--);
    }
  }

  private async removeOne(copy: PlatformCopy): Promise<void> {
    await this.places.acquire(1);
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
      this.places.release(1);
    }
  }
}
