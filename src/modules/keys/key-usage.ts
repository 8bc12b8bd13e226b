import { systemClock, type Clock } from '../../common/clock.js';
import { ExpiringCache } from '../../common/expiring-cache.js';

const MAX_NOTED = 50_000;
const USE_NOTED_EVERY_MS = 60_000;

/** Collects which keys were used, each once a minute, so that no request waits for that write. */
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

  /** Keys whose first use in their minute came after the last call. */
  takePending(): string[] {
    return this.pending.splice(0);
  }
}
