/** A bounded number of places, handed out first come, first served. */
export class Slots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly total: number) {}

  /** Resolves with a place, which `release` returns. */
  async acquire(): Promise<void> {
    if (this.taken < this.total) this.taken += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  release(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.taken -= 1;
    else next();
  }
}
