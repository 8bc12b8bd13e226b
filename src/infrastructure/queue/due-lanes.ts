import { FIRST_ID } from '../../common/ids.js';
import type { Database } from '../database/database.js';
import { isOwned } from './lane-owner.js';
import type { AwaitedTime, DueSince, Sweep } from './sweeps.js';

export interface DuePage {
  /** Their keys. */
  lanes: string[];
  /** The last lane examined, if more may follow; otherwise null. */
  next: string | null;
}

/**
 * Examines up to `limit` lanes with waiting rows after the lane `after` (null: from the first) and returns those with
 * due rows.
 */
export interface DueLanes {
  (limit: number, after: string | null): Promise<DuePage>;
  /** A cheap SQL condition that holds if any lane may be due; `true` where there is no cheap one: see Sweep. */
  readonly hasWork: (limit: number) => string;
  /** Set where claims begin at `lane.low_at`: see `MarkedLanes`. */
  readonly moveMarks?: MoveMarks;
}

/** Moves the marks of lanes in use; returns how many it moved. */
export interface MoveMarks {
  (): Promise<number>;
  /** A cheap SQL condition that holds if any mark may have to move: see Sweep. */
  hasWork(): string;
}

/**
 * Lanes whose claims and searches begin at their low-water mark `lane.low_at`; no due row is before it. So removed rows
 * are not read, even while another transaction keeps many of them from being vacuumed.
 */
export interface MarkedLanes extends DueLanes {
  readonly moveMarks: MoveMarks;
}

/** What the sweep does with a lane that has due rows and no owner; see `QueueProcessor`. */
export interface SweptQueue {
  /** This process receives no wakes. */
  readonly wakesUnavailable: boolean;
  wakeAny(laneKey: string): void;
}

const EVERY_MS = 1_000;
/** Lanes that one round examines, which bounds the cost of an idle second. */
const PAGE = 2_000;

/**
 * Wakes every lane that has due rows and no owner, one page per round. If wakes are lost, only this sweep finds the due
 * rows. An owner polls its lane itself.
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
    // Not from `waitsFor`: no index has these times over all lanes, and some rows are due without a time.
    get hasWork() {
      return after === null ? dueLanes.hasWork(PAGE) : 'true';
    },
    /** Without wakes, every process searches for itself. */
    get everywhere() {
      return swept.wakesUnavailable;
    },
    async run() {
      const { lanes, next } = await dueLanes(PAGE, after);
      after = next;
      if (lanes.length === 0) return 0;
      const busy = new Set((await database.query<{ key: string }>(BUSY, [lanes])).map(({ key }) => key));
      const free = lanes.filter((key) => !busy.has(key));
      for (const key of free) swept.wakeAny(key);
      return free.length;
    },
  };
}

/** Lanes that have an owner, or are paused. */
const BUSY = `
select key from lane where key = any($1) and (${isOwned('lane')} or paused_until > clock_timestamp())`;

/**
 * The only lane of a kind.
 *
 * @param hasWork SQL of a cheap condition: the lane has due rows.
 */
export function oneLane(database: Database, key: string, hasWork: () => string): DueLanes {
  const page = async (): Promise<DuePage> => {
    const [row] = await database.byIndex(() => database.query<{ due: boolean }>(`select ${hasWork()} as due`));
    return { lanes: row?.due === true ? [key] : [], next: null };
  };
  return Object.assign(page, { hasWork });
}

/** The only lane of a kind, with a mark. */
export function markedLane(database: Database, key: string, dueSince: DueSince): MarkedLanes {
  const mark = `coalesce((select low_at from lane where key = '${key}'), '-infinity')`;
  const inUse = `select l.key, l.low_at from lane l where l.key = '${key}'`;
  return Object.assign(
    oneLane(database, key, () => `${dueSince(mark)} is not null`),
    { moveMarks: marksOf(database, inUse, dueSince) },
  );
}

