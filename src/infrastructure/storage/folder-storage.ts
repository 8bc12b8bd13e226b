import { createHash, randomBytes } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import {
  access,
  constants,
  type FileHandle,
  mkdir,
  open,
  readdir,
  rename,
  stat,
  statfs,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { codeOf } from '../../common/describe-error.js';
import { isUuid, newId } from '../../common/ids.js';
import type { Config } from '../config/config.js';
import { FileGoneError, FileStorage, pathOfKey, StorageUnavailableError } from './file-storage.js';
import type { ByteRange, TemporaryFile } from './file-storage.js';

const INCOMING = 'incoming';
const FOLDER_MODE = 0o700;
const READ_CHUNK_BYTES = 64 * 1_024;

/**
 * Files in a folder: `<MEDIA_DIR>/<2 hex>/<2 hex>/<key>`, mode 0600, split so that no folder gets large. Temporary
 * files are in `incoming` of the same folder, because a rename is atomic only within one file system. Several processes
 * may share the folder.
 */
export class FolderStorage extends FileStorage {
  readonly parts = 256;
  private readonly root: string;
  private readonly incoming: string;
  private readonly minFreeBytes: number;

  constructor(config: Pick<Config, 'media'>) {
    super();
    this.root = config.media.dir;
    this.incoming = join(this.root, INCOMING);
    this.minFreeBytes = config.media.minFreeBytes;
  }

  create(key = newId()): Promise<TemporaryFile> {
    return attempt(async () => {
      await this.prepare();
      const path = join(this.incoming, `${OWNER}.${newId()}`);
      return new FolderFile(key, path, await open(path, 'wx+', 0o600), this.root);
    });
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    try {
      const handle = await open(this.pathOf(key), 'r');
      return handle.createReadStream({ ...range, highWaterMark: READ_CHUNK_BYTES });
    } catch (error) {
      throw codeOf(error) === 'ENOENT' ? new FileGoneError(key) : storageError(error);
    }
  }

  sizeOf(key: string): Promise<number | null> {
    const path = this.pathOf(key);
    return attempt<number | null>(async () => (await stat(path)).size, null);
  }

  check(): Promise<void> {
    return attempt(async () => {
      await this.prepare();
      await access(this.incoming, constants.W_OK);
    });
  }

  /**
   * Makes the folder of temporary files if it is missing.
   *
   * @throws StorageUnavailableError where too little space is free
   */
  private async prepare(): Promise<void> {
    await mkdir(this.incoming, { recursive: true, mode: FOLDER_MODE });
    const { bavail, bsize } = await statfs(this.root);
    if (bavail * bsize < this.minFreeBytes) {
      throw new StorageUnavailableError('the media folder: less is free than MEDIA_MIN_FREE_MIB');
    }
  }

  async remove(key: string): Promise<void> {
    await unlinkIfThere(this.pathOf(key));
  }

  async removeAbandoned(): Promise<number> {
    let removed = 0;
    const names = await namesIn(this.incoming);
    const now = names.length === 0 ? NEVER : await this.now();
    for (const name of names) {
      const path = join(this.incoming, name);
      const writtenAt = await writtenAtOf(path);
      if (writtenAt === null || !isAbandoned(name, now - writtenAt)) continue;
      if (await unlinkIfThere(path)) removed++;
    }
    if (removed > 0) this.logger.log(`removed ${removed} temporary files of processes that are gone`);
    return removed;
  }

  async keysOf(part: number, olderThanMs: number): Promise<string[]> {
    const top = join(this.root, part.toString(16).padStart(2, '0'));
    const keys: string[] = [];
    const folders = await namesIn(top);
    const now = folders.length === 0 ? NEVER : await this.now();
    for (const folder of folders) {
      for (const name of await namesIn(join(top, folder))) {
        if (!isUuid(name)) continue;
        const writtenAt = await writtenAtOf(join(top, folder, name));
        if (writtenAt !== null && now - writtenAt > olderThanMs) keys.push(name);
      }
    }
    return keys;
  }

  /**
   * By the clock of the file system, which on a shared folder may be its server's. If it can't be read, as on a full
   * disk, no file counts as old.
   */
  private async now(): Promise<number> {
    const path = join(this.incoming, `${OWNER}.${newId()}`);
    try {
      await writeFile(path, '', { flag: 'wx', mode: 0o600 });
      return (await writtenAtOf(path)) ?? NEVER;
    } catch {
      return NEVER;
    } finally {
      await unlink(path).catch(() => undefined);
    }
  }

  private pathOf(key: string): string {
    return join(this.root, pathOfKey(key));
  }
}

/** A temporary file in the folder. */
class FolderFile implements TemporaryFile {
  sizeBytes = 0;
  private isGone = false;

  constructor(
    readonly key: string,
    private readonly path: string,
    private readonly handle: FileHandle,
    private readonly root: string,
  ) {}

  async write(bytes: Uint8Array): Promise<void> {
    try {
      await this.handle.appendFile(bytes);
      this.sizeBytes += bytes.length;
    } catch (error) {
      throw storageError(error);
    }
  }

  async read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.sizeBytes - position)));
    let done = 0;
    while (done < buffer.length) {
      const { bytesRead } = await this.handle.read(buffer, done, buffer.length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return buffer.subarray(0, done);
  }

  async put(): Promise<void> {
    const path = join(this.root, pathOfKey(this.key));
    const folder = join(path, '..');
    await attempt(async () => {
      const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      await this.handle.sync();
      await rename(this.path, path);
      this.isGone = true;
      await this.handle.close();
      // The directory entries of the file must survive a loss of power too.
      const changed = made === undefined ? [folder] : [folder, join(folder, '..'), this.root];
      for (const each of changed) await syncFolder(each);
    });
  }

  async discard(): Promise<void> {
    if (this.isGone) return;
    this.isGone = true;
    // A file that can't be removed now is removed with the abandoned ones.
    await unlink(this.path).catch(() => undefined);
    await this.handle.close().catch(() => undefined);
  }
}

