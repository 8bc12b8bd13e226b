import { newId } from '../../src/common/ids.js';
import type { TemporaryFile } from '../../src/infrastructure/storage/file-storage.js';

/** A temporary file that is none: for what looks at bytes only. */
export class MemoryFile implements TemporaryFile {
  readonly key = newId();
  private bytes = Buffer.alloc(1_024);
  private used = 0;
  discarded = 0;

  get sizeBytes(): number {
    return this.used;
  }

  write(bytes: Uint8Array): Promise<void> {
    const needed = this.used + bytes.length;
    if (needed > this.bytes.length) this.bytes = Buffer.concat([this.bytes], Math.max(needed, this.bytes.length * 2));
    this.bytes.set(bytes, this.used);
    this.used = needed;
    return Promise.resolve();
  }

  read(position: number, length: number): Promise<Buffer> {
    return Promise.resolve(this.bytes.subarray(position, Math.min(this.used, position + Math.max(0, length))));
  }

  put(): Promise<void> {
    return Promise.reject(new Error('it is stored nowhere'));
  }

  discard(): Promise<void> {
    this.discarded++;
    return Promise.resolve();
  }
}
