import { systemClock, type Clock } from '../../common/clock.js';
import { ExpiringCache } from '../../common/expiring-cache.js';

const MAX_NOTED = 50_000;
const USE_NOTED_EVERY_MS = 60_000;

/** Gathers which keys were used, each once a minute, so that no request waits for the note of its use. */
export class KeyUsage {
  private readonly noted: ExpiringCache<string, true>;
  private pending: string[] = [];

  constructor(clock: Clock = systemClock) {
    this.noted = new ExpiringCache({ ttlMs: USE_NOTED_EVERY_MS, maxEntries: MAX_NOTED, clock });
  }

  note(keyId: string): void {
    if (this.noted.peek(keyId) === true) return;
    this.noted.set(keyId, true);
    this.pending.push(keyId);
  }

  /** The keys used for the first time in their minute since the last call. */
  takePending(): string[] {
    return this.pending.splice(0);
  }
}
