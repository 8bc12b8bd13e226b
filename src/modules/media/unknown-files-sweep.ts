import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FileStorage } from '../../infrastructure/storage/file-storage.js';
import { type Sweep, Sweeps } from '../../infrastructure/lanes/sweeps.js';
import { MediaRepository } from './media.repository.js';

// Between storing the bytes and the row lie milliseconds; nothing that young is looked at.
const MIN_AGE_MS = 60 * 60_000;
const BATCH = 1_000;
const LOOK_EVERY_MS = 5 * 60_000;

/**
 * Removes stored files that no row names: a process died between the two, or a deletion could not remove the bytes. Every
 * five minutes it looks at one part of the storage, so that all of it is seen about once a day.
 */
@Injectable()
export class UnknownFilesSweep implements Sweep, OnModuleInit {
  readonly name = 'media_files';
  /** Often, since its silence makes the service not ready; most rounds do nothing. */
  readonly everyMs = 10_000;
  private nextPart: number;
  private nextLookAt = performance.now() + LOOK_EVERY_MS;

  constructor(
    private readonly media: MediaRepository,
    private readonly storage: FileStorage,
    private readonly sweeps: Sweeps,
  ) {
    // Processes that restart often must not look at the same part each time.
    this.nextPart = Math.floor(Math.random() * storage.parts);
  }

  onModuleInit(): void {
    this.sweeps.add(this);
  }

  async run(signal: AbortSignal): Promise<number> {
    if (performance.now() < this.nextLookAt) return 0;
    this.nextLookAt = performance.now() + LOOK_EVERY_MS;
    const part = this.nextPart;
    this.nextPart = (part + 1) % this.storage.parts;
    return this.removeIn(part, signal);
  }

  /** Removes the unknown files of one part. Returns how many. */
  async removeIn(part: number, signal?: AbortSignal): Promise<number> {
    const keys = await this.storage.keysOf(part, MIN_AGE_MS);
    let removed = 0;
    for (let at = 0; at < keys.length && signal?.aborted !== true; at += BATCH) {
      for (const key of await this.media.unknownKeys(keys.slice(at, at + BATCH))) {
        await this.storage.remove(key);
        removed++;
      }
    }
    return removed;
  }
}
