interface Waiter {
  want: number;
  grant(slots: number): void;
}

export interface SlotsOptions {
  /** A waiting taker is served once this many places are free (or as many as it wants) ... */
  batch?: number;
  /** ... or once any have been free for this long. */
  patienceMs?: number;
}

/**
 * A bounded number of places, handed out first come, first served, at least one to a taker. Takers pay for each round,
 * so waiting takers get several places at once where a wait of a few milliseconds allows it.
 */
export class Slots {
  private free: number;
  private readonly waiters: Waiter[] = [];
  private readonly urgent: Waiter[] = [];
  private readonly batch: number;
  private readonly patienceMs: number;
  private patience: NodeJS.Timeout | null = null;

  constructor(
    readonly total: number,
    options: SlotsOptions = {},
  ) {
    this.free = total;
    this.batch = options.batch ?? 1;
    this.patienceMs = options.patienceMs ?? 0;
  }

  get taken(): number {
    return this.total - this.free;
  }

  /**
   * Resolves with 1 to `want` places, in turn.
   *
   * @param urgent ahead of others, and with what is free: for a taker without any place.
   */
  acquire(want: number, urgent = false): Promise<number> {
    if (want < 1) return Promise.reject(new RangeError('at least one place must be wanted'));
    const first = urgent ? this.urgent.length === 0 : this.waiters.length === 0 && this.urgent.length === 0;
    if (this.free > 0 && first) return Promise.resolve(this.take(want));
    const line = urgent ? this.urgent : this.waiters;
    return new Promise((resolve) => line.push({ want, grant: resolve }));
  }

  release(count: number): void {
    this.free += count;
    this.serve(this.batch);
  }

  private serve(batch: number): void {
    while (this.free > 0) {
      const next = this.urgent.shift();
      if (next === undefined) break;
      next.grant(this.take(next.want));
    }
    for (let next = this.waiters[0]; next !== undefined && this.free > 0; next = this.waiters[0]) {
      if (this.free < Math.min(next.want, batch, this.total)) {
        this.patience ??= setTimeout(() => {
          this.patience = null;
          this.serve(1);
        }, this.patienceMs);
        return;
      }
      this.waiters.shift();
      next.grant(this.take(next.want));
    }
  }

  private take(want: number): number {
    const taken = Math.min(want, this.free);
    this.free -= taken;
    return taken;
  }
}
