import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

const OPTIONS = { lowest: 1, highest: 3_600_000, figures: 3 } as const;

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Percentiles of the last windows, in milliseconds, three figures exact; memory does not grow with what is recorded. */
export class RollingLatencies {
  private readonly windows: RecordableHistogram[] = [createHistogram(OPTIONS)];

  /** @param kept how many windows count */
  constructor(private readonly kept: number) {}

  record(ms: number): void {
    this.windows[0]?.record(Math.max(1, Math.round(ms)));
  }

  /** Of all that count, 0 where nothing was recorded; begins the next window. */
  turn(): Percentiles {
    const all = createHistogram(OPTIONS);
    for (const window of this.windows) all.add(window);
    this.windows.unshift(createHistogram(OPTIONS));
    this.windows.length = Math.min(this.windows.length, Math.max(1, this.kept));
    if (all.count === 0) return { p50: 0, p95: 0, p99: 0 };
    return { p50: all.percentile(50), p95: all.percentile(95), p99: all.percentile(99) };
  }
}
