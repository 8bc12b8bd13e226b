import { Injectable, Logger } from '@nestjs/common';
import type { PlatformCopy } from './media.types.js';

type Listener = (copies: readonly PlatformCopy[]) => void | Promise<void>;

/** Tells those who care that a file was deleted of which the platform has copies. */
@Injectable()
export class MediaDeletions {
  private readonly logger = new Logger(MediaDeletions.name);
  private readonly listeners: Listener[] = [];

  /** From now on `listener` is told; nobody waits for it, and its failure is only logged. */
  onDeleted(listener: Listener): void {
    this.listeners.push(listener);
  }

  announce(copies: readonly PlatformCopy[]): void {
    if (copies.length === 0) return;
    for (const listener of this.listeners) {
      Promise.resolve()
        .then(() => listener(copies))
        .catch((error: unknown) => this.logger.warn(`copies at the platform were not deleted: ${String(error)}`));
    }
  }
}
