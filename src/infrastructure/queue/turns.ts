import { FIRST_ID } from '../../common/ids.js';
import { systemClock } from '../../common/clock.js';
import { within } from '../../common/within.js';

/** Time limit of a turn; the workspace's next turn does the rest. */
const TURN_MS = 250;
/** Workspaces whose turns run at the same time, so that one whose statements wait for a lock does not block all. */
const AT_ONCE = 3;
/** Rest of a workspace after a turn that found nothing to do, or failed. */
const REST_MS = 1_000;
/** How soon new work is seen, even while a turn hangs. */
const LOOK_MS = 250;
const ROUND_MS = 8_000;
/** Limit of workspaces that rest and still have work. */
const MAX_FOUND = 1_000;

/**
 * Works for one workspace; ends soon after the signal. Returns how many rows it touched; 0 where it could do nothing.
 */
export type Turn = (organizationId: string, signal: AbortSignal) => Promise<number>;

export interface TurnsOptions {
  /**
   * Workspaces with work, in the order of their ids: up to `limit` after this one, then as many from the first; see
   * `workspacesWith`.
   */
  find(after: string, limit: number): Promise<string[]>;
  turn: Turn;
  /** Default: few, since each may hold several connections to the database. */
  atOnce?: number;
  /** Called for the failure of one workspace; the others continue. */
  onFailure(error: unknown): void;
}

/**
 * Work on the rows of many workspaces. Each workspace with work gets a turn of bounded time, in the order of their ids.
 * Neither much work of one workspace nor a failing or hanging turn delays the others. The position is kept in memory:
 * after a restart it begins anywhere, and all get their turn.
 */
export class Turns {
  private last = FIRST_ID;
  /** Running turns, including those that an earlier round started. */
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly restsUntil = new Map<string, number>();
  private touched = 0;

  constructor(private readonly options: TurnsOptions) {}

  /** One round of a sweep: ends when no workspace has work, or after some seconds. */
  async run(signal: AbortSignal): Promise<number> {
    const until = systemClock.monotonic() + ROUND_MS;
    this.touched = 0;
    while (!signal.aborted && systemClock.monotonic() < until) {
      // Read before the search: a turn that ends during it may have more to do.
      const underWay = [...this.underWay.values()];
      const next = underWay.length < (this.options.atOnce ?? AT_ONCE) ? await this.next() : null;
      if (next !== null) this.begin(next, signal);
      else if (underWay.length === 0) break;
      else await within(LOOK_MS, Promise.race(underWay));
    }
    // Waits for running turns when the process stops. Otherwise a workspace whose turn hangs is skipped in later rounds
    // until it ends.
    if (signal.aborted) await Promise.all(this.underWay.values());
    return this.touched;
  }

  private async next(): Promise<string | null> {
    const now = systemClock.monotonic();
    for (const [id, until] of this.restsUntil) if (until <= now) this.restsUntil.delete(id);
    const limit = Math.min(MAX_FOUND, this.underWay.size + this.restsUntil.size + 1);
    const found = await this.options.find(this.last, limit);
    return found.find((id) => !this.underWay.has(id) && !this.restsUntil.has(id)) ?? null;
  }

  private begin(id: string, signal: AbortSignal): void {
    this.last = id;
    this.underWay.set(
      id,
      this.take(id, signal).finally(() => this.underWay.delete(id)),
    );
  }

  private async take(id: string, signal: AbortSignal): Promise<void> {
    let rows = 0;
    try {
      rows = await this.options.turn(id, AbortSignal.any([signal, AbortSignal.timeout(TURN_MS)]));
    } catch (error) {
      if (!signal.aborted) this.options.onFailure(error);
    }
    this.touched += rows;
    if (rows === 0) this.restsUntil.set(id, systemClock.monotonic() + REST_MS);
  }
}

/** The rows to work on; preferably with an index that begins with `organization_id`, under this condition. */
export interface RowsOfWorkspaces {
  table: string;
  /** SQL condition. */
  where: string;
}

/** SQL: whether any workspace has such rows. */
export function anyHas(rows: readonly RowsOfWorkspaces[]): string {
  return rows.map(({ table, where }) => `exists (select from ${table} where ${where})`).join(' or ');
}

/** SQL: up to $2 workspaces with such rows after $1, then as many from the first; one index look-up for each. */
export function workspacesWith(rows: readonly RowsOfWorkspaces[]): string {
  const next = (after: string): string => {
    const firsts = rows.map(
      ({ table, where }) =>
        `(select organization_id from ${table} where organization_id > ${after} and ${where} order by organization_id limit 1)`,
    );
    return `least(${firsts.join(', ')})`;
  };
  const behind = (after: string): string => `(
  with recursive workspace as (
    select ${next(after)} as id, 1 as n
    union all
    select ${next('workspace.id')}, workspace.n + 1 from workspace where workspace.id is not null and workspace.n < $2
  )
  select id from workspace where id is not null order by n)`;
  return `${behind('$1::uuid')} union all ${behind(`'${FIRST_ID}'`)}`;
}
