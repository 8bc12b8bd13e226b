import { Injectable } from '@nestjs/common';

/** More series than this are not kept apart: a label that is not ours to choose must not fill the memory. */
const MAX_SERIES = 2_000;

/** Counts of what happened in this process since its start. */
@Injectable()
export class Counters {
  private readonly counts = new Map<string, number>();

  /** Adds `by` (default 1) to the counter named in snake_case; it comes into being with its first use. */
  increment(name: string, by = 1): void {
    this.add(name, by);
  }

  /** As `increment`, by labels whose values are few and our own. */
  incrementBy(name: string, labels: Readonly<Record<string, string>>, by = 1): void {
    const text = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    this.add(`${name}{${text.join(',')}}`, by);
  }

  /** Every counter by name, with its labels as Prometheus writes them, sorted. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  private add(key: string, by: number): void {
    const known = this.counts.get(key);
    if (known === undefined && this.counts.size >= MAX_SERIES) return;
    this.counts.set(key, (known ?? 0) + by);
  }
}
