import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Prepared } from '../database/prepared.js';

export interface HoldRequest {
  key: string;
  /** The process that drains. */
  owner: string;
  /** Pace slots wanted now. */
  want: number;
  ratePerSecond: number;
  /** Seconds of unused pace that may be caught up. */
  burstSeconds: number;
  /** Slots of the previous hold that were not used. */
  giveBack: number;
}

export interface Hold {
  /** Slots that may be used now; 0 while paused or when the pace is used up. */
  slots: number;
  paused: boolean;
  /** Milliseconds until the next slot; meaningful with `slots` 0 and not paused. */
  waitMs: number;
}

// Longer than a drain goes without renewing (its quantum is a second), short enough to take over soon after a crash.
const OWNER_MS = 5_000;
const MAX_KEYS = 100_000;
const MAX_PAUSE_SECONDS = 60;

/**
 * SQL: the row of `lane` under this alias is held by a drain. The database's clock steps back where a standby with a
 * slower one takes over: a hold beyond what can have been taken by this clock is over.
 */
export function isHeld(lane: string): string {
  return `coalesce(${lane}.owner_until > clock_timestamp()
    and ${lane}.owner_until <= clock_timestamp() + interval '${OWNER_MS} milliseconds', false)`;
}

/** SET list: the lane has no low-water mark, and all of it is looked at. */
export const NO_MARK = `low_at = '-infinity', low_seq = 0, seen_seq = 0, seen_at = 'infinity'`;

/** The table `lane`: who drains, its pace and its pauses, all by the database's clock. */
@Injectable()
export class LaneRepository {
  private readonly known = new Set<string>();
  /** Lanes that this process paused, and when (monotonic ms) that was written. */
  private readonly pausedAt = new Map<string, number>();

  constructor(private readonly database: Database) {}

  /**
   * Takes the lane or renews the hold on it, and reserves pace slots; null where another process holds it.
   *
   * Slots are reserved before use: a crash wastes some, and never exceeds the pace.
   */
  async hold(request: HoldRequest): Promise<Hold | null> {
    await this.ensure(request.key);
    const rows = await this.database.query<{ slots: number; paused: boolean; available: number }>(HOLD, [
      request.key,
      request.owner,
      OWNER_MS / 1_000,
      request.want,
      request.giveBack / request.ratePerSecond,
      request.burstSeconds,
      request.ratePerSecond,
    ]);
    const row = rows[0];
    if (row === undefined) {
      // Held by another process, or the row has gone, as after a restore: the next try makes sure of it.
      this.known.delete(request.key);
      return null;
    }
    const waitMs = Math.max(1, ((1 - row.available) / request.ratePerSecond) * 1_000);
    return { slots: row.slots, paused: row.paused, waitMs };
  }

  /** Lets go of the lane, giving unused slots back; nothing happens where another process holds it by now. */
  async release(key: string, owner: string, giveBackSeconds: number): Promise<void> {
    await this.database.execute(RELEASE, [key, owner, giveBackSeconds]);
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
   */
  async succeeded(key: string, claimedAt: number): Promise<void> {
    const pausedAt = this.pausedAt.get(key);
    if (pausedAt === undefined || claimedAt <= pausedAt) return;
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

  private async ensure(key: string): Promise<void> {
    if (this.known.has(key)) return;
    await this.database.execute('insert into lane (key) values ($1) on conflict do nothing', [key]);
    if (this.known.size > MAX_KEYS) this.known.clear();
    this.known.add(key);
  }
}

const HOLD: Prepared = {
  name: 'lane_hold',
  text: `
with held as (
  select key, clock_timestamp() as now,
    -- A slot is reserved once it is due, so one that is not is of a clock that has stepped back.
    least(clock_timestamp(), greatest(
      next_slot_at - make_interval(secs => $5), clock_timestamp() - make_interval(secs => $6))) as base,
    coalesce(paused_until > clock_timestamp(), false) as paused
  from lane
  where key = $1 and (owner = $2 or owner is null or not ${isHeld('lane')})
  for update
), measured as (
  select *, extract(epoch from now - base)::double precision * $7 as available from held
), granted as (
  select *, case when paused then 0 else greatest(0, least($4::integer, floor(available)::integer)) end as slots
  from measured
)
update lane set owner = $2, owner_until = granted.now + make_interval(secs => $3),
  next_slot_at = granted.base + make_interval(secs => granted.slots::double precision / $7)
from granted
where lane.key = granted.key
returning granted.slots, granted.paused, granted.available`,
};

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
  text: `update lane set owner = null, owner_until = null, next_slot_at = next_slot_at - make_interval(secs => $3)
    where key = $1 and owner = $2`,
};
