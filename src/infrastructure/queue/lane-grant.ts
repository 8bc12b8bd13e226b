import { CLAIMS_BLOCKED } from './claims-blocked.js';
import { isOwned } from './lane-owner.js';

// What a claim may take from its lanes. A claim begins with `laneGrants`, which also takes lanes without an owner for
// this process; `LaneRepository` releases and pauses lanes.

/** Pace of one lane. */
export interface LanePace {
  ratePerSecond: number;
  /** Seconds of unused pace that may be used at once. */
  burstSeconds: number;
}

/**
 * How many rows may be claimed at once from unused pace. At least one, since a product of rounded numbers may be less.
 */
export function burstRows({ ratePerSecond, burstSeconds }: LanePace): number {
  return Math.max(1, ratePerSecond * burstSeconds);
}

/** One lane of a claim. */
export interface ClaimRequest {
  laneKey: string;
  /** The claiming process; the same in all requests of a statement. */
  owner: string;
  /** Rows to claim: limited by slots and, where it is known, by the lane's unused pace. */
  limit: number;
  /** This process has the lane's unused pace in memory. */
  knowsPace: boolean;
  pace: LanePace;
}

/** What a claim may take from a lane. */
export interface Grant {
  /** At most the request's `limit`; 0 while the lane is paused, or while its pace is used up. */
  slots: number;
  /** The lane is paused, or all claims are blocked. */
  paused: boolean;
  /** Milliseconds until the pause ends; null: no pause, or its end is unknown. */
  pausedMs: number | null;
  /**
   * If this claim took the lane: its unused pace in rows, before the slots of this claim. Null: this process continues
   * with its own count.
   */
  unusedRows: number | null;
}

/** The result of a claim for one lane. */
export interface Claim<T> {
  /** Null: another process owns the lane, or another claim of it is in flight. */
  grant: Grant | null;
  /** No more than `grant.slots`; none without a grant. */
  items: T[];
}

/** The columns of `GRANT_COLUMNS` in each row of a claim. */
export interface GrantRow {
  grant_slots: number;
  grant_paused: boolean;
  grant_paused_ms: number | null;
  grant_unused_rows: number | null;
}

/** The values of $1 to $6 for `laneGrants`. No lane may occur twice. */
export function grantParams(requests: readonly ClaimRequest[]): unknown[] {
  return [
    requests.map(({ laneKey }) => laneKey),
    requests[0]?.owner,
    requests.map(({ limit }) => limit),
    requests.map(({ knowsPace }) => knowsPace),
    requests.map(({ pace }) => burstRows(pace)),
    requests.map(({ pace }) => pace.ratePerSecond),
  ];
}

/** The class of the advisory locks that allow one claim per lane at a time. */
export const ONE_CLAIM = 720_411;

/**
 * SQL: the rows of unused pace of a lane without an owner. It is stored as the time since which the pace is unused.
 * Example with 10 rows a second: `next_slot_at` 0.5 s ago means 5 unused rows. After a claim of 2 of them
 * `next_slot_at` is 0.3 s ago, so 3 are left. The burst limits the rows; a time in the future, from a clock that was
 * set back, counts as none.
 */
const UNUSED_ROWS = `a.rate * greatest(0, extract(epoch from
    a.now - greatest(l.next_slot_at, a.now - make_interval(secs => a.burst_rows / a.rate)))::float8)`;

/**
 * SQL: the first relations of a claim's `with`. $1 to $6 are `grantParams`, the claim's own parameters begin at $7.
 *
 * | The lane's owner                                       | Slots                                          | Written |
 * | ------------------------------------------------------ | ---------------------------------------------- | ------- |
 * | this process, which knows the unused pace              | `limit`                                        | no      |
 * | none                                                   | as many of `limit` as `next_slot_at` gives     | taken   |
 * | a process that no longer works                         | none yet: what it used is unknown              | taken   |
 * | this process, which does not know: a claim was lost    | none yet                                       | taken   |
 * | another process; or the lane has no row, or is locked  | no grant                                       | no      |
 * | any of the first four, but the lane is paused          | 0                                              | no      |
 *
 * A paused lane without an owner stays without one. Two keys with the same `hashtext` can only cause each other a
 * `denied`.
 *
 * Every grant needs the lane's advisory lock, which lasts as long as the claim. So if a claim outlives its process, the
 * next owner's claim does not run beside it, and the lane is not taken while it runs.
 *
 * A process that takes a lane from a dead owner, or does not know its pace, gets no slots yet. This also protects the
 * order: the last claim of the former owner may have ended after this statement's snapshot.
 *
 * Owner and lock protect the pace, and the order to one recipient (rule 2 of the claim of messages). They are not what
 * prevents sending a row twice: that is the row's own attempt and lease.
 *
 * The relation `lane_grant` has one row (key, slots, paused, paused_ms, unused_rows, low_at) for each grant. A claim
 * takes at most `slots` rows of a lane, from its low-water mark `low_at` on. It returns a row for each grant, also
 * without a claimed row. For one lane use `from lane_grant left join ...`; for many lanes use `from lane_grant full
 * join ... on false`, which returns the rows of both relations one after the other.
 *
 * On a database that is not the confirmed one, every lane counts as paused: see `Restoration`.
 *
 * @param runsWhileBlocked the work may harmlessly be done twice, so it continues while claims are blocked.
 */
