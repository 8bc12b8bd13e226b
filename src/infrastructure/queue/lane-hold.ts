import { CLAIMS_BLOCKED } from './claims-blocked.js';

// The hold: which process has a lane, and what is unused of the lane's pace. A claim takes or renews it in its own statement
// (`laneHold`); `LaneRepository` releases it, and pauses lanes.

/** Pace of one lane. */
export interface LanePace {
  ratePerSecond: number;
  /** Seconds of unused pace that may be caught up at once. */
  burstSeconds: number;
}

/** What a claim says of its lane, as the first parameters of the statement: see `holdParams`. */
export interface HoldRequest {
  laneKey: string;
  /** The process that drains. */
  owner: string;
  /**
   * Slots wanted now. Where `unusedSeconds` is known, no more than it allows, which the loop sees to: the statement does not
   * check this limit again then (`lane_kept`, `pace_known`).
   */
  limit: number;
  pace: LanePace;
  /** Unused pace that this process has in memory, in seconds; null where it does not hold the lane as far as it knows. */
  unusedSeconds: number | null;
}

/** The answer of a statement with `laneHold`. */
export interface Hold {
  /** Rows that this statement may claim; 0 while paused or when the pace is used up. */
  slots: number;
  /** The lane is paused, or all claims are blocked. */
  paused: boolean;
  /** The lane's unused pace before this statement took its slots, in rows; null where this process knows it already. */
  unusedRows: number | null;
  /** Milliseconds until the pause is over; null without a pause, or where its end is not known. */
  pausedMs: number | null;
}

/** The columns that `HOLD_COLUMNS` adds to each row of a claim. */
export interface HoldRow {
  hold_slots: number;
  hold_paused: boolean;
  hold_unused_rows: number | null;
  hold_paused_ms: number | null;
}

// The lease of a lane: renewed after 2.5 s, taken over 5 s after a crash.
const OWNER_MS = 5_000;
/** A claim renews the hold when no more than this is left of it. */
const RENEW_BELOW_MS = OWNER_MS / 2;

/**
 * SQL: one process owns the lane in the row of `lane` under this alias. The database's clock steps back where a standby with a
 * slower one takes over: a hold beyond what can have been taken by this clock is over.
 */
export function isHeld(lane: string): string {
  return `coalesce(${lane}.owner_until > clock_timestamp()
    and ${lane}.owner_until <= clock_timestamp() + interval '${OWNER_MS} milliseconds', false)`;
}

/** The values of $1 to $6, which belong to `laneHold`. */
export function holdParams({ laneKey, owner, limit, unusedSeconds, pace }: HoldRequest): unknown[] {
  return [laneKey, owner, limit, unusedSeconds, pace.burstSeconds, pace.ratePerSecond];
}

/** The same for a claim on many lanes. */
export function holdParamsOfMany(requests: readonly HoldRequest[]): unknown[][] {
  const rows = requests.map(holdParams);
  return [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column]));
}

/** SQL: `holdParams` as a relation. */
const ONE_LANE = `select $1::text as key, $2::uuid as owner, $3::integer as wanted, $4::float8 as unused_seconds,
    $5::float8 as burst, $6::float8 as rate`;
/**
 * SQL: `holdParamsOfMany` as a relation. By a subquery, for where the planner sees how many lanes there are it makes a new
 * plan for each claim, which takes longer than to run it.
 */
const MANY_LANES = `select * from unnest((select $1::text[]), $2::uuid[], $3::integer[], $4::float8[],
    $5::float8[], $6::float8[]) as asked (key, owner, wanted, unused_seconds, burst, rate)`;

interface LaneHoldOptions {
  /** The claim is on many lanes, by `holdParamsOfMany`; no lane may be asked for twice. Default: on one, by `holdParams`. */
  many?: boolean;
  /** More columns of `hold` (alias `l`): `, l.low_at`. */
  returning?: string;
  /** The work can be done twice without harm: it goes on while claims are blocked. Default: false. */
  runsWhileBlocked?: boolean;
}

/**
 * SQL: the first relations of a claim's `with`. The hold only keeps the pace and saves claims; that no row is sent twice is the row's
 * own attempt and lease. Two holders at once would be too fast, not wrong. $1 to $6 are `holdParams`, the claim's own parameters begin at $7.
 *
 * The relation `hold` has one row (key, slots, paused, unused_rows, paused_ms) for each lane that this process holds, now
 * or already, or whose lane is paused; and none where another process holds it or its row has gone. A claim takes at most
 * `slots` rows of a lane. It returns a row for each hold, even without a claimed row: one lane by `from hold left join
 * ...`, many lanes by `from hold full join ... on false`, which returns the rows of both one after the other.
 *
 * Nothing is written as long as the hold lasts for a while and the process knows its unused pace. A process that takes
 * over from one that did not let go counts its pace as used up to the end of the hold.
 *
 * On another database than the one that was confirmed every lane counts as paused: see `Restoration`.
 */
