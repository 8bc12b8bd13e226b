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
  /** Slots wanted now. */
  limit: number;
  pace: LanePace;
  /** Unused pace that this process has in hand, in seconds; null where it does not hold the lane as far as it knows. */
  inHandSeconds: number | null;
}

/** The answer of a statement with `laneHold`. */
export interface Hold {
  /** Rows that this statement may claim; 0 while paused or when the pace is used up. */
  slots: number;
  paused: boolean;
  /** Slots that were there before this statement took its own; null where the pace in hand goes on. */
  available: number | null;
  /** Milliseconds that the hold lasts without being renewed; 0: a lane that rests was not taken. */
  lastsMs: number;
}

/** The columns that `HOLD_COLUMNS` adds to each row of a claim. */
export interface HoldRow {
  hold_slots: number;
  hold_paused: boolean;
  hold_available: number | null;
  hold_lasts_ms: number;
}

// Long enough to be renewed seldom, short enough to take over soon after a crash.
export const OWNER_MS = 5_000;
/** A hold that lasts longer than this is not renewed. */
const RENEW_MS = OWNER_MS / 2;

/**
 * SQL: the row of `lane` under this alias is held by a drain. The database's clock steps back where a standby with a
 * slower one takes over: a hold beyond what can have been taken by this clock is over.
 */
export function isHeld(lane: string): string {
  return `coalesce(${lane}.owner_until > clock_timestamp()
    and ${lane}.owner_until <= clock_timestamp() + interval '${OWNER_MS} milliseconds', false)`;
}

/** The values of $1 to $6, which belong to `laneHold`. */
export function holdParams({ laneKey, owner, limit, inHandSeconds, pace }: HoldRequest): unknown[] {
  return [laneKey, owner, limit, inHandSeconds, pace.burstSeconds, pace.ratePerSecond];
}

/**
 * SQL: the first relations of a claim's `with`; $1 to $6 are `holdParams`, the claim's own parameters begin at $7.
 *
 * The relation `hold` has one row (key, slots, paused, available, lasts_ms) where this process holds the lane, now or
 * already, or the lane rests; and none where another process holds it or its row has gone. A claim takes `GRANTED_SLOTS` rows at the most and answers
 * `from hold left join ...`, so that its first row tells of the hold.
 *
 * Nothing is written as long as the hold lasts for a while and the process knows what pace it has in hand. A process
 * that takes over from one that did not let go counts its pace as used up to the end of the hold.
 *
 * @param extra.set more assignments for the lane's row (alias `l`) wherever it is written: `, low_seq = ...`.
 * @param extra.returning more columns of `hold` (alias `l`): `, l.low_seq`.
 */
export function laneHold({ set = '', returning = '' }: { set?: string; returning?: string } = {}): string {
  const paused = 'coalesce(l.paused_until > clock_timestamp(), false)';
  const goesOn = 'l.owner = $2 and $4::float8 is not null';
  return `
lane_kept as materialized (
  select l.key, case when ${paused} then 0 else $3::integer end as slots, ${paused} as paused,
    null::float8 as available,
    (extract(epoch from l.owner_until - clock_timestamp()) * 1000)::float8 as lasts_ms${returning}
  from lane l
  where l.key = $1 and ${goesOn} and ${isHeld('l')}
    and l.owner_until > clock_timestamp() + interval '${RENEW_MS} milliseconds'
), lane_free as materialized (
  select l.key, clock_timestamp() as now, ${paused} as paused, ${goesOn} as goes_on, l.next_slot_at, l.owner_until
  from lane l
  where l.key = $1 and not exists (select 1 from lane_kept) and (l.owner = $2 or l.owner is null or not ${isHeld('l')})
  for update
), lane_granted as (
  select *, case when goes_on then $3::integer else greatest(0, least($3::integer, floor(available)::integer)) end as slots
  from (
    select *, extract(epoch from now - base)::float8 * $6::float8 as available
    from (
      select *, case when goes_on then now - make_interval(secs => least($4::float8, $5::float8))
        -- A slot is reserved once it is due, so one that is not is of a clock that has stepped back.
        else least(now, greatest(next_slot_at, owner_until, now - make_interval(secs => $5))) end as base
      from lane_free) as based) as measured
), lane_taken as (
  update lane l set owner = $2, owner_until = g.now + interval '${OWNER_MS} milliseconds',
    next_slot_at = g.base + make_interval(secs => g.slots / $6)${set}
  from lane_granted g where l.key = g.key and not g.paused
  returning l.key, g.slots, false as paused, case when not g.goes_on then g.available end as available,
    ${OWNER_MS}::float8 as lasts_ms${returning}
), hold as materialized (
  select * from lane_kept union all select * from lane_taken union all
  select l.key, 0, true, null::float8, 0::float8${returning} from lane_granted g join lane l on l.key = g.key where g.paused
)`;
}

/** SQL: how many rows the claim may take; 0 without a hold. */
export const GRANTED_SLOTS = 'coalesce((select slots from hold), 0)';

/** SQL: what each row of a claim says of the hold; for `holdOf`. */
export const HOLD_COLUMNS = `hold.slots as hold_slots, hold.paused as hold_paused, hold.available as hold_available,
  hold.lasts_ms as hold_lasts_ms`;

/** What the rows of a claim say of the hold; null: another process holds the lane, or its row has gone. */
export function holdOf([row]: readonly HoldRow[]): Hold | null {
  if (row === undefined) return null;
  const { hold_slots: slots, hold_paused: paused, hold_available: available, hold_lasts_ms: lastsMs } = row;
  return { slots, paused, available, lastsMs };
}
