import { FIRST_ID } from '../../common/ids.js';
import { type Database, hasRow } from '../database/database.js';
import { isHeld } from './lane-hold.js';
import type { AwaitedTime, Sweep } from './sweeps.js';

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
  /** SQL of a cheap condition without which no lane is due: see Sweep. */
  readonly hasWork?: string;
}

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
export function dueSweep(
  name: string,
  database: Database,
  swept: SweptLanes,
  dueLanes: DueLanes,
  waitsFor: readonly AwaitedTime[] = [],
): Sweep {
  return {
    name,
    everyMs: 1_000,
    waitsFor,
    // Not by `waitsFor`: no index has these times over all lanes, and some rows are due without one.
    hasWork: dueLanes.hasWork ?? 'true',
    /** No hint reaches the other workers: each looks for itself. */
    get everywhere() {
      return swept.isAlone;
    },
    async run(signal) {
      let touched = 0;
      let after: string | null = null;
      // Page by page to the end: lanes that rest, however many, must not hide those behind them.
      do {
        const { lanes, next }: DuePage = await dueLanes(PAGE, after);
        const keys = lanes.map((lane) => lane.key);
        const rows = keys.length === 0 ? [] : await database.query<{ key: string; state: string }>(STATES, [keys]);
        const states = new Map(rows.map(({ key, state }) => [key, state]));
        for (const { key, dueForMs } of lanes) {
          const state = states.get(key);
          if (state === 'rests') continue;
          if (state === 'held') swept.tellHolder(key);
          else if (dueForMs > RESCUE_AFTER_MS) swept.rescue(key);
          else swept.wake(key);
          touched++;
        }
        after = next;
      } while (after !== null && !signal.aborted);
      return touched;
    },
  };
}

const STATES = `
select key, case when paused_until > clock_timestamp() then 'rests' else 'held' end as state
from lane where key = any($1) and (${isHeld('lane')} or paused_until > clock_timestamp())`;

/** Where the waiting rows of lanes are; needs an index on (`lane`, next_attempt_at) of the rows that wait. */
export interface WaitingRows {
  table: string;
  /** The column with the lane's id. */
  lane: string;
  /** The state of rows that wait. */
  status: string;
  /** What is before the id in the lane's key. */
  prefix: string;
}

/** Skips from lane to lane in the index, never reads a backlog. */
export function findDueLanes(database: Database, rows: WaitingRows): DueLanes {
  const { table, lane, status, prefix } = rows;
  const sql = `${laneHeads(rows, '$1', '$2')}
    select lane_id, case when next_attempt_at <= clock_timestamp()
      then (extract(epoch from clock_timestamp() - next_attempt_at) * 1000)::double precision end as due_for_ms
    from lane_head order by n`;
  const dueLanes = async (limit: number, after: string | null): Promise<DuePage> => {
    const heads = await database.query<{ lane_id: string; due_for_ms: number | null }>(sql, [
      limit,
      after === null ? FIRST_ID : after.slice(prefix.length),
    ]);
    const last = heads.at(-1);
    return {
      lanes: heads.flatMap(({ lane_id, due_for_ms }) =>
        due_for_ms === null ? [] : [{ key: `${prefix}${lane_id}`, dueForMs: due_for_ms }],
      ),
      next: last !== undefined && heads.length === limit ? `${prefix}${last.lane_id}` : null,
    };
  };
  return Object.assign(dueLanes, {
    hasWork: hasRow(`from ${table} where status = '${status}'`, `${lane}, next_attempt_at`),
  });
}

/** SQL text: the relation `lane_head` has of each lane behind `after` the row that is due first, of `limit` lanes. */
export function laneHeads(
  { table, lane, status }: Pick<WaitingRows, 'table' | 'lane' | 'status'>,
  limit = "'infinity'::float8",
  after = `'${FIRST_ID}'`,
): string {
  const head = (behind: string, n: string): string => `
    select ${lane} as lane_id, next_attempt_at, ${n} as n from ${table}
    where status = '${status}' and ${lane} > ${behind} order by ${lane}, next_attempt_at limit 1`;
  return `
with recursive lane_head as (
  (${head(`${after}::uuid`, '1')})
  union all
  select next.* from lane_head cross join lateral (${head('lane_head.lane_id', 'lane_head.n + 1')}) as next
  where lane_head.n < ${limit}
)`;
}
