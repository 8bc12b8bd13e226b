import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { StorageModule } from '../../infrastructure/storage/storage.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaObjectEntity } from './entities/media-object.entity.js';
import { MediaPlatformIdEntity } from './entities/media-platform-id.entity.js';
import { ContentService, MediaLinks } from './link/content.service.js';
import { MediaFiles } from './media-files.js';
import { MediaTransferService } from './media-transfer.service.js';
import { MediaController } from './media.controller.js';
import { MediaMoveService } from './media-move.service.js';
import { MediaMaintenance } from './media.maintenance.js';
import { MediaRepository } from './media.repository.js';
import { MediaService } from './media.service.js';
import { FetchProcessor, MediaFetcher } from './processors/fetch.processor.js';
import { FetchRepository } from './transfer/fetch.repository.js';
import { UploadService } from './upload/upload.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([MediaObjectEntity, MediaPlatformIdEntity]), ConnectionsModule, StorageModule],
  controllers: [MediaController],
  providers: [
    MediaService,
    UploadService,
    ContentService,
    MediaLinks,
    MediaRepository,
    MediaFiles,
    MediaMaintenance,
    MediaMoveService,
    MediaTransferService,
    FetchRepository,
    MediaFetcher,
    FetchProcessor,
  ],
  exports: [MediaService, UploadService, MediaTransferService, MediaMoveService],
})
export class MediaModule {}
