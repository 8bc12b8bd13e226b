import { CLAIMS_BLOCKED } from './claims-blocked.js';

// The hold: which process has a lane, and what is unused of the lane's pace. A claim takes or renews it in its own statement
// (`laneHold`); `LaneRepository` releases it, and pauses lanes.

/** Pace of one lane. */
export interface LanePace {
  ratePerSecond: number;
  /** Seconds of unused pace that may be caught up at once. */
  burstSeconds: number;
}

/** How many rows may be caught up at once. At least one: a product of rounded numbers may be less. */
export function burstRows({ ratePerSecond, burstSeconds }: LanePace): number {
  return Math.max(1, ratePerSecond * burstSeconds);
}

/** What a claim says of its lane, as the first parameters of the statement: see `holdParams`. */
export interface HoldRequest {
  laneKey: string;
  /** The process that claims. */
  owner: string;
  /** Rows to claim. Where `unusedRows` is known, no more than that, which the loop sees to. */
  limit: number;
  pace: LanePace;
  /** Unused pace that this process has in memory, in rows; null where it does not hold the lane as far as it knows. */
  unusedRows: number | null;
}

/** The answer of a statement with `laneHold`. */
export interface Hold {
  /** Rows that this statement may claim: at most the request's `limit`; 0 while paused, when the pace is used up or `limit` is 0. */
  slots: number;
  /** The lane is paused, or all claims are blocked. */
  paused: boolean;
  /** The lane's unused pace before this statement took its slots, in rows; null where this process goes on with what it knows. */
  newUnusedRows: number | null;
  /** Milliseconds until the pause is over; null without a pause, or where its end is not known. */
  pausedMs: number | null;
}

/** The columns that `HOLD_COLUMNS` adds to each row of a claim. */
export interface HoldRow {
  hold_slots: number;
  hold_paused: boolean;
  hold_new_unused_rows: number | null;
  hold_paused_ms: number | null;
}

// The hold on a lane: renewed after 2.5 s, taken over 5 s after a crash.
const OWNER_MS = 5_000;
/** A claim renews the hold when no more than this is left of it. */
const RENEW_BELOW_MS = OWNER_MS / 2;

/**
 * SQL: one process owns the lane in the row of `lane` under this alias. The database's clock steps back where a standby with a
 * slower one takes over: an `owner_until` more than 5 s ahead was written by a clock that ran ahead, and does not count.
 */
export function isHeld(lane: string): string {
  return `coalesce(${lane}.owner_until > clock_timestamp()
    and ${lane}.owner_until <= clock_timestamp() + interval '${OWNER_MS} milliseconds', false)`;
}

/** The values of $1 to $6, which belong to `laneHold`. */
export function holdParams({ laneKey, owner, limit, unusedRows, pace }: HoldRequest): unknown[] {
  return [laneKey, owner, limit, unusedRows, burstRows(pace), pace.ratePerSecond];
}

/** The same for a claim on many lanes. */
export function holdParamsOfMany(requests: readonly HoldRequest[]): unknown[][] {
  const rows = requests.map(holdParams);
  return [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column]));
}

/** SQL: `holdParams` as a relation. */
const ONE_LANE = `select $1::text as key, $2::uuid as owner, $3::integer as row_limit, $4::float8 as known_unused,
    $5::float8 as burst_rows, $6::float8 as rate`;
/**
 * SQL: `holdParamsOfMany` as a relation. By a subquery, for where the planner sees how many lanes there are it makes a new
 * plan for each claim, which takes longer than to run it.
 */
const MANY_LANES = `select * from unnest((select $1::text[]), $2::uuid[], $3::integer[], $4::float8[],
    $5::float8[], $6::float8[]) as lanes (key, owner, row_limit, known_unused, burst_rows, rate)`;

interface LaneHoldOptions {
  /** The claim is on many lanes, by `holdParamsOfMany`; no lane may be asked for twice. Default: on one, by `holdParams`. */
  many?: boolean;
  /** More columns of `hold` (alias `l`): `, l.low_at`. */
  returning?: string;
  /** The work can be done twice without harm: it goes on while claims are blocked. Default: false. */
  runsWhileBlocked?: boolean;
}

