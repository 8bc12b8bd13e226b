import { Injectable } from '@nestjs/common';

/** Counts of what happened in this process since its start. */
@Injectable()
export class Counters {
  private readonly counts = new Map<string, number>();

  /** Adds `by` (default 1) to the counter named in snake_case; it comes into being with its first use. */
  increment(name: string, by = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + by);
  }

  /** Every counter by name, sorted. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
