interface Waiter {
  want: number;
  grant(slots: number): void;
}

/**
 * A bounded number of places, handed out first come, first served. A taker gets as many of the places it wants as are
 * free, at least one, so that a single place never idles while somebody waits.
 */
export class Slots {
  private free: number;
  private readonly waiters: Waiter[] = [];

  constructor(readonly total: number) {
    this.free = total;
  }

  get taken(): number {
    return this.total - this.free;
  }

  /** Resolves with 1 to `want` places; wait your turn. */
  acquire(want: number): Promise<number> {
    if (want < 1) return Promise.reject(new RangeError('at least one place must be wanted'));
    if (this.free > 0 && this.waiters.length === 0) return Promise.resolve(this.take(want));
    return new Promise((resolve) => this.waiters.push({ want, grant: resolve }));
  }

  release(count: number): void {
    this.free += count;
    while (this.free > 0) {
      const next = this.waiters.shift();
      if (next === undefined) return;
      next.grant(this.take(next.want));
    }
  }

  private take(want: number): number {
    const taken = Math.min(want, this.free);
    this.free -= taken;
    return taken;
  }
}
