import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Prepared } from '../database/prepared.js';
import { CLAIMS_BLOCKED } from './claims-blocked.js';

// The table `lane`: which process holds a lane, its pace and its pauses. A claim takes or renews the hold in its own statement
// (`laneHold`); `LaneRepository` releases it with what is unused of the pace, and pauses lanes.

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
), lane_kept as materialized (
  -- This process holds the lane for another ${RENEW_BELOW_MS} ms at least, and knows its unused pace: nothing is written.
  select l.key, case when ${paused} then 0 else a.wanted end as slots, ${paused} as paused,
    null::float8 as unused_rows, ${pausedMs}${returning}
  from lane_asked a join lane l on l.key = a.key
  where ${paceKnown} and ${isHeld('l')}
    and l.owner_until > clock_timestamp() + interval '${RENEW_BELOW_MS} milliseconds'
), lane_takeable as materialized (
  -- The lane is free, or its owner died; or this process holds it, but not for long, or without knowing the unused pace.
  select a.*, clock_timestamp() as now, ${paused} as paused, ${pausedMs}, ${paceKnown} as pace_known,
    l.next_slot_at, l.owner_until
  from lane_asked a join lane l on l.key = a.key
  where a.key not in (select key from lane_kept) and (l.owner = a.owner or l.owner is null or not ${isHeld('l')})
  order by l.key for update of l
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

const MAX_KEYS = 100_000;
const MAX_PAUSE_SECONDS = 60;

/** SET list: the lane has no low-water mark, and all of it is looked at. */
export const NO_MARK = `low_at = '-infinity'`;

/** The table `lane`: who drains, its pace and its pauses, all by the database's clock. */
@Injectable()
export class LaneRepository {
  private readonly known = new Set<string>();
  /** Lanes that this process paused, and when (monotonic ms) that was written. */
  private readonly pausedAt = new Map<string, number>();

  constructor(private readonly database: Database) {}

  /** Makes sure that the lane's row exists: `laneHold` takes none that does not. */
  async ensure(key: string): Promise<void> {
    if (this.known.has(key)) return;
    await this.database.execute('insert into lane (key) values ($1) on conflict do nothing', [key]);
    if (this.known.size > MAX_KEYS) this.known.clear();
    this.known.add(key);
  }

  /** No row of the lane was free: the next `ensure` looks whether there is one at all, as after a restore. */
  missed(key: string): void {
    this.known.delete(key);
  }

  /**
   * Lets go of lanes, giving unused pace back; nothing happens to one that another process holds by now.
   *
   * @param unusedSeconds each lane with its unused pace.
   */
  async release(owner: string, unusedSeconds: ReadonlyMap<string, number>): Promise<void> {
    await this.database.execute(RELEASE, [[...unusedSeconds.keys()], [...unusedSeconds.values()], owner]);
  }

  /**
   * Stops a lane for a while that grows with each pause in a row: 1, 4, 16, then 60 s; pauses more than five minutes
   * apart are not in a row. A pause that is already running
   * is not prolonged, so that ten answers to ten requests in flight count as one.
   *
   * @param leastMs what the platform itself asked for.
   */
  async pause(key: string, reason: string, leastMs = 0): Promise<void> {
    await this.database.execute(PAUSE, [key, reason, Math.min(leastMs, MAX_PAUSE_SECONDS * 1_000) / 1_000]);
    if (this.pausedAt.size > MAX_KEYS) this.pausedAt.clear();
    this.pausedAt.set(key, performance.now());
  }

  /**
   * Forgets the pauses that this process made once work succeeds that was claimed after them, and after those of other
   * processes. Work that was claimed before says nothing: it passed by what the pause is for.
   *
   * @param claimedAt a moment before the claim, in monotonic milliseconds.
   * @returns null where there is nothing to forget.
   */
  succeeded(key: string, claimedAt: number): Promise<void> | null {
    const pausedAt = this.pausedAt.get(key);
    return pausedAt === undefined || claimedAt <= pausedAt ? null : this.forgetPauses(key, claimedAt);
  }

  private async forgetPauses(key: string, claimedAt: number): Promise<void> {
    this.pausedAt.delete(key);
    // Nothing is claimed before a pause is over.
    await this.database.execute(
      `update lane set pause_count = 0, pause_reason = null, paused_until = null
       where key = $1 and pause_count > 0
         and (paused_until is null or paused_until <= clock_timestamp() - make_interval(secs => $2))`,
      [key, (performance.now() - claimedAt) / 1_000],
    );
  }

  /** Ends a pause and forgets earlier ones: what they were for was repaired. */
  async resume(key: string): Promise<void> {
    await this.database.execute(
      `update lane set pause_count = 0, pause_reason = null, paused_until = null where key = $1 and pause_count > 0`,
      [key],
    );
  }
}

const EARLIER_PAUSES = `case when l.paused_until > clock_timestamp() - interval '5 minutes' then l.pause_count else 0 end`;

const PAUSE = `
insert into lane as l (key, pause_count, pause_reason, paused_until)
values ($1, 1, $2, clock_timestamp() + make_interval(secs => greatest(1, $3::double precision)))
on conflict (key) do update
set pause_count = least(${EARLIER_PAUSES} + 1, 10), pause_reason = excluded.pause_reason,
  paused_until = clock_timestamp() + make_interval(secs =>
    greatest(least(${MAX_PAUSE_SECONDS}, power(4, least(${EARLIER_PAUSES}, 4))), $3))
where l.paused_until is null or l.paused_until <= clock_timestamp()`;

const RELEASE: Prepared = {
  name: 'lane_release',
  // Locked in the order in which claims lock them.
  text: `
with held as materialized (
  select l.key, h.unused_seconds from unnest($1::text[], $2::float8[]) as h (key, unused_seconds) join lane l on l.key = h.key
  where l.owner = $3 order by l.key for update of l
)
update lane l set owner = null, owner_until = null, next_slot_at = clock_timestamp() - make_interval(secs => held.unused_seconds)
from held where l.key = held.key and l.owner = $3`,
};
