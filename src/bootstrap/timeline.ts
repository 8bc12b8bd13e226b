/** Measures where a start spends its time. */
export class Timeline {
  private readonly phases: { name: string; ms: number }[] = [];

  /** @param startedAt the beginning by `performance.now()`, whose zero is the start of the process. */
  constructor(private readonly startedAt = 0) {}

  /** Records how long `work` took. Phases may overlap. */
  async measure<T>(name: string, work: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await work();
    } finally {
      this.phases.push({ name, ms: performance.now() - from });
    }
  }

  /** Whole milliseconds since the start. */
  get elapsedMs(): number {
    return Math.round(performance.now() - this.startedAt);
  }

  /** Such as `{ database: 480, application: 310 }`, in milliseconds. */
  summary(): Record<string, number> {
    return Object.fromEntries(this.phases.map(({ name, ms }) => [name, Math.round(ms)]));
  }
}