/** For another machine's temporary file, only its age shows that its process is gone. */
const FOREIGN_STALE_MS = 20 * 60_000;

/** The scope of this process's number: this machine, and on Linux this container. */
const PLACE = createHash('sha256').update(`${hostname()} ${processNamespace()}`).digest('hex').slice(0, 12);
const TOKEN = randomBytes(4).toString('hex');

/** The prefix of this process's temporary files. */
export const OWNER = `${PLACE}-${process.pid}-${TOKEN}`;

/**
 * Whether a temporary file will never be finished: its process is gone, or it was not written to for longer than an
 * upload may pause.
 *
 * @param idleMs time since the last write to it
 */
export function isAbandoned(name: string, idleMs: number): boolean {
  const [, place, pid, token] = /^([0-9a-f]{12})-(\d+)-([0-9a-f]{8})\./.exec(name) ?? [];
  if (place !== PLACE) return idleMs > FOREIGN_STALE_MS;
  if (Number(pid) === process.pid) return token !== TOKEN;
  return !isAlive(Number(pid));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return '';
  }
}

/** Faults of the disk or of the process's limits, not programming errors. */
const DISK_FAULTS = ['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'EPERM', 'EBUSY'];
/** Also a folder that cannot be made. Callers handle a missing file themselves, before this. */
const UNAVAILABLE = new Set([...DISK_FAULTS, 'ENOENT', 'ENOTDIR']);

/** The storage's error for one of the operating system; an unknown error is returned unchanged. */
function storageError(error: unknown): unknown {
  const code = codeOf(error) ?? '';
  return UNAVAILABLE.has(code) ? new StorageUnavailableError(`the media folder: ${code}`, { cause: error }) : error;
}

/** Runs `work`; `missing` is its result if the file or folder does not exist. */
async function attempt<T>(work: () => Promise<T>, missing?: T): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (missing !== undefined && ['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return missing;
    throw storageError(error);
  }
}

const namesIn = (folder: string): Promise<string[]> => attempt(() => readdir(folder), []);

/** A time before every file. */
const NEVER = -Infinity;

/** The time of the last write, in milliseconds by the clock of the file system; null where the file is gone. */
const writtenAtOf = (path: string): Promise<number | null> =>
  attempt<number | null>(async () => (await stat(path)).mtimeMs, null);

const unlinkIfThere = (path: string): Promise<boolean> => attempt(() => unlink(path).then(() => true), false);

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
