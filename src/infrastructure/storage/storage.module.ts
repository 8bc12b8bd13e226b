import { Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import type { StorageKind } from '../config/settings.js';
import { FileStorage } from './file-storage.js';
import { FolderStorage } from './folder-storage.js';
import { MovingStorage } from './moving-storage.js';
import { S3Storage } from './s3-storage.js';

export function storageOf(kind: StorageKind, config: Config): FileStorage {
  return kind === 's3' ? new S3Storage(config) : new FolderStorage(config);
}

function configuredStorage(config: Config): FileStorage {
  const [first = 'folder', second] = config.media.storages;
  const storage = storageOf(first, config);
  return second === undefined ? storage : new MovingStorage(storage, storageOf(second, config));
}

/** The storage of media files, chosen by MEDIA_STORAGE. */
@Module({
  providers: [{ provide: FileStorage, useFactory: configuredStorage, inject: [Config] }],
  exports: [FileStorage],
})
export class StorageModule {}
