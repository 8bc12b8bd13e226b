import type { Database } from '../database/database.js';

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

/** Where the waiting rows of lanes are; needs an index on (`lane`, next_attempt_at) of the rows that wait. */
export interface WaitingRows {
  table: string;
  /** The column with the lane's id. */
  lane: string;
  /** The state of rows that wait. */
  status: string;
  /** SQL condition on `head.lane_id`: the lane can be drained at all. */
  usable?: string;
  /** What is before the id in the lane's key. */
  prefix: string;
}

/** Skips from lane to lane in the index, never reads a backlog. */
export function findDueLanes(database: Database, rows: WaitingRows): DueLanes {
  const { prefix, usable = 'true' } = rows;
  const sql = `${laneHeads(rows, '$1', '$2')}
    select lane_id, case when next_attempt_at <= clock_timestamp() and ${usable}
      then (extract(epoch from clock_timestamp() - next_attempt_at) * 1000)::double precision end as due_for_ms
    from lane_head as head order by n`;
  const dueLanes = async (limit: number, after: string | null): Promise<DuePage> => {
    const heads = await database.query<{ lane_id: string; due_for_ms: number | null }>(sql, [
      limit,
      after === null ? FIRST : after.slice(prefix.length),
    ]);
    const last = heads.at(-1);
    return {
      lanes: heads.flatMap(({ lane_id, due_for_ms }) =>
        due_for_ms === null ? [] : [{ key: `${prefix}${lane_id}`, dueForMs: due_for_ms }],
      ),
      next: last !== undefined && heads.length === limit ? `${prefix}${last.lane_id}` : null,
    };
  };
  return Object.assign(dueLanes, { hasWork: `exists (select 1 from ${rows.table} where status = '${rows.status}')` });
}

const FIRST = '00000000-0000-0000-0000-000000000000';

/** SQL text: the relation `lane_head` has of each lane behind `after` the row that is due first, of `limit` lanes. */
export function laneHeads(
  { table, lane, status }: Pick<WaitingRows, 'table' | 'lane' | 'status'>,
  limit = "'infinity'::float8",
  after = `'${FIRST}'`,
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
