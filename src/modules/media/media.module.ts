import { Module } from '@nestjs/common';
import { workQueue } from '../../infrastructure/lanes/work-queue.js';
import { StorageModule } from '../../infrastructure/storage/storage.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { ContentService } from './link/content.service.js';
import { MediaLinks } from './link/media-links.js';
import { MediaContentController } from './media-content.controller.js';
import { MediaDeletions } from './media-deletions.js';
import { MediaBacklogRepository } from './media-backlog.repository.js';
import { MediaErasure } from './media-erasure.js';
import { MediaFiles } from './media-files.js';
import { MediaController } from './media.controller.js';
import { MediaTransferService } from './media-transfer.service.js';
import { MediaRemoval } from './media-removal.js';
import { MediaRetention } from './media-retention.js';
import { MediaRepository } from './media.repository.js';
import { MediaService } from './media.service.js';

import { FetchProcessor } from './processors/fetch.processor.js';
import { CopyRemover } from './transfer/copy-remover.js';
import { FetchRepository } from './transfer/fetch.repository.js';
import { FETCH_QUEUE, MediaFetcher } from './transfer/media-fetcher.js';
import { PlatformIds } from './transfer/platform-ids.js';
import { PlatformIdsRepository } from './transfer/platform-ids.repository.js';
import { UnknownFilesSweep } from './unknown-files-sweep.js';
import { StorageQuota } from './storage-quota.js';
import { UploadService } from './upload/upload.service.js';
import { UploadSlots } from './upload/upload-slots.js';

/** Files between our storage and the platform. */
const TRANSFER = [
  MediaTransferService,
  PlatformIds,
  PlatformIdsRepository,
  CopyRemover,
  FetchRepository,
  MediaFetcher,
  FetchProcessor,
];

@Module({
  imports: [workQueue(FETCH_QUEUE), ConnectionsModule, StorageModule],
  controllers: [MediaController, MediaContentController],
  providers: [
    MediaService,
    MediaRepository,
    MediaFiles,
    MediaDeletions,
    MediaRemoval,
    MediaRetention,
    MediaLinks,
    ContentService,
    UploadService,
    UploadSlots,
    UnknownFilesSweep,
    MediaBacklogRepository,
    MediaErasure,
    StorageQuota,
    ...TRANSFER,
  ],
  exports: [MediaService, MediaTransferService],
})
export class MediaModule {}
