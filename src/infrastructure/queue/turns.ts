import { FIRST_ID } from '../../common/ids.js';
import { systemClock } from '../../common/clock.js';
import { within } from '../../common/within.js';

/** What a turn has not done by then waits for the workspace's next one. */
const TURN_MS = 250;
/** Workspaces that have their turn at the same time: one whose statements wait for a lock leaves places to the others. */
const AT_ONCE = 3;
/** After a turn that found nothing to do, or failed. */
const REST_MS = 1_000;
/** Work that came meanwhile is seen after so long, also beside a turn that hangs. */
const LOOK_MS = 250;
const ROUND_MS = 8_000;
/** Of workspaces that rest and still have work. */
const MAX_FOUND = 1_000;

/** Works for one workspace; ends soon after the signal. Returns how many rows it touched, 0 where it could do nothing. */
export type Turn = (organizationId: string, signal: AbortSignal) => Promise<number>;

export interface TurnsOptions {
  /** Workspaces with work, in the order of their ids: up to `limit` behind this one, then as many from the first on; see `workspacesWith`. */
  find(after: string, limit: number): Promise<string[]>;
  turn: Turn;
  /** Default: a few, since each may hold several connections to the database. */
  atOnce?: number;
  /** A failure is one workspace's: the others go on. */
  onFailure(error: unknown): void;
}

/**
 * Work on the rows of many workspaces: each that has any gets a turn of bounded time, the one behind the last served first.
 * Neither much work of one nor a turn that fails or hangs delays the others. Which one is next is kept in memory: after a
 * restart it begins anywhere, and all have their turn.
 */
export class Turns {
  private last = FIRST_ID;
  /** Turns under way, also those that an earlier round began. */
  private readonly underWay = new Map<string, Promise<void>>();
  private readonly restsUntil = new Map<string, number>();
  private touched = 0;

  constructor(private readonly options: TurnsOptions) {}

  /** One round, as a sweep runs it: ends when no workspace has anything to do, or after some seconds. */
  async run(signal: AbortSignal): Promise<number> {
    const until = systemClock.monotonic() + ROUND_MS;
    this.touched = 0;
    while (!signal.aborted && systemClock.monotonic() < until) {
      // As they are before the look: one that ends during it may have more to do.
      const underWay = [...this.underWay.values()];
      const next = underWay.length < (this.options.atOnce ?? AT_ONCE) ? await this.next() : null;
      if (next !== null) this.begin(next, signal);
      else if (underWay.length === 0) break;
      else await within(LOOK_MS, Promise.race(underWay));
    }
    // Before the process stops. Else the workspace of a turn that hangs has none in the rounds until it ends.
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

/** Rows that are to be worked on; best by an index that begins with their `organization_id`, with this condition. */
export interface RowsOfWorkspaces {
  table: string;
  /** SQL condition. */
  where: string;
}

/** SQL: whether any workspace has such rows. */
export function anyHas(rows: readonly RowsOfWorkspaces[]): string {
  return rows.map(({ table, where }) => `exists (select from ${table} where ${where})`).join(' or ');
}

/** SQL: up to $2 workspaces with such rows behind $1, then as many from the first on; one look at an index for each. */
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
