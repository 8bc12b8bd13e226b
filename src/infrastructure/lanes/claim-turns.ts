import type { Clock } from '../../common/clock.js';

/**
 * Lets lanes claim together, so that one statement can serve many: a claim some time after the last turn runs at once,
 * an earlier one runs in the next turn together with all others that wait.
 */
export class ClaimTurns {
  private lastAt = -Infinity;
  private nextAt = Infinity;
  private timer: NodeJS.Timeout | null = null;
  private waiting: (() => void)[] = [];

  constructor(private readonly clock: Clock) {}

  /** Resolves at a turn so many milliseconds after the last one at the latest. */
  next(everyMs: number): Promise<void> {
    const now = this.clock.monotonic();
    const at = this.lastAt + everyMs;
    const turn = new Promise<void>((resolve) => this.waiting.push(resolve));
    if (at <= now) this.begin();
    else if (at < this.nextAt) {
      if (this.timer !== null) clearTimeout(this.timer);
      this.nextAt = at;
      this.timer = setTimeout(() => this.begin(), at - now);
    }
    return turn;
  }

  /** Begins a turn now. */
  begin(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.nextAt = Infinity;
    this.lastAt = this.clock.monotonic();
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