export function laneGrants({ runsWhileBlocked = false } = {}): string {
  const pause = `(coalesce(l.paused_until > clock_timestamp(), false) or (select is_blocked from blocked)) as paused,
    case when l.paused_until > clock_timestamp()
      then (extract(epoch from l.paused_until - clock_timestamp()) * 1000)::float8 end as paused_ms`;
  return `
blocked as materialized (
  select ${runsWhileBlocked ? 'false' : CLAIMS_BLOCKED} as is_blocked
), lane_asked as materialized (
  -- By a subquery: where the planner sees how many lanes there are it makes a new plan for each claim, which takes longer than
  -- to run it.
  select *, clock_timestamp() as now from unnest((select $1::text[]), $3::integer[], $4::boolean[], $5::float8[], $6::float8[])
    as lanes (key, row_limit, knows_pace, burst_rows, rate)
), own as materialized (
  select l.key, a.row_limit as slots, null::float8 as unused_rows, l.low_at, ${pause}
  from lane_asked a join lane l on l.key = a.key
  where l.owner = $2::uuid and a.knows_pace
), ownerless as materialized (
  -- Lanes without a process that works and knows their pace.
  -- One row that another transaction has locked does not stop the claim of the others.
  select l.key, a.row_limit, a.rate, a.now, l.low_at, ${pause}, case when l.owner is null then ${UNUSED_ROWS} else 0 end as unused_rows
  from lane_asked a join lane l on l.key = a.key
  where l.owner is null or (l.owner = $2::uuid and not a.knows_pace) or (l.owner <> $2::uuid and not ${isOwned('l')})
  order by l.key for update of l skip locked
), lock_taken as materialized (
  select key from (select key from own union all select key from ownerless) as found
  where pg_try_advisory_xact_lock(${ONE_CLAIM}, hashtext(key))
), taken as (
  update lane l set owner = $2::uuid, next_slot_at = f.now - make_interval(secs => (f.unused_rows - f.slots) / f.rate)
  from (select *, least(row_limit, floor(unused_rows)::integer) as slots from ownerless join lock_taken using (key)) as f
  where l.key = f.key and not f.paused
  returning l.key, f.slots, f.unused_rows, f.low_at
), lane_grant as materialized (
  select key, case when paused then 0 else slots end as slots, unused_rows, low_at, paused, paused_ms
  from own join lock_taken using (key)
  union all
  select key, slots, unused_rows, low_at, false, null from taken
  union all
  select key, 0, null, low_at, true, paused_ms from ownerless join lock_taken using (key) where paused
)`;
}

/** SQL: how many rows the claim may take from its one lane; 0 without a grant. */
export const GRANTED_SLOTS = 'coalesce((select slots from lane_grant), 0)';

/** SQL: the columns about the grant in each row of a claim; read by `grantOf`. */
export const GRANT_COLUMNS = `lane_grant.slots as grant_slots, lane_grant.paused as grant_paused,
  lane_grant.paused_ms as grant_paused_ms, lane_grant.unused_rows as grant_unused_rows`;

/** The grant in a row of a claim; null without one. */
export function grantOf(row: GrantRow | undefined): Grant | null {
  if (row === undefined) return null;
  const { grant_slots: slots, grant_paused: paused, grant_paused_ms: pausedMs, grant_unused_rows: unusedRows } = row;
  return { slots, paused, pausedMs, unusedRows };
}

/** A row of a claim on one lane: `GRANT_COLUMNS` and the claimed row; `id` is null where nothing was claimed. */
export type ClaimRow<T extends { id: string }> = GrantRow & (T | { id: null });

export function claimOf<T extends { id: string }>(rows: readonly ClaimRow<T>[]): Claim<T> {
  return { grant: grantOf(rows[0]), items: rows.filter((row): row is GrantRow & T => row.id !== null) };
}
