import { Database } from '../database/database.js';
import type { LaneWaker } from './lane-waker.js';
import type { Sweep } from './sweeps.js';

export interface DueLane {
  key: string;
  /** Milliseconds since its oldest due row became due. */
  dueForMs: number;
}

/** Woken through the queue and still due after this long: something lost the wake. */
const FORCE_AFTER_MS = 5_000;
const MAX_LANES = 2_000;

/**
 * Wakes every lane that has due rows and that nobody drains. This alone keeps the promise that nothing is lost with
 * the queue: an empty Redis is refilled within seconds.
 */
export class DueSweep implements Sweep {
  readonly everyMs = 1_000;

  constructor(
    readonly name: string,
    private readonly database: Database,
    private readonly waker: LaneWaker,
    /** Lanes with due rows, at most `limit`; a skip from lane to lane, never a scan of a backlog. */
    private readonly dueLanes: (limit: number) => Promise<DueLane[]>,
  ) {}

  async run(signal: AbortSignal): Promise<number> {
    const due = await this.dueLanes(MAX_LANES);
    if (due.length === 0) return 0;
    const resting = await this.resting(due.map((lane) => lane.key));
    const waiting = due.filter((lane) => !resting.has(lane.key));
    // Forcing waits for the queue, so a hundred lanes that are stuck would hold up the wakes of all behind them.
    const stuck = waiting.filter((lane) => lane.dueForMs > FORCE_AFTER_MS);
    for (const lane of waiting) if (lane.dueForMs <= FORCE_AFTER_MS) this.waker.wake(lane.key);
    let forced = 0;
    for (const lane of stuck) {
      if (signal.aborted) break;
      await this.waker.force(lane.key);
      forced++;
    }
    return waiting.length - stuck.length + forced;
  }

  private async resting(keys: string[]): Promise<Set<string>> {
    const rows = await this.database.query<{ key: string }>(
      `select key from lane where key = any($1)
         and (owner_until > clock_timestamp() or paused_until > clock_timestamp())`,
      [keys],
    );
    return new Set(rows.map((row) => row.key));
  }
}
