import type { Readable } from 'node:stream';
import { type ByteRange, FileGoneError, FileStorage, type TemporaryFile } from './file-storage.js';

/**
 * Two storages, while files move from the second to the first: new files go to the first; reads and removals use both.
 */
export class MovingStorage extends FileStorage {
  constructor(
    private readonly first: FileStorage,
    private readonly second: FileStorage,
  ) {
    super();
  }

  get parts(): number {
    return this.first.parts + this.second.parts;
  }

  create(key?: string): Promise<TemporaryFile> {
    return this.first.create(key);
  }

  async open(key: string, range?: ByteRange): Promise<Readable> {
    try {
      return await this.first.open(key, range);
    } catch (error) {
      if (!(error instanceof FileGoneError)) throw error;
      return this.second.open(key, range);
    }
  }

  async sizeOf(key: string): Promise<number | null> {
    return (await this.first.sizeOf(key)) ?? this.second.sizeOf(key);
  }

  async check(): Promise<void> {
    await Promise.all([this.first.check(), this.second.check()]);
  }

  async remove(key: string): Promise<void> {
    const done = await Promise.allSettled([this.first.remove(key), this.second.remove(key)]);
    for (const each of done) if (each.status === 'rejected') throw each.reason;
  }

  async removeAbandoned(): Promise<number> {
    return (await this.first.removeAbandoned()) + (await this.second.removeAbandoned());
  }

  keysOf(part: number, olderThanMs: number): Promise<string[]> {
    const { parts } = this.first;
    return part < parts ? this.first.keysOf(part, olderThanMs) : this.second.keysOf(part - parts, olderThanMs);
  }

  override onApplicationBootstrap(): void {
    this.first.onApplicationBootstrap();
    this.second.onApplicationBootstrap();
  }

  override onModuleDestroy(): void {
    this.first.onModuleDestroy();
    this.second.onModuleDestroy();
  }
}