export function laneHold({ many = false, returning = '', runsWhileBlocked = false }: LaneHoldOptions = {}): string {
  const paused = '(coalesce(l.paused_until > clock_timestamp(), false) or (select is_blocked from blocked))';
  const pausedMs = `case when l.paused_until > clock_timestamp()
    then (extract(epoch from l.paused_until - clock_timestamp()) * 1000)::float8 end as paused_ms`;
  // This process owns the lane and has counted its pace in memory. False, not null, where no process owns it.
  const paceKnown = 'l.owner is not distinct from a.owner and a.unused_seconds is not null';
  return `
blocked as materialized (
  select ${runsWhileBlocked ? 'false' : CLAIMS_BLOCKED} as is_blocked
), lane_asked as materialized (
  ${many ? MANY_LANES : ONE_LANE}
), lane_takeable as materialized (
  -- The lane is free, or its owner died; or this process holds it, but not for long, or without knowing the unused pace.
  select a.*, clock_timestamp() as now, ${paused} as paused, ${pausedMs}, ${paceKnown} as pace_known,
    l.next_slot_at, l.owner_until
  from lane_asked a join lane l on l.key = a.key
  where (l.owner = a.owner or l.owner is null or not ${isHeld('l')}) and not (${paceKnown} and ${isHeld('l')}
    and l.owner_until > clock_timestamp() + interval '${RENEW_BELOW_MS} milliseconds')
  -- One row that another transaction keeps locked must not stop the claim of all lanes.
  order by l.key for update of l skip locked
), lane_kept as materialized (
  -- This process holds the lane and knows its unused pace. Nothing is written: the hold lasts for another ${RENEW_BELOW_MS} ms at
  -- least, or the row is locked at this moment, and a later claim renews it.
  select l.key, case when ${paused} then 0 else a.wanted end as slots, ${paused} as paused,
    null::float8 as unused_rows, ${pausedMs}${returning}
  from lane_asked a join lane l on l.key = a.key
  where ${paceKnown} and ${isHeld('l')} and a.key not in (select key from lane_takeable)
), lane_granted as (
  -- What the pace allows: what is unused of it since pace_used_until. At 10 rows a second with a burst of 0.5 s, where the
  -- next slot was at 12:00:00.0 and it is 12:00:02.0, pace_used_until is 12:00:01.5 and 5 rows are unused.
  select *, case when pace_known then wanted else greatest(0, least(wanted, floor(unused_rows)::integer)) end as slots
  from (
    select *, extract(epoch from now - pace_used_until)::float8 * rate as unused_rows
    from (
      select *, case when pace_known then now - make_interval(secs => least(unused_seconds, burst))
        -- At most now. Where a hold has not ended, owner_until lies ahead, so the pace is used until now and no row is left: this
        -- process holds the lane but does not know its pace (a claim failed). A next_slot_at ahead of now can only come from a
        -- clock that was set back.
        else least(now, greatest(next_slot_at, owner_until, now - make_interval(secs => burst))) end as pace_used_until
      from lane_takeable) as since) as measured
), lane_taken as (
  -- The write: takes or renews the hold, and moves the next slot by those that were granted.
  update lane l set owner = g.owner, owner_until = g.now + interval '${OWNER_MS} milliseconds',
    next_slot_at = g.pace_used_until + make_interval(secs => g.slots / g.rate)
  from lane_granted g where l.key = g.key and not g.paused
  returning l.key, g.slots, false as paused, case when not g.pace_known then g.unused_rows end as unused_rows,
    null::float8 as paused_ms${returning}
), hold as materialized (
  select * from lane_kept union all select * from lane_taken union all
  select l.key, 0, true, null::float8, g.paused_ms${returning} from lane_granted g join lane l on l.key = g.key where g.paused
)`;
}

/** SQL: how many rows the claim on one lane may take; 0 without a hold. */
export const GRANTED_SLOTS = 'coalesce((select slots from hold), 0)';

/** SQL: what each row of a claim says of the hold; for `holdOf`. */
export const HOLD_COLUMNS = `hold.slots as hold_slots, hold.paused as hold_paused, hold.unused_rows as hold_unused_rows,
  hold.paused_ms as hold_paused_ms`;

/** What the rows of a claim say of the hold; null: another process holds the lane, or its row has gone. */
export function holdOf([row]: readonly HoldRow[]): Hold | null {
  if (row === undefined) return null;
  const { hold_slots: slots, hold_paused: paused, hold_unused_rows: unusedRows, hold_paused_ms: pausedMs } = row;
  return { slots, paused, unusedRows, pausedMs };
}

/** What a claim brought of one lane. */
export interface Claim<T> {
  /** Null: another process holds the lane, or its row has gone. */
  hold: Hold | null;
  /** No more than `hold.slots`; none without a hold. */
  items: T[];
}

/** A row of a claim on one lane: `HOLD_COLUMNS`, and what was claimed; `id` is null where that is nothing. */
export type ClaimRow<T extends { id: string }> = HoldRow & (T | { id: null });

export function claimOf<T extends { id: string }>(rows: readonly ClaimRow<T>[]): Claim<T> {
  return { hold: holdOf(rows), items: rows.filter((row): row is HoldRow & T => row.id !== null) };
}
