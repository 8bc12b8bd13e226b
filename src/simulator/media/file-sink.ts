import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { PartSink } from '../http/multipart.js';
import { HEAD_BYTES } from './media-types.js';

/** Thrown by {@link FileSink} once a file is larger than it may be. */
export class FileTooLargeError extends Error {}

/** Writes a file as it comes, and computes its checksum meanwhile. */
export class FileSink implements PartSink {
  private readonly hash = createHash('sha256');
  private handle: FileHandle | null = null;
  /** The first bytes, which tell what it is. */
  head: Buffer = Buffer.alloc(0);
  sizeBytes = 0;
  /** Lowercase hexadecimal; null until the file is complete. */
  sha256: string | null = null;

  constructor(
    readonly path: string,
    private readonly mostBytes: number,
  ) {}

  async write(bytes: Buffer): Promise<void> {
    this.sizeBytes += bytes.length;
    if (this.sizeBytes > this.mostBytes) throw new FileTooLargeError();
    if (this.head.length < HEAD_BYTES) {
      this.head = Buffer.concat([this.head, bytes.subarray(0, HEAD_BYTES - this.head.length)]);
    }
    this.hash.update(bytes);
    this.handle ??= await open(this.path, 'w', 0o600);
    await this.handle.writeFile(bytes);
  }

  async end(): Promise<void> {
    this.handle ??= await open(this.path, 'w', 0o600);
    await this.handle.close();
    this.handle = null;
    this.sha256 = this.hash.digest('hex');
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.handle?.close();
    this.handle = null;
    await rm(this.path, { force: true });
  }
}
