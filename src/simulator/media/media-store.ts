import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Table } from '../store.js';
import { HEAD_BYTES } from './media-types.js';

/** A file that the platform holds. */
export interface MediaFile {
  id: string;
  /** The number that uploaded it, or that a customer sent it to. */
  phoneNumberId: string;
  /** As it was given, parameters included: `audio/ogg; codecs=opus`. */
  mimeType: string;
  /** Lowercase hexadecimal. */
  sha256: string;
  sizeBytes: number;
  source: 'upload' | 'webhook';
  /** False where its first bytes are those of another type: it is taken, and fails when it is sent. */
  usable: boolean;
  /** Milliseconds since the epoch. */
  createdAt: number;
  expiresAt: number;
  /** Addresses given out before this time are void; milliseconds. */
  addressesFrom?: number;
}

/** The oldest files go first beyond either. */
const MOST_FILES = 10_000;
const MOST_BYTES = 4 * 1024 * 1024 * 1024;

/** Files of all numbers: what is known of each in the state, its bytes in a folder beside it. */
export class MediaStore {
  private readonly isTemporary: boolean;
  private folder: string | null;
  private bytes = 0;

  /** @param dataDir null keeps the files in a temporary folder until {@link close} */
  constructor(
    private readonly saved: Table<MediaFile>,
    dataDir: string | null,
    private readonly most = { files: MOST_FILES, bytes: MOST_BYTES },
  ) {
    this.isTemporary = dataDir === null;
    this.folder = dataDir === null ? null : join(dataDir, 'media');
  }

  /** Clears away what a killed process left half written, and what has no bytes any more. */
  open(): void {
    if (this.folder === null) return;
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    const names = new Set(readdirSync(this.folder));
    for (const file of this.saved.values()) {
      if (names.delete(file.id)) this.bytes += file.sizeBytes;
      else this.saved.delete(file.id);
    }
    for (const name of names) rmSync(join(this.folder, name), { force: true });
  }

  /** Undefined where there is none, or its life is over. */
  get(id: string): MediaFile | undefined {
    const file = this.saved.get(id);
    if (file === undefined || file.expiresAt > Date.now()) return file;
    this.remove(id);
    return undefined;
  }

  /** Oldest first. */
  all(): MediaFile[] {
    return [...this.saved.values()];
  }

  /** Where the bytes of a file lie, or are to be written before it is added. */
  pathOf(id: string): string {
    this.folder ??= mkdtempSync(join(tmpdir(), 'simulator-media-'));
    return join(this.folder, id);
  }

  /** Remembers a file whose bytes are written. */
  add(file: MediaFile): void {
    this.saved.set(file.id, file);
    this.bytes += file.sizeBytes;
    while (this.saved.size > this.most.files || (this.bytes > this.most.bytes && this.saved.size > 1)) {
      const [oldest] = this.saved.keys();
      if (oldest === undefined) break;
      this.remove(oldest);
    }
  }

  replace(file: MediaFile): void {
    this.saved.set(file.id, file);
  }

  remove(id: string): boolean {
    const file = this.saved.get(id);
    if (file === undefined) return false;
    this.saved.delete(id);
    this.bytes -= file.sizeBytes;
    rmSync(this.pathOf(id), { force: true });
    return true;
  }

  close(): void {
    if (this.isTemporary && this.folder !== null) rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Writes a file as it comes, and computes its checksum meanwhile. */
export class FileSink {
  private readonly hash = createHash('sha256');
  private handle: FileHandle | null = null;
  /** The first bytes, which show the type. */
  head: Buffer = Buffer.alloc(0);
  sizeBytes = 0;
  /** Lowercase hexadecimal; null until the file is complete. */
  sha256: string | null = null;

  constructor(readonly path: string) {}

  async write(bytes: Buffer): Promise<void> {
    this.sizeBytes += bytes.length;
    if (this.head.length < HEAD_BYTES) {
      this.head = Buffer.concat([this.head, bytes.subarray(0, HEAD_BYTES - this.head.length)]);
    }
    this.hash.update(bytes);
    this.handle ??= await open(this.path, 'w', 0o600);
    await this.handle.writeFile(bytes);
  }

  /** Gives the checksum. */
  async end(): Promise<string> {
    this.handle ??= await open(this.path, 'w', 0o600);
    await this.handle.close();
    this.handle = null;
    return (this.sha256 = this.hash.digest('hex'));
  }

  /** Removes what was written. */
  async discard(): Promise<void> {
    await this.handle?.close();
    this.handle = null;
    await rm(this.path, { force: true });
  }
}
