import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { isHeld } from '../../platform/lanes/lane-hold.js';
import type { LaneStatus } from './messages.types.js';

/** What waits in every workspace's lanes; for those who run the service, never for callers of the API. */
@Injectable()
export class QueueStatusRepository {
  constructor(private readonly database: Database) {}

  /** Reads the index of what is queued, all of it: a second for a million rows. */
  async lanes(): Promise<LaneStatus[]> {
    return this.database.query<LaneStatus>(LANES);
  }

  /** Messages that wait and that are under way, each counted up to 100,000. */
  async depth(): Promise<{ queued: number; processing: number }> {
    const count = (status: string) =>
      `(select count(*)::integer from (select 1 from message where status = '${status}' limit ${DEPTH_LIMIT}) as counted)`;
    const rows = await this.database.query<{ queued: number; processing: number }>(
      `select ${count('queued')} as queued, ${count('processing')} as processing`,
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

// Number by number, the oldest queued row of each.
const OLDEST_DUE = `
select greatest(max(extract(epoch from clock_timestamp() - head.next_attempt_at)), 0)::float8 as seconds
from (select id from connection where status in ('connected', 'restricted')) as c
cross join lateral (
  select next_attempt_at from message where connection_id = c.id and status = 'queued'
  order by next_attempt_at limit 1) as head`;

const UNKNOWN = `
select coalesce(sum(counted.messages), 0)::integer as unknown
from connection as c
cross join lateral (
  select count(*) as messages from (
    select 1 from message where organization_id = c.organization_id and connection_id = c.id
      and status = 'outcome_unknown' limit 1000) as found) as counted`;

const LANES = `
with queued as (
  select connection_id, count(*)::integer as queued,
    count(*) filter (where next_attempt_at <= clock_timestamp())::integer as due,
    min(next_attempt_at) filter (where next_attempt_at <= clock_timestamp()) as oldest
  from message where status = 'queued' group by connection_id
), sending as (
  select connection_id, count(*)::integer as in_flight from message where status = 'processing' group by connection_id
)
select c.id as "connectionId", c.organization_id as "organizationId", c.phone_number as "phoneNumber", c.status,
  coalesce(queued.queued, 0) as queued, coalesce(queued.due, 0) as due, coalesce(sending.in_flight, 0) as "inFlight",
  queued.oldest as "oldestDueAt",
  round(extract(epoch from clock_timestamp() - queued.oldest) * 1000)::double precision as "oldestDueMs",
  case when lane.paused_until > clock_timestamp() then lane.paused_until end as "pausedUntil",
  case when lane.paused_until > clock_timestamp() then lane.pause_reason end as "pauseReason",
  ${isHeld('lane')} as "isDrained"
from queued full join sending using (connection_id)
join connection c on c.id = coalesce(queued.connection_id, sending.connection_id)
left join lane on lane.key = c.id::text
order by due desc, queued desc, c.id`;
