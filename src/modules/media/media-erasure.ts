import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WorkspaceErasure } from '../../infrastructure/erasure/workspace-erasure.js';
import { MediaRemoval } from './media-removal.js';
import { MediaRepository } from './media.repository.js';

const BATCH = 200;

/** Files of a workspace that is being deleted, with their bytes. */
@Injectable()
export class MediaErasure implements OnModuleInit {
  constructor(
    private readonly media: MediaRepository,
    private readonly removal: MediaRemoval,
    private readonly workspaces: WorkspaceErasure,
  ) {}

  onModuleInit(): void {
    this.workspaces.add({
      // Counted with the rows of the other tables.
      batch: async (organizationId, _cursor, erase) => {
        const removed = erase ? await this.removal.finish(await this.media.deleteSome(organizationId, BATCH)) : 0;
        return { found: { media_object: removed }, cursor: removed === 0 ? null : 'more' };
      },
    });
  }
}
