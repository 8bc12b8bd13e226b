import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import type { TemporaryFile } from './file-storage.js';
import { storageError } from './storage-faults.js';

/** A temporary file in the folder. */
export class FolderFile implements TemporaryFile {
  private written = 0;
  private gone = false;

  private constructor(
    private readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  static async create(path: string): Promise<FolderFile> {
    return new FolderFile(path, await open(path, 'wx+', 0o600));
  }

  get sizeBytes(): number {
    return this.written;
  }

  async write(bytes: Uint8Array): Promise<void> {
    try {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await this.handle.write(bytes, done, bytes.length - done, this.written);
        done += bytesWritten;
        this.written += bytesWritten;
      }
    } catch (error) {
      throw storageError(error);
    }
  }

  async read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, this.written - position)));
    let done = 0;
    while (done < buffer.length) {
      const { bytesRead } = await this.handle.read(buffer, done, buffer.length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return buffer.subarray(0, done);
  }

  /** Gives the file its final name, once its bytes are safe. */
  async moveTo(path: string): Promise<void> {
    await this.handle.sync();
    await rename(this.path, path);
    this.gone = true;
    await this.handle.close();
  }

  async discard(): Promise<void> {
    if (this.gone) return;
    this.gone = true;
    // What can't be removed now is removed with the abandoned ones.
    await unlink(this.path).catch(() => undefined);
    await this.handle.close().catch(() => undefined);
  }
}
