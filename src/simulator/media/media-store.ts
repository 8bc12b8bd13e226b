import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Collection } from '../state/state-store.js';
import type { MediaFile } from './media.types.js';

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
    private readonly saved: Collection<MediaFile>,
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
    return this.saved.values();
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
      const [oldest] = this.saved.values();
      if (oldest === undefined) break;
      this.remove(oldest.id);
    }
  }

  change(id: string, changes: Partial<MediaFile>): void {
    const file = this.saved.get(id);
    if (file !== undefined) this.saved.set(id, { ...file, ...changes });
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
