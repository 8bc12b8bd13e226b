import { Module } from '@nestjs/common';
import { StorageModule } from '../../platform/storage/storage.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { MediaLinks } from './link/media-links.js';
import { MediaDeletions } from './media-deletions.js';
import { MediaFiles } from './media-files.js';
import { MediaRepository } from './media.repository.js';
import { MediaService } from './media.service.js';

@Module({
  imports: [ConnectionsModule, StorageModule],
  providers: [MediaService, MediaRepository, MediaFiles, MediaDeletions, MediaLinks],
  exports: [MediaService],
})
export class MediaModule {}
