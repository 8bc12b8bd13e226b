import { systemClock, type Clock } from '../../../common/clock.js';

const WINDOW_MS = 60 * 60_000;
const MAX_ENTRIES = 20_000;

/**
 * How often the platform refused an id that it had just given. A file whose ids are refused again and again is not
 * uploaded for ever.
 */
export class RefusalCounter {
  private readonly entries = new Map<string, { count: number; until: number }>();

  constructor(private readonly clock: Clock = systemClock) {}

  add(key: string): void {
    const count = this.count(key) + 1;
    this.entries.delete(key);
    this.entries.set(key, { count, until: this.clock.monotonic() + WINDOW_MS });
    if (this.entries.size <= MAX_ENTRIES) return;
    const oldest = this.entries.keys().next();
    if (!oldest.done) this.entries.delete(oldest.value);
  }

  /** Refusals with less than an hour between one and the next. */
  count(key: string): number {
    const entry = this.entries.get(key);
    return entry === undefined || entry.until <= this.clock.monotonic() ? 0 : entry.count;
  }
}
