import { Injectable } from '@nestjs/common';
import { MediaDeletions } from './media-deletions.js';
import { MediaFiles } from './media-files.js';
import type { RemovedMedia } from './media.types.js';

const AT_ONCE = 8;

/** Removes the bytes of files whose rows are gone. A process that dies before leaves them to the unknown files' sweep. */
@Injectable()
export class MediaRemoval {
  constructor(
    private readonly files: MediaFiles,
    private readonly deletions: MediaDeletions,
  ) {}

  /** Never rejects. Returns how many files there were. */
  async finish(removed: readonly RemovedMedia[]): Promise<number> {
    const keys = removed.flatMap(({ storageKey }) => (storageKey === null ? [] : [storageKey]));
    for (let at = 0; at < keys.length; at += AT_ONCE) {
      const part = keys.slice(at, at + AT_ONCE);
      await Promise.all(part.map((storageKey) => this.files.removeBytes(storageKey)));
    }
    this.deletions.announce(removed.flatMap(({ copies }) => copies));
    return removed.length;
  }
}