/**
 * SQL: the first relations of a claim's `with`. The hold keeps the pace, and keeps two claims of a lane from running at once: that saves
 * claims, and messages to one recipient need it (rule 2 of the claim of messages). That no row is sent twice does not rest on it, but
 * on the row's own attempt and lease. $1 to $6 are `holdParams`, the claim's own parameters begin at $7. The tests in
 * lane-hold.spec.ts have the numbers of this table.
 *
 * |    | The lane's row has as owner               | The hold lasts yet      | Locked *  | Relation  | Written | Slots come from |
 * | -- | ----------------------------------------- | ----------------------- | --------- | --------- | ------- | --------------- |
 * | 1  | this process, which knows its unused pace | more than 2.5 s         | yes or no | `goes_on` | no      | `limit`         |
 * | 2  | this process, which knows its unused pace | 2.5 s at most, or ended | no        | `taken`   | renewed | `unusedRows`    |
 * | 3  | this process, which knows its unused pace | 2.5 s at most           | yes       | `goes_on` | no      | `limit`         |
 * | 4  | this process, which knows its unused pace | ended                   | yes       | none      | no      | none            |
 * | 5a | no process                                |                         | no        | `taken`   | taken   | `next_slot_at`  |
 * | 5b | this process, which lost its pace         | yes or no               | no        | `taken`   | taken   | `next_slot_at`  |
 * | 5c | another process                           | ended                   | no        | `taken`   | taken   | `next_slot_at`  |
 * | 6  | as 5                                      | as 5                    | yes       | none      | no      | none            |
 * | 7  | another process                           | yes                     | yes or no | none      | no      | none            |
 * | 8  | (the lane has no row)                     |                         |           | none      | no      | none            |
 *
 * `*`: another transaction has locked the row at this moment.
 *
 * The relation `hold` has one row (key, slots, paused, new_unused_rows, paused_ms) for each lane of 1, 2, 3 and 5; where the
 * lane is paused, `slots` is 0 and nothing is written. A claim takes at most `slots` rows of a lane. It returns a row for each
 * hold, even without a claimed row: one lane by `from hold left join ...`, many lanes by `from hold full join ... on false`,
 * which returns the rows of both one after the other.
 *
 * On another database than the one that was confirmed every lane counts as paused: see `Restoration`.
 */
