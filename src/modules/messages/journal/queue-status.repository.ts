import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { isHeld } from '../../../infrastructure/lanes/lane-hold.js';
import type { LaneStatus } from '../messages.types.js';

/** What waits in every workspace's lanes; for those who run the service, never for callers of the API. */
@Injectable()
export class QueueStatusRepository {
  constructor(private readonly database: Database) {}

  /** Reads all of `message_queue`: a second for a million rows. */
  async lanes(): Promise<LaneStatus[]> {
    return this.database.query<LaneStatus>(LANES);
  }

  /** Messages that wait and that are under way, each counted up to 100,000. */
  async depth(): Promise<{ queued: number; processing: number }> {
    const count = (condition: string) =>
      `(select count(*)::integer from (select 1 from message_queue where ${condition} limit ${DEPTH_LIMIT}) as counted)`;
    const rows = await this.database.query<{ queued: number; processing: number }>(
      `select ${count('attempt_id is null')} as queued, ${count('lease_until is not null')} as processing`,
    );
    return rows[0] ?? { queued: 0, processing: 0 };
  }

  /** Messages whose outcome nobody knows, number by number, each counted up to 1,000. */
  async unknown(): Promise<number> {
    const rows = await this.database.query<{ unknown: number }>(UNKNOWN);
    return rows[0]?.unknown ?? 0;
  }

  /** Since when the oldest message is due whose number can send; seconds, 0 where none is. Never scans a backlog. */
  async oldestDueSeconds(): Promise<number> {
    const rows = await this.database.query<{ seconds: number | null }>(OLDEST_DUE);
    return rows[0]?.seconds ?? 0;
  }
}

const DEPTH_LIMIT = 100_000;

// Number by number: the oldest of those that are due since they were accepted, from the lane's low-water mark on, and of
// those that were put off.
const OLDEST_DUE = `
select greatest(max(extract(epoch from clock_timestamp() - least(fresh.due_at, later.due_at))), 0)::float8 as seconds
from (select id from connection where status in ('connected', 'restricted')) as c
left join lane on lane.key = c.id::text
left join lateral (
  select queued_at as due_at from message_queue
  where connection_id = c.id and created_at >= coalesce(lane.low_at, '-infinity') and attempt_id is null
    and next_attempt_at is null
  order by connection_id, created_at limit 1) as fresh on true
left join lateral (
  select next_attempt_at as due_at from message_queue where connection_id = c.id and next_attempt_at is not null
  order by next_attempt_at limit 1) as later on true`;

const UNKNOWN = `
select coalesce(sum(counted.messages), 0)::integer as unknown
from connection as c
cross join lateral (
  select count(*) as messages from (
    select 1 from message_state where organization_id = c.organization_id and connection_id = c.id
      and status = 'outcome_unknown' limit 1000) as found) as counted`;

const LANES = `
with waiting as (
  select connection_id, count(*) filter (where attempt_id is null)::integer as queued,
    count(*) filter (where due_at <= clock_timestamp())::integer as due,
    min(due_at) filter (where due_at <= clock_timestamp()) as oldest,
    count(*) filter (where attempt_id is not null)::integer as in_flight
  from (
    select connection_id, attempt_id, case when attempt_id is null then coalesce(next_attempt_at, queued_at) end as due_at
    from message_queue) as q
  group by connection_id
)
select c.id as "connectionId", c.organization_id as "organizationId", c.phone_number as "phoneNumber", c.status,
  waiting.queued, waiting.due, waiting.in_flight as "inFlight", waiting.oldest as "oldestDueAt",
  round(extract(epoch from clock_timestamp() - waiting.oldest) * 1000)::double precision as "oldestDueMs",
  case when lane.paused_until > clock_timestamp() then lane.paused_until end as "pausedUntil",
  case when lane.paused_until > clock_timestamp() then lane.pause_reason end as "pauseReason",
  ${isHeld('lane')} as "isDrained"
from waiting
join connection c on c.id = waiting.connection_id
left join lane on lane.key = c.id::text
order by due desc, queued desc, c.id`;
