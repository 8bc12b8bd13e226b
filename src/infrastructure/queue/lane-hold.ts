/**
 * SQL condition: this is not the database that was confirmed last, so nothing may be claimed that leads to a message.
 * Asked within the claim's own statement: the connection may lead to another server than a moment ago. About 5 µs.
 */
export const LANES_HELD = 'not exists (select from database_identity where identity = identity_of_database())';

/** What an operator does about it; in logs, readiness, `herald doctor` and `herald queue status`. */
export const HELD_ADVICE =
  'run `herald restore` (what may have been sent becomes outcome_unknown), or `herald restore --nothing-lost` after a ' +
  'planned move or the promotion of a synchronous standby';

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
  /** Milliseconds until the pause is over; null without a pause, or where its end is not known. */
  pausedMs: number | null;
}

/** The columns that `HOLD_COLUMNS` adds to each row of a claim. */
export interface HoldRow {
  hold_slots: number;
  hold_paused: boolean;
  hold_available: number | null;
  hold_paused_ms: number | null;
}

// Long enough to be renewed seldom, short enough to take over soon after a crash.
const OWNER_MS = 5_000;
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

/** The same for a claim on several lanes, with `ASKED_LANES`. */
export function holdsParams(requests: readonly HoldRequest[]): unknown[][] {
  const rows = requests.map(holdParams);
  return [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column]));
}

const ASKED_LANE = `select $1::text as key, $2::uuid as owner, $3::integer as wanted, $4::float8 as in_hand,
    $5::float8 as burst, $6::float8 as rate`;
/**
 * SQL: what `laneHold` is asked for by `holdsParams`. By a subquery, for where the planner sees how many lanes there are
 * it makes a new plan for each claim, which takes longer than to run it.
 */
export const ASKED_LANES = `select * from unnest((select $1::text[]), $2::uuid[], $3::integer[], $4::float8[],
    $5::float8[], $6::float8[]) as asked (key, owner, wanted, in_hand, burst, rate)`;

interface LaneHoldOptions {
  /** Default: one lane, by `holdParams`. No lane may be asked for twice. */
  asked?: string;
  /** More columns of `hold` (alias `l`): `, l.low_at`. */
  returning?: string;
  /** The work can be done twice without harm: it goes on while lanes are held. Default: false. */
  evenWhereHeld?: boolean;
}

/**
 * SQL: the first relations of a claim's `with`; $1 to $6 are `holdParams`, the claim's own parameters begin at $7.
 *
 * The relation `hold` has one row (key, slots, paused, available, paused_ms) for each lane that this process holds, now
 * or already, or that rests; and none where another process holds it or its row has gone. A claim takes `slots` rows of
 * a lane at the most and answers `from hold left join ...`, so that there is a row for each hold.
 *
 * Nothing is written as long as the hold lasts for a while and the process knows what pace it has in hand. A process
 * that takes over from one that did not let go counts its pace as used up to the end of the hold.
 *
 * On another database than the one that was confirmed every lane rests: see `Restoration`.
 */
export function laneHold({ asked = ASKED_LANE, returning = '', evenWhereHeld = false }: LaneHoldOptions = {}): string {
  const paused = '(coalesce(l.paused_until > clock_timestamp(), false) or (select held from lanes_held))';
  const pausedMs = `case when l.paused_until > clock_timestamp()
    then (extract(epoch from l.paused_until - clock_timestamp()) * 1000)::float8 end as paused_ms`;
  const goesOn = 'l.owner = a.owner and a.in_hand is not null';
  return `
lanes_held as materialized (
  select ${evenWhereHeld ? 'false' : LANES_HELD} as held
), lane_asked as materialized (
  ${asked}
), lane_kept as materialized (
  select l.key, case when ${paused} then 0 else a.wanted end as slots, ${paused} as paused,
    null::float8 as available, ${pausedMs}${returning}
  from lane_asked a join lane l on l.key = a.key
  where ${goesOn} and ${isHeld('l')}
    and l.owner_until > clock_timestamp() + interval '${RENEW_MS} milliseconds'
), lane_free as materialized (
  select a.*, clock_timestamp() as now, ${paused} as paused, ${pausedMs}, ${goesOn} as goes_on,
    l.next_slot_at, l.owner_until
  from lane_asked a join lane l on l.key = a.key
  where a.key not in (select key from lane_kept) and (l.owner = a.owner or l.owner is null or not ${isHeld('l')})
  order by l.key for update of l
), lane_granted as (
  select *, case when goes_on then wanted else greatest(0, least(wanted, floor(available)::integer)) end as slots
  from (
    select *, extract(epoch from now - base)::float8 * rate as available
    from (
      select *, case when goes_on then now - make_interval(secs => least(in_hand, burst))
        -- A slot is reserved once it is due, so one that is not is of a clock that has stepped back.
        else least(now, greatest(next_slot_at, owner_until, now - make_interval(secs => burst))) end as base
      from lane_free) as based) as measured
), lane_taken as (
  update lane l set owner = g.owner, owner_until = g.now + interval '${OWNER_MS} milliseconds',
    next_slot_at = g.base + make_interval(secs => g.slots / g.rate)
  from lane_granted g where l.key = g.key and not g.paused
  returning l.key, g.slots, false as paused, case when not g.goes_on then g.available end as available,
    null::float8 as paused_ms${returning}
), hold as materialized (
  select * from lane_kept union all select * from lane_taken union all
  select l.key, 0, true, null::float8, g.paused_ms${returning} from lane_granted g join lane l on l.key = g.key where g.paused
)`;
}

/** SQL: how many rows the claim on one lane may take; 0 without a hold. */
export const GRANTED_SLOTS = 'coalesce((select slots from hold), 0)';

/** SQL: what each row of a claim says of the hold; for `holdOf`. */
export const HOLD_COLUMNS = `hold.slots as hold_slots, hold.paused as hold_paused, hold.available as hold_available,
  hold.paused_ms as hold_paused_ms`;

/** What the rows of a claim say of the hold; null: another process holds the lane, or its row has gone. */
export function holdOf([row]: readonly HoldRow[]): Hold | null {
  if (row === undefined) return null;
  const { hold_slots: slots, hold_paused: paused, hold_available: available, hold_paused_ms: pausedMs } = row;
  return { slots, paused, available, pausedMs };
}