export function laneHold({ many = false, returning = '', runsWhileBlocked = false }: LaneHoldOptions = {}): string {
  const paused = '(coalesce(l.paused_until > clock_timestamp(), false) or (select is_blocked from blocked))';
  const pausedMs = `case when l.paused_until > clock_timestamp()
    then (extract(epoch from l.paused_until - clock_timestamp()) * 1000)::float8 end as paused_ms`;
  // This process owns the lane and has counted its pace in memory. `is not distinct from`: false where no process owns the lane.
  const isOwnPace = 'l.owner is not distinct from a.owner and a.known_unused is not null';
  // All but 7.
  const isFree = `(l.owner = a.owner or l.owner is null or not ${isHeld('l')})`;
  // 1, 3, and 2 as long as the hold lasts. A hold of this process that ended is not its own: `may_take` has it.
  const isOwnHold = `${isOwnPace} and ${isHeld('l')}`;
  // 1, not 2.
  const endsLate = `l.owner_until > clock_timestamp() + interval '${RENEW_BELOW_MS} milliseconds'`;
  return `
blocked as materialized (
  select ${runsWhileBlocked ? 'false' : CLAIMS_BLOCKED} as is_blocked
), lane_asked as materialized (
  ${many ? MANY_LANES : ONE_LANE}
), may_take as materialized (
  -- 2 and 5. One row that another transaction keeps locked must not stop the claim of the others.
  select a.*, clock_timestamp() as now, ${paused} as paused, ${pausedMs}, ${isOwnPace} as pace_known,
    l.next_slot_at, l.owner_until
  from lane_asked a join lane l on l.key = a.key
  where ${isFree} and not (${isOwnHold} and ${endsLate})
  order by l.key for update of l skip locked
), goes_on as materialized (
  -- 1 and 3, which is a known hold that was left out because it is locked: a later claim renews it.
  select l.key, case when ${paused} then 0 else a.row_limit end as slots, ${paused} as paused,
    null::float8 as new_unused_rows, ${pausedMs}${returning}
  from lane_asked a join lane l on l.key = a.key
  where ${isOwnHold} and a.key not in (select key from may_take)
), slots_by_pace as (
  -- next_slot_at: the time since which pace is unused. Three examples at 10 rows a second with a burst of 5 rows, at 12:00:02.0:
  -- A free lane with next_slot_at 12:00:00.0 has 20 unused rows, of which 5 may be caught up.
  -- A lane whose process died, with owner_until 12:00:01.8: what was used until then is not known, so 2 rows are unused.
  -- A lane of this process that lost count, with owner_until 12:00:04.0: none.
  select key, owner, now, paused, paused_ms, pace_known, rate, unused_rows,
    greatest(0, least(row_limit, floor(unused_rows)::integer)) as slots
  from (
    select key, owner, row_limit, rate, now, paused, paused_ms, pace_known,
      -- A next_slot_at ahead of now can only come from a clock that was set back.
      case when pace_known then least(known_unused, burst_rows) else greatest(0, rate * extract(epoch from now - greatest(
        next_slot_at, owner_until, now - make_interval(secs => burst_rows / rate)))::float8) end as unused_rows
    from may_take) as by_rows
), taken as (
  -- 2 and 5. next_slot_at is when the rows that stay unused became so.
  update lane l set owner = g.owner, owner_until = g.now + interval '${OWNER_MS} milliseconds',
    next_slot_at = g.now - make_interval(secs => (g.unused_rows - g.slots) / g.rate)
  from slots_by_pace g where l.key = g.key and not g.paused
  returning l.key, g.slots, false as paused, case when not g.pace_known then g.unused_rows end as new_unused_rows,
    null::float8 as paused_ms${returning}
), hold as materialized (
  select * from goes_on union all select * from taken union all
  select l.key, 0, true, null::float8, g.paused_ms${returning} from slots_by_pace g join lane l on l.key = g.key where g.paused
)`;
}

/** SQL: how many rows the claim on one lane may take; 0 without a hold. */
export const GRANTED_SLOTS = 'coalesce((select slots from hold), 0)';

/** SQL: what each row of a claim says of the hold; for `holdOf`. */
export const HOLD_COLUMNS = `hold.slots as hold_slots, hold.paused as hold_paused, hold.new_unused_rows as hold_new_unused_rows,
  hold.paused_ms as hold_paused_ms`;

/** What a row of a claim says of the hold; null: the claim may not have the lane (4, 6, 7 and 8 of the table at `laneHold`). */
export function holdOf(row: HoldRow | undefined): Hold | null {
  if (row === undefined) return null;
  const { hold_slots: slots, hold_paused: paused, hold_new_unused_rows: newUnusedRows, hold_paused_ms: pausedMs } = row;
  return { slots, paused, newUnusedRows, pausedMs };
}

/** What a claim brought of one lane. */
export interface Claim<T> {
  /** Null: the claim may not have the lane: see `holdOf`. */
  hold: Hold | null;
  /** No more than `hold.slots`; none without a hold. */
  items: T[];
}

/** A row of a claim on one lane: `HOLD_COLUMNS`, and what was claimed; `id` is null where that is nothing. */
export type ClaimRow<T extends { id: string }> = HoldRow & (T | { id: null });

export function claimOf<T extends { id: string }>(rows: readonly ClaimRow<T>[]): Claim<T> {
  return { hold: holdOf(rows[0]), items: rows.filter((row): row is HoldRow & T => row.id !== null) };
}
