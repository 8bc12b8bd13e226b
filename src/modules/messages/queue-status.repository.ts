import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import type { LaneStatus } from './messages.types.js';

/** What waits in every workspace's lanes; for those who run the service, never for callers of the API. */
@Injectable()
export class QueueStatusRepository {
  constructor(private readonly database: Database) {}

  /** Reads the index of what is queued, all of it: a second for a million rows. */
  async lanes(): Promise<LaneStatus[]> {
    return this.database.query<LaneStatus>(LANES);
  }
}

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
  coalesce(lane.owner_until > clock_timestamp(), false) as "isDrained"
from queued full join sending using (connection_id)
join connection c on c.id = coalesce(queued.connection_id, sending.connection_id)
left join lane on lane.key = c.id::text
order by due desc, queued desc, c.id`;
