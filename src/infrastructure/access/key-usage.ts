import { systemClock, type Clock } from '../../common/clock.js';

const ONCE_MS = 60_000;

/** Gathers which keys were used, each once a minute, so that no request waits for the note of its use. */
export class KeyUsage {
  private readonly notedAt = new Map<string, number>();
  private pending = new Set<string>();

  constructor(private readonly clock: Clock = systemClock) {}

  note(keyId: string): void {
    const now = this.clock.monotonic();
    const before = this.notedAt.get(keyId);
    if (before !== undefined && now - before < ONCE_MS) return;
    this.notedAt.set(keyId, now);
    this.pending.add(keyId);
  }

  /** The keys used for the first time in their minute since the last call. */
  takePending(): string[] {
    const taken = [...this.pending];
    this.pending = new Set();
    const now = this.clock.monotonic();
    for (const [keyId, at] of this.notedAt) if (now - at >= ONCE_MS) this.notedAt.delete(keyId);
    return taken;
  }
}
