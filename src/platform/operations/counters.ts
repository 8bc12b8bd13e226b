import { Injectable } from '@nestjs/common';

/** Counts events of this process by name; what must never happen in silence is counted here. */
@Injectable()
export class Counters {
  private readonly counts = new Map<string, number>();

  increment(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  /** All counts since the process started, by name. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
