import { Module } from '@nestjs/common';
import { FileStorage } from './file-storage.js';
import { FolderStorage } from './folder-storage.js';

/** Where media files lie. Another storage takes the folder's place here. */
@Module({ providers: [{ provide: FileStorage, useClass: FolderStorage }], exports: [FileStorage] })
export class StorageModule {}
