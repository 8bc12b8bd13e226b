import { mkdir, open, readdir, stat, statfs, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Injectable, Logger, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { codeOf } from '../../common/describe-error.js';
import { isUuid, newId } from '../../common/ids.js';
import { Config } from '../config/config.js';
import { type ByteRange, FileStorage, StorageUnavailableError, type TemporaryFile } from './file-storage.js';
import { FolderFile } from './folder-file.js';
import { storageError } from './storage-faults.js';
import { isAbandoned, OWNER } from './temporary-owner.js';

const INCOMING = 'incoming';
const FOLDER_MODE = 0o700;
const READ_CHUNK_BYTES = 64 * 1_024;
const SWEEP_EVERY_MS = 10 * 60_000;

/**
 * Files in a folder: `<MEDIA_DIR>/<2 hex>/<2 hex>/<key>`, mode 0600, so that no folder gets large. Temporary ones lie
 * in `incoming` of the same folder, for only within one file system a rename is all or nothing. Several processes may
 * share the folder.
 */
@Injectable()
export class FolderStorage extends FileStorage implements OnApplicationBootstrap, OnModuleDestroy {
  readonly parts = 256;
  private readonly logger = new Logger(FolderStorage.name);
  private readonly root: string;
  private readonly minFreeBytes: number;
  private sweeping: NodeJS.Timeout | null = null;

  constructor(config: Config) {
    super();
    this.root = config.media.dir;
    this.minFreeBytes = config.media.minFreeBytes;
  }

  onApplicationBootstrap(): void {
    const sweep = (): void => {
      this.removeAbandoned().catch((error: unknown) => {
        this.logger.warn(`temporary files could not be removed and will be tried again: ${String(error)}`);
      });
    };
    this.sweeping = setInterval(sweep, SWEEP_EVERY_MS).unref();
    sweep();
  }

  onModuleDestroy(): void {
    if (this.sweeping !== null) clearInterval(this.sweeping);
  }

  async create(): Promise<TemporaryFile> {
    try {
      await mkdir(join(this.root, INCOMING), { recursive: true, mode: FOLDER_MODE });
      const { bavail, bsize } = await statfs(this.root);
      if (bavail * bsize < this.minFreeBytes) {
        throw new StorageUnavailableError('the media folder: less is free than MEDIA_MIN_FREE_MIB');
      }
      return await FolderFile.create(join(this.root, INCOMING, `${OWNER}.${newId()}`));
    } catch (error) {
      throw storageError(error);
    }
  }

  async put(file: TemporaryFile, key: string): Promise<void> {
    if (!(file instanceof FolderFile)) throw new TypeError('this file was made by another storage');
    const folder = this.folderOf(key);
    try {
      const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      await file.moveTo(join(folder, key));
      // The entries that lead to the file must survive a loss of power too.
      await syncFolder(folder);
      if (made !== undefined) {
        await syncFolder(join(folder, '..'));
        await syncFolder(this.root);
      }
    } catch (error) {
      throw storageError(error);
    }
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    try {
      const handle = await open(this.pathOf(key), 'r');
      return handle.createReadStream({ ...range, highWaterMark: READ_CHUNK_BYTES });
    } catch (error) {
      throw storageError(error, key);
    }
  }

  async remove(key: string): Promise<void> {
    await unlinkIfThere(this.pathOf(key));
  }

  async removeAbandoned(): Promise<number> {
    const folder = join(this.root, INCOMING);
    let removed = 0;
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      const idleMs = await idleMsOf(path);
      if (idleMs === null || !isAbandoned(name, idleMs)) continue;
      if (await unlinkIfThere(path)) removed++;
    }
    if (removed > 0) this.logger.log(`removed ${removed} temporary files of processes that are gone`);
    return removed;
  }

  async keysOf(part: number, olderThanMs: number): Promise<string[]> {
    const top = join(this.root, part.toString(16).padStart(2, '0'));
    const keys: string[] = [];
    for (const folder of await namesIn(top)) {
      for (const name of await namesIn(join(top, folder))) {
        if (!isUuid(name)) continue;
        const idleMs = await idleMsOf(join(top, folder, name));
        if (idleMs !== null && idleMs > olderThanMs) keys.push(name);
      }
    }
    return keys;
  }

  private pathOf(key: string): string {
    return join(this.folderOf(key), key);
  }

  /** By the end of the key: its beginning is the time, which would fill one folder after the other. */
  private folderOf(key: string): string {
    if (!isUuid(key)) throw new TypeError('a storage key is a UUID');
    return join(this.root, key.slice(-2), key.slice(-4, -2));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return [];
    throw storageError(error);
  }
}

/** Milliseconds since it was written to; null where it is gone. */
async function idleMsOf(path: string): Promise<number | null> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw storageError(error);
  }
}

async function unlinkIfThere(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw storageError(error);
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
