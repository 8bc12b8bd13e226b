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

/** The table `lane`: who drains, its pace and its pauses, all by the database's clock. */
@Injectable()
export class LaneRepository {
  private readonly known = new Set<string>();

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
    if (row === undefined) return null;
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
    await this.ensure(key);
    await this.database.execute(
      `with earlier as (
         select key, case when paused_until > clock_timestamp() - interval '5 minutes' then pause_count else 0 end as count
         from lane where key = $1 and (paused_until is null or paused_until <= clock_timestamp()) for update
       )
       update lane set pause_count = least(earlier.count + 1, 10), pause_reason = $2,
         paused_until = clock_timestamp() + make_interval(secs =>
           greatest(least(60, power(4, least(earlier.count, 4))), $3::double precision))
       from earlier where lane.key = earlier.key`,
      [key, reason, Math.min(leastMs, 60_000) / 1_000],
    );
  }

  /** Forgets earlier pauses once the platform takes messages again, or when the number was repaired. */
  async resume(key: string): Promise<void> {
    await this.database.execute(
      `update lane set pause_count = 0, pause_reason = null, paused_until = null where key = $1 and pause_count > 0`,
      [key],
    );
  }

  private async ensure(key: string): Promise<void> {
    if (this.known.has(key)) return;
    await this.database.execute('insert into lane (key) values ($1) on conflict do nothing', [key]);
    if (this.known.size > 100_000) this.known.clear();
    this.known.add(key);
  }
}

const HOLD: Prepared = {
  name: 'lane_hold',
  text: `
with held as (
  select key, clock_timestamp() as now,
    greatest(next_slot_at - make_interval(secs => $5), clock_timestamp() - make_interval(secs => $6)) as base,
    coalesce(paused_until > clock_timestamp(), false) as paused
  from lane
  where key = $1 and (owner = $2 or owner is null or owner_until < clock_timestamp())
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

const RELEASE: Prepared = {
  name: 'lane_release',
  text: `update lane set owner = null, owner_until = null, next_slot_at = next_slot_at - make_interval(secs => $3)
    where key = $1 and owner = $2`,
};
