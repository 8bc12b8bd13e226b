import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Prepared } from '../database/prepared.js';
import { isAlive } from './lane-owner.js';
import type { LanePace } from './lane-grant.js';

const MAX_KEYS = 100_000;
const MISSED_EVERY_MS = 10_000;
export const MAX_PAUSE_SECONDS = 60;

export interface ReleasedLane {
  laneKey: string;
  pace: LanePace;
  /** Unused pace, in rows. */
  unusedRows: number;
}

export interface PauseOptions {
  /** The wait that the platform asked for. Default: 0. */
  leastMs?: number;
  /** A time before the claim of the refused work (monotonic ms). Default: now. */
  claimedAt?: number;
}

/** SET list: removes the lane's low-water mark, so that all its rows are read. */
export const NO_MARK = `low_at = '-infinity'`;

/**
 * Writes the table `lane`: creates rows, releases and pauses lanes. All times are the database's. `laneGrants` takes
 * lanes.
 */
@Injectable()
export class LaneRepository {
  private readonly known = new Set<string>();
  /** Lanes without a grant, and when each was last checked (monotonic ms). */
  private readonly missedAt = new Map<string, number>();
  /** Lanes that this process paused, and when each pause was written (monotonic ms). */
  private readonly pausedAt = new Map<string, number>();

  constructor(private readonly database: Database) {}

  /** Makes sure that the lane has a row: `laneGrants` does not take lanes without one. */
  async ensure(key: string): Promise<void> {
    if (this.known.has(key)) return;
    await this.database.execute('insert into lane (key) values ($1) on conflict do nothing', [key]);
    if (this.known.size > MAX_KEYS) this.known.clear();
    this.known.add(key);
  }

  /**
   * The lane was not granted. The next `ensure` checks whether it has a row, which may be missing after a restore.
   * Usually another process owns it, and this is called several times a second.
   */
  missed(key: string): void {
    const now = performance.now();
    if (now - (this.missedAt.get(key) ?? -Infinity) < MISSED_EVERY_MS) return;
    if (this.missedAt.size > MAX_KEYS) this.missedAt.clear();
    this.missedAt.set(key, now);
    this.known.delete(key);
  }

  /**
   * Releases lanes and stores their unused pace; leaves out lanes that another process owns by now.
   *
   * @returns the keys of locked lanes, to release later: a claim of this process that was given up may still commit,
   * and take the lane.
   */
  async release(owner: string, lanes: readonly ReleasedLane[]): Promise<string[]> {
    const columns = [
      lanes.map(({ laneKey }) => laneKey),
      lanes.map(({ unusedRows }) => unusedRows),
      lanes.map(({ pace }) => pace.ratePerSecond),
    ];
    const locked = await this.database.query<{ key: string }>(RELEASE, [...columns, owner]);
    return locked.map(({ key }) => key);
  }

  /**
   * Pauses a lane. The pause grows with each one in a row: 1, 4, 16, then 60 s; pauses more than five minutes apart are
   * not in a row. Many refusals of requests that were in flight together count once: they do not prolong a running
   * pause, and work that was claimed before the last pause ended starts no new one, unless the platform asks for it.
   */
  async pause(
    key: string,
    reason: string,
    { leastMs = 0, claimedAt = performance.now() }: PauseOptions = {},
  ): Promise<void> {
    const leastSeconds = Math.min(leastMs / 1_000, MAX_PAUSE_SECONDS);
    await this.database.execute(PAUSE, [key, reason, leastSeconds, (performance.now() - claimedAt) / 1_000]);
    if (this.pausedAt.size > MAX_KEYS) this.pausedAt.clear();
    this.pausedAt.set(key, performance.now());
  }

  /**
   * If this process paused the lane: forgets its pauses, also those of other processes, once work succeeds that was
   * claimed after them. Success of work that was claimed earlier does not show that the cause is gone.
   *
   * @param claimedAt a time before the claim (monotonic ms).
   * @returns null where there is nothing to forget.
   */
  succeeded(key: string, claimedAt: number): Promise<void> | null {
    const pausedAt = this.pausedAt.get(key);
    return pausedAt === undefined || claimedAt <= pausedAt ? null : this.forgetPauses(key, claimedAt);
  }