/** Lanes that correspond to the rows of a table, such as connections; the waiting rows are in another table. */
export interface TableLanes {
  /** A table with the column `id`. */
  table: string;
  /** The part of the lane's key before the id. */
  prefix: string;
  /** SQL condition on the table: the lanes to examine. */
  where: string;
  /** For the lane `lane_of` (id), by an index that begins with that id. */
  dueSince: DueSince;
  /** SQL: the next id after another one with waiting rows, or null; by the same index. */
  nextWaiting: (after: string) => string;
}

/** Up to this many lanes, each is examined. */
const FEW = 100;
/** A search for lanes with waiting rows that takes this long has read many removed rows. */
const SLOW_MS = 500;
const AGAIN_AFTER_MS = 60_000;

/**
 * Examines lanes in the order of their ids, each from its mark on. Where there are more than a few, it examines only
 * lanes with waiting rows: most numbers are idle, so one round covers all lanes every second, and the next round finds
 * a lost wake. The search for waiting rows uses no marks, so it can be slow while a transaction stays open. Then, for a
 * minute, each lane is examined, page by page.
 */
export function dueTableLanes(database: Database, lanes: TableLanes): MarkedLanes {
  const { table, prefix, where, dueSince } = lanes;
  const inUse = `select l.key, l.low_at, c.id from lane l join ${table} c on l.key = '${prefix}' || c.id where true`;
  const [eachSql, waitingSql] = [eachLane(lanes, '$1', '$2'), waitingLanes(lanes)];
  let hasMany: boolean | undefined;
  let [countedAt, slowAt] = [-Infinity, -Infinity];
  const page = async (limit: number, after: string | null): Promise<DuePage> => {
    const begunAt = performance.now();
    if (hasMany === undefined || begunAt - countedAt >= AGAIN_AFTER_MS) {
      const counted = `select count(*)::integer as count from (select from ${table} where ${where} limit ${FEW + 1}) as lanes`;
      hasMany = (await database.count(counted)) > FEW;
      countedAt = begunAt;
    }
    const byWaiting = hasMany && begunAt - slowAt >= AGAIN_AFTER_MS;
    const params = [limit, after === null ? FIRST_ID : after.slice(prefix.length)];
    const rows = await database.byIndex(() =>
      database.query<{ key: string; is_due: boolean; is_last: boolean }>(byWaiting ? waitingSql : eachSql, params),
    );
    const next = rows.find((row) => row.is_last)?.key ?? null;
    if (byWaiting && performance.now() - begunAt > SLOW_MS) slowAt = performance.now();
    return { lanes: rows.filter((row) => row.is_due).map(({ key }) => key), next };
  };
  const hasWork = (limit: number): string =>
    hasMany === false ? `exists (${eachLane(lanes, String(limit), `'${FIRST_ID}'`)})` : 'true';
  return Object.assign(page, { hasWork, moveMarks: marksOf(database, inUse, dueSince) });
}

/** SQL: the mark of a lane. A subquery, because a join would read all lanes. */
const markOf = (prefix: string, id: string): string =>
  `coalesce((select l.low_at from lane l where l.key = '${prefix}' || ${id}), '-infinity') as low_at`;

// The last lane of a full page is always returned, so that the next page begins after it.
const dueAmong = ({ prefix, dueSince }: TableLanes, limit: string): string => `
select '${prefix}' || id as key, since is not null as is_due, n = ${limit} as is_last
from lane_of cross join lateral (select case when takes_work then ${dueSince('lane_of.low_at')} end as since) as due
where since is not null or n = ${limit}
order by id`;

/** SQL: of the next lanes, those with due rows. */
export const eachLane = (lanes: TableLanes, limit: string, after: string): string => `
with lane_of as materialized (
  select c.id, row_number() over (order by c.id) as n, ${markOf(lanes.prefix, 'c.id')}, true as takes_work
  from (select id from ${lanes.table} where id > ${after} and ${lanes.where} order by id limit ${limit}) as c
)${dueAmong(lanes, limit)}`;

