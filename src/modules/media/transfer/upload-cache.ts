import { systemClock, type Clock } from '../../../common/clock.js';
import type { PlatformId } from '../media-transfer.types.js';

interface Entry {
  answer: PlatformId;
  /** Monotonic milliseconds. */
  until: number;
  /** Uploads in a row that came to nothing. */
  failures: number;
  token: string;
}

const MAX_ENTRIES = 20_000;

/**
 * The last answers for files and numbers, so that a campaign asks the database and the platform once and not with
 * every message. An answer about the token ends with the token.
 */
export class UploadCache {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly clock: Clock = systemClock) {}

  /** The answer, while it holds. One that asks to wait asks for what is left of the wait. */
  get(key: string, token: string): PlatformId | null {
    const entry = this.entries.get(key);
    const leftMs = (entry?.until ?? 0) - this.clock.monotonic();
    if (entry === undefined || leftMs <= 0) return null;
    if (entry.answer.kind === 'account' && entry.token !== token) return null;
    return entry.answer.kind === 'later' ? { kind: 'later', retryInMs: Math.ceil(leftMs) } : entry.answer;
  }

  /** Uploads in a row that came to nothing; what kept them from it is remembered for longer than its answer. */
  failuresOf(key: string): number {
    return this.entries.get(key)?.failures ?? 0;
  }

  set(key: string, answer: PlatformId, forMs: number, token: string): void {
    const failures = answer.kind === 'later' ? this.failuresOf(key) + 1 : 0;
    this.entries.delete(key);
    this.entries.set(key, { answer, until: this.clock.monotonic() + forMs, failures, token });
    if (this.entries.size <= MAX_ENTRIES) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}