  private async forgetPauses(key: string, claimedAt: number): Promise<void> {
    const pausedAt = this.pausedAt.get(key);
    this.pausedAt.delete(key);
    try {
      // Nothing is claimed during a pause.
      const { isLeft } = await this.database.row<{ isLeft: boolean }>(FORGET, [
        key,
        (performance.now() - claimedAt) / 1_000,
      ]);
      // Another process paused the lane after that claim: a later success forgets both pauses.
      if (isLeft && pausedAt !== undefined && !this.pausedAt.has(key)) this.pausedAt.set(key, pausedAt);
    } catch (error) {
      // A later success forgets them.
      if (pausedAt !== undefined && !this.pausedAt.has(key)) this.pausedAt.set(key, pausedAt);
      throw error;
    }
  }

  /** How many processes work on lanes now. */
  workers(): Promise<number> {
    return this.database.count(`select count(*)::integer as count from worker where ${isAlive('worker')}`);
  }

  /** Ends a pause and forgets earlier ones, because their cause is fixed. */
  async resume(key: string): Promise<void> {
    await this.database.execute(
      `update lane set pause_count = 0, pause_reason = null, paused_until = null where key = $1 and pause_count > 0`,
      [key],
    );
  }
}

const EARLIER_PAUSES = `case when l.paused_until > clock_timestamp() - interval '5 minutes' then l.pause_count else 0 end`;

/** Nothing is claimed during a pause, so work claimed before its end was claimed before its beginning. */
const CLAIMED_BEFORE_LAST = `coalesce(l.paused_until > clock_timestamp() - make_interval(secs => $4), false)`;

// $1 lane, $2 reason, $3 least seconds, $4 seconds since the claim.
const PAUSE = `
insert into lane as l (key, pause_count, pause_reason, paused_until)
values ($1, 1, $2, clock_timestamp() + make_interval(secs => greatest(1, $3::double precision)))
on conflict (key) do update
set pause_count = case when ${CLAIMED_BEFORE_LAST} then l.pause_count else least(${EARLIER_PAUSES} + 1, 10) end,
  pause_reason = excluded.pause_reason,
  paused_until = clock_timestamp() + make_interval(secs => case when ${CLAIMED_BEFORE_LAST} then $3
    else greatest(least(${MAX_PAUSE_SECONDS}, power(4, least(${EARLIER_PAUSES}, 4))), $3) end)
where (l.paused_until is null or l.paused_until <= clock_timestamp()) and ($3 > 0 or not ${CLAIMED_BEFORE_LAST})`;

// $1 lane, $2 seconds since the claim.
const FORGET = `
with forgotten as (
  update lane set pause_count = 0, pause_reason = null, paused_until = null
  where key = $1 and pause_count > 0
    and (paused_until is null or paused_until <= clock_timestamp() - make_interval(secs => $2))
  returning 1
)
select not exists (select from forgotten) and exists (select from lane where key = $1 and pause_count > 0) as "isLeft"`;

const RELEASE: Prepared = {
  name: 'lane_release',
  // Uses the owner in the locked row: the statement's snapshot lacks claims that were committed meanwhile.
  text: `
with lane_asked as materialized (
  select * from unnest($1::text[], $2::float8[], $3::float8[]) as asked (key, unused_rows, rate)
), lane_locked as materialized (
  select l.key, l.owner, r.unused_rows, r.rate from lane_asked r join lane l on l.key = r.key
  order by l.key for update of l skip locked
), released as (
  update lane l set owner = null, next_slot_at = clock_timestamp() - make_interval(secs => r.unused_rows / r.rate)
  from lane_locked r where l.key = r.key and r.owner = $4
)
select l.key from lane_asked r join lane l on l.key = r.key where l.key not in (select key from lane_locked)`,
};