/** SQL: the same, for the next lanes with waiting rows. $1 limit, $2 the id to start after. */
const waitingLanes = (lanes: TableLanes): string => `
with recursive waiting as (
  select ${lanes.nextWaiting('$2::uuid')} as id, 1 as n
  union all
  select ${lanes.nextWaiting('w.id')}, w.n + 1 from waiting w where w.id is not null and w.n < $1::integer
), lane_of as materialized (
  select w.id, w.n, ${markOf(lanes.prefix, 'w.id')},
    exists (select from ${lanes.table} c where c.id = w.id and ${lanes.where}) as takes_work
  from waiting w where w.id is not null
)${dueAmong(lanes, '$1::integer')}`;

const CHECK_MARKS_EVERY_MS = 60_000;

/**
 * Marks stay 15 s behind the clock, longer than a statement may take that writes a row which is due at once. A row that
 * nevertheless has a time before the mark, for example after a commit that stalled for longer, is found once a minute:
 * then all due rows are read, and the mark moves back to the first. A lane that no worker has drained since is left
 * alone and costs no write.
 *
 * @param lanes SQL: the lanes (key, low_at, and what `dueSince` needs), from `lane l`; ends with a condition.
 */
function marksOf(database: Database, lanes: string, dueSince: DueSince): MoveMarks {
  let checkedAt = -Infinity;
  const isCheckDue = (): boolean => performance.now() - checkedAt >= CHECK_MARKS_EVERY_MS;
  const move = async (direction: keyof typeof MARKS): Promise<number> => {
    const looked = await database.byIndex(() => database.query<Move>(lookForMoves(lanes, dueSince, direction)));
    const columns = [looked.map((lane) => lane.key), looked.map((lane) => lane.from), looked.map((lane) => lane.to)];
    return looked.length === 0 ? 0 : database.execute(WRITE_MOVES, columns);
  };
  const moveMarks = async (): Promise<number> => {
    const checks = isCheckDue();
    if (checks) checkedAt = performance.now();
    const back = checks ? await move('back') : 0;
    return back + (await move('on'));
  };
  const hasWork = (): string => (isCheckDue() ? 'true' : `exists (select from lane l where ${MARKS.on.where})`);
  return Object.assign(moveMarks, { hasWork });
}

/** A change of a mark. The times are texts, which keep microseconds. */
interface Move {
  key: string;
  from: string;
  to: string;
}

const MARKS = {
  back: { from: `'-infinity'`, where: `l.low_at > '-infinity'`, moves: '<' },
  on: {
    from: 'lane_of.low_at',
    // For an owned lane, `next_slot_at` is when it was taken. The first condition is the one of an index.
    where: `(l.owner is not null or l.low_at < l.next_slot_at) and l.low_at < statement_timestamp() - interval '20 seconds'
      and (l.low_at < l.next_slot_at or ${isOwned('l')})`,
    moves: '>',
  },
};

/** SQL: a search may take long, so it locks no lane: a claim would skip a locked lane. */
function lookForMoves(lanes: string, dueSince: DueSince, direction: keyof typeof MARKS): string {
  const { from, where, moves } = MARKS[direction];
  return `
with lane_of as materialized (
  ${lanes} and ${where}
), first as (
  select key, low_at, least(statement_timestamp() - interval '15 seconds', ${dueSince(from)}) as due_at from lane_of
)
select key, low_at::text as "from", due_at::text as "to" from first where due_at ${moves} low_at`;
}

/**
 * $1 lanes, $2 the marks that were read, $3 the new ones. A mark that has changed since stays; a locked lane waits for
 * the next round.
 */
const WRITE_MOVES = `
with unchanged as materialized (
  select l.key, move.to_at from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as move (key, from_at, to_at)
  join lane l on l.key = move.key and l.low_at = move.from_at
  order by l.key for no key update of l skip locked
)
update lane l set low_at = unchanged.to_at from unchanged where l.key = unchanged.key`;
