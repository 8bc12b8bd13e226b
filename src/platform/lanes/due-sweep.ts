import { Database } from '../database/database.js';
import type { DueLanes, DuePage } from './due-lanes.js';
import { isHeld } from './lane-hold.js';
import type { LaneWaker } from './lane-waker.js';
import type { AwaitedTime, Sweep } from './sweeps.js';

/** Woken and still due after this long: the queue lost the wake or works off no jobs. */
const RESCUE_AFTER_MS = 2_000;
const PAGE = 2_000;

/**
 * Wakes every lane that has due rows and that no process drains. This alone keeps the promise that nothing is lost with
 * the queue: an empty Redis is refilled within seconds, and without one the lanes are drained from here.
 */
export class DueSweep implements Sweep {
  readonly everyMs = 1_000;

  constructor(
    readonly name: string,
    private readonly database: Database,
    private readonly waker: LaneWaker,
    private readonly dueLanes: DueLanes,
    readonly waitsFor: readonly AwaitedTime[] = [],
  ) {}

  /** Not by `waitsFor`: no index has these times over all lanes, and some rows are due without one. */
  get hasWork(): string {
    return this.dueLanes.hasWork ?? 'true';
  }

  /** No wake reaches the other workers: each looks for itself. */
  get everywhere(): boolean {
    return this.waker.isAway;
  }

  async run(signal: AbortSignal): Promise<number> {
    let touched = 0;
    let after: string | null = null;
    // Page by page to the end: lanes that rest, however many, must not hide those behind them.
    do {
      const { lanes, next }: DuePage = await this.dueLanes(PAGE, after);
      const resting = await this.resting(lanes.map((lane) => lane.key));
      for (const { key, dueForMs } of lanes) {
        if (resting.has(key)) continue;
        // A lane that looks stuck may have rows that only became due now, behind one that is not to be sent yet.
        this.waker.wake(key);
        if (dueForMs > RESCUE_AFTER_MS) this.waker.rescue(key);
        touched++;
      }
      after = next;
    } while (after !== null && !signal.aborted);
    return touched;
  }

  private async resting(keys: string[]): Promise<Set<string>> {
    if (keys.length === 0) return new Set();
    const rows = await this.database.query<{ key: string }>(
      `select key from lane where key = any($1) and (${isHeld('lane')} or paused_until > clock_timestamp())`,
      [keys],
    );
    return new Set(rows.map((row) => row.key));
  }
}
