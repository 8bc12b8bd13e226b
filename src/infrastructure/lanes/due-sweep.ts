import { Database } from '../database/database.js';
import type { DueLanes, DuePage } from './due-lanes.js';
import { isHeld } from './lane-hold.js';
import type { AwaitedTime, Sweep } from './sweeps.js';

/** What the sweep does to a lane with due rows; see `LaneProcessor`. */
export interface SweptLanes {
  readonly isAlone: boolean;
  wake(laneKey: string): void;
  rescue(laneKey: string): void;
  tellHolder(laneKey: string): void;
}

/** Woken and still due after this long: the queue works off no jobs, or its workers have no time. */
const RESCUE_AFTER_MS = 2_000;
const PAGE = 2_000;

/**
 * Wakes every lane that has due rows. This alone keeps the promise that nothing is lost with the queue or a signal:
 * without them the lanes are drained from here.
 */
export class DueSweep implements Sweep {
  readonly everyMs = 1_000;

  constructor(
    readonly name: string,
    private readonly database: Database,
    private readonly swept: SweptLanes,
    private readonly dueLanes: DueLanes,
    readonly waitsFor: readonly AwaitedTime[] = [],
  ) {}

  /** Not by `waitsFor`: no index has these times over all lanes, and some rows are due without one. */
  get hasWork(): string {
    return this.dueLanes.hasWork ?? 'true';
  }

  /** No hint reaches the other workers: each looks for itself. */
  get everywhere(): boolean {
    return this.swept.isAlone;
  }

  async run(signal: AbortSignal): Promise<number> {
    let touched = 0;
    let after: string | null = null;
    // Page by page to the end: lanes that rest, however many, must not hide those behind them.
    do {
      const { lanes, next }: DuePage = await this.dueLanes(PAGE, after);
      const states = await this.statesOf(lanes.map((lane) => lane.key));
      for (const { key, dueForMs } of lanes) {
        const state = states.get(key);
        if (state === 'rests') continue;
        if (state === 'held') this.swept.tellHolder(key);
        else if (dueForMs > RESCUE_AFTER_MS) this.swept.rescue(key);
        else this.swept.wake(key);
        touched++;
      }
      after = next;
    } while (after !== null && !signal.aborted);
    return touched;
  }

  private async statesOf(keys: string[]): Promise<Map<string, 'rests' | 'held'>> {
    if (keys.length === 0) return new Map();
    const rows = await this.database.query<{ key: string; state: 'rests' | 'held' }>(
      `select key, case when paused_until > clock_timestamp() then 'rests' else 'held' end as state
       from lane where key = any($1) and (${isHeld('lane')} or paused_until > clock_timestamp())`,
      [keys],
    );
    return new Map(rows.map(({ key, state }) => [key, state]));
  }
}
