import { FIRST_ID } from '../../common/ids.js';
import type { Database } from '../database/database.js';
import { isHeld } from '../lanes/lane-hold.js';
import type { AwaitedTime, Sweep } from '../lanes/sweeps.js';

export interface DueLane {
  key: string;
  /** Milliseconds since its oldest due row became due. */
  dueForMs: number;
}

export interface DuePage {
  lanes: DueLane[];
  /** The last lane that was looked at where more may follow, else null. */
  next: string | null;
}

/**
 * Looks at up to `limit` lanes with waiting rows behind the lane `after` (null: from the first) and returns those of
 * them that have due rows.
 */
export interface DueLanes {
  (limit: number, after: string | null): Promise<DuePage>;
  /** SQL of a cheap condition without which no lane is due, or there are more than `limit` of them: see Sweep. */
  readonly hasWork: (limit: number) => string;
}

/** What the sweep does to a lane with due rows that nobody holds; see `QueueProcessor`. */
export interface SweptQueue {
  readonly isAlone: boolean;
  wakeAny(laneKey: string): void;
}

const EVERY_MS = 1_000;
/** Lanes that one round looks at: what an idle second costs has a bound, however many there are. */
const PAGE = 2_000;

/**
 * Wakes every lane that has due rows and is held by no process, page by page: a round looks at one page, the next round
 * goes on behind it. This alone keeps the promise that nothing is lost with the queue: without it the lanes are drained
 * from here. Who holds a lane looks at it by himself.
 */
export function dueSweep(
  name: string,
  database: Database,
  swept: SweptQueue,
  dueLanes: DueLanes,
  waitsFor: readonly AwaitedTime[] = [],
): Sweep {
  let after: string | null = null;
  return {
    name,
    everyMs: EVERY_MS,
    waitsFor,
    // Not by `waitsFor`: no index has these times over all lanes, and some rows are due without one.
    get hasWork() {
      return after === null ? dueLanes.hasWork(PAGE) : 'true';
    },
    /** No job reaches the other workers: each looks for itself. */
    get everywhere() {
      return swept.isAlone;
    },
    async run() {
      const { lanes, next } = await dueLanes(PAGE, after);
      after = next;
      const keys = lanes.map((lane) => lane.key);
      if (keys.length === 0) return 0;
      const busy = new Set((await database.query<{ key: string }>(BUSY, [keys])).map(({ key }) => key));
      const free = keys.filter((key) => !busy.has(key));
      for (const key of free) swept.wakeAny(key);
      return free.length;
    },
  };
}

/** Lanes that are held, or that rest. */
const BUSY = `
select key from lane where key = any($1) and (${isHeld('lane')} or paused_until > clock_timestamp())`;

/** Lanes that belong to the rows of one table, as a connection's, and whose work waits in a table of its own. */
export interface TableLanes {
  /** Whose lanes they are; its key is `id`. */
  table: string;
  /** What is before that id in the lane's key. */
  prefix: string;
  /** SQL condition on the table: those that are looked at. */
  where: string;
  /**
   * SQL, in parentheses: when the first row of the lane of `id` is due that is due at `from` or later; one value, or none.
   * By an index that leads with that id: it never reads a backlog, nor what is gone.
   */
  firstDue: (id: string, from: string) => string;
}

/** Looks at lanes in the order of the ids. */
export function dueTableLanes(database: Database, lanes: TableLanes): DueLanes {
  const { prefix, table, where } = lanes;
  const sql = dueSql(lanes, '$1', '$2');
  const page = async (limit: number, after: string | null): Promise<DuePage> => {
    const params = [limit, after === null ? FIRST_ID : after.slice(prefix.length)];
    const rows = await database.byIndex(() =>
      database.query<{ id: string; due_for_ms: number | null; is_last: boolean }>(sql, params),
    );
    const last = rows.find((row) => row.is_last);
    return {
      lanes: rows.flatMap(({ id, due_for_ms: dueForMs }) =>
        dueForMs === null ? [] : [{ key: `${prefix}${id}`, dueForMs }],
      ),
      next: last === undefined ? null : `${prefix}${last.id}`,
    };
  };
  const hasWork = (limit: number): string =>
    `case when (select count(*) from (select 1 from ${table} where ${where} limit ${limit}) as few) = ${limit} then true
     else exists (${dueSql(lanes, String(limit), `'${FIRST_ID}'`)}) end`;
  return Object.assign(page, { hasWork });
}

// The last one of a full page is always returned, so that the next page begins behind it.
export const dueSql = ({ prefix, table, where, firstDue }: TableLanes, limit: string, after: string): string => `
with lane_of as materialized (
  select c.id, coalesce(l.low_at, '-infinity') as low_at, row_number() over (order by c.id) as n
  from (select id from ${table} where id > ${after} and ${where} order by id limit ${limit}) as c
  left join lane l on l.key = '${prefix}' || c.id
)
select id, (extract(epoch from clock_timestamp() - since) * 1000)::double precision as due_for_ms, n = ${limit} as is_last
from lane_of cross join lateral (select (
  select at from ${firstDue('lane_of.id', 'lane_of.low_at')} as first (at) where at <= statement_timestamp()) as since) as due
where since is not null or n = ${limit}
order by id`;

const CHECK_MARKS_EVERY_MS = 60_000;

/**
 * The low-water marks of the lanes in use: before `lane.low_at` no due row stands. By them claims and sweeps pass over
 * the rows that are gone without reading them, however many another transaction keeps from being removed.
 */
export class LaneMarks {
  private readonly sql: string;
  private checkedAt = -Infinity;

  constructor(
    private readonly database: Database,
    lanes: TableLanes,
  ) {
    this.sql = marksSql(lanes);
  }

  /**
   * Moves them on; returns how many. Once a minute all due rows are looked at, and a mark that passed one, as by a commit
   * that stalled, goes back to it.
   */
  async move(): Promise<number> {
    const checks = performance.now() - this.checkedAt >= CHECK_MARKS_EVERY_MS;
    if (checks) this.checkedAt = performance.now();
    return this.database.byIndex(async () => {
      if (checks) await this.database.execute(this.sql, [true]);
      return this.database.execute(this.sql, [false]);
    });
  }
}

// Fifteen seconds behind the clock: longer than an INSERT may take. A lane that nobody drained since stays as it is: it
// costs no write. $1: look at all due rows, and go back.
export const marksSql = ({ prefix, table, firstDue }: TableLanes): string => `
with first as (
  select l.key, least(statement_timestamp() - interval '15 seconds',
    ${firstDue('c.id', `case when $1::boolean then '-infinity' else l.low_at end`)}) as low_at
  from lane l join ${table} c on l.key = '${prefix}' || c.id
  where case when $1::boolean then l.low_at > '-infinity'
    else l.low_at < least(l.next_slot_at, statement_timestamp() - interval '20 seconds') end
  order by l.key for no key update of l skip locked
)
update lane l set low_at = first.low_at from first
where l.key = first.key and case when $1::boolean then first.low_at < l.low_at else first.low_at > l.low_at end`;
