import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import { firstAttemptOf, queueAgain } from '../deliveries.repository.js';
import { TAKES_EVENTS } from '../dispatch/dispatch.repository.js';
import { DELIVERY_STATUSES, WEBHOOK_LANE, type EventType } from '../webhook.types.js';
import type { ReplayData } from './replays.dto.js';

/** Limit of the events of one replay. */
export const MAX_REPLAYED = 100_000;
/** Limit of attempts examined to find events: an event has ten, or more if it was replayed before. */
const MAX_ATTEMPTS = 1_000_000;

/** Limit of replays that one statement serves. */
const REPLAYS_AT_ONCE = 100;
/**
 * A replay queues no more events while its endpoint has this many due events, which may be new ones. That is two for
 * each delivery in flight.
 */
const MAX_AHEAD = 20;

/** SQL: tries to lock the endpoint `e`, so that only one process at a time collects its events for a replay. */
export const REPLAY_LOCK = `pg_try_advisory_xact_lock(hashtextextended('webhook_replay ' || e.id, 0))`;

/** SQL condition: an attempt to deliver the event succeeded. */
const wasDelivered = (eventId: string): string => `exists (select from webhook_delivery d where d.event_id = ${eventId}
      and d.status = 'succeeded' and d.id >= ${firstAttemptOf(eventId)})`;

/** Replays. Each is a row with counts, and a list of the events that are not queued yet. */
@Injectable()
export class ReplaysRepository {
  constructor(private readonly database: Database) {}

  /**
   * Collects the events and creates the replay. An endpoint has at most one replay at a time.
   *
   * @returns null: the workspace has no endpoint; otherwise the id, or why there is none: too many events, or a replay
   * is running.
   */
  start(
    organizationId: string,
    id: string,
    choice: { since: Date; until: Date; types: readonly EventType[]; onlyFailed: boolean },
  ): Promise<{ id: string | null; tooMany: boolean } | null> {
    const { since, until, types, onlyFailed } = choice;
    return this.database.byIndex(async () => {
      // For partitions without statistics the planner expects a handful of attempts, and would read and sort all of
      // them.
      await this.database.execute('set local enable_sort = off');
      return this.database.find(START, [
        organizationId,
        id,
        types,
        onlyFailed ? ['failed'] : DELIVERY_STATUSES,
        since,
        until,
        onlyFailed,
        MAX_REPLAYED,
        MAX_ATTEMPTS,
      ]);
    });
  }

  /** Finds a replay; null where the workspace's endpoint has no such replay. */
  find(organizationId: string, id: string): Promise<ReplayData | null> {
    return this.database.find(FIND, [organizationId, id]);
  }

  /**
   * Queues the next events of all replays, as many as their endpoints have room for. A paused or disabled endpoint gets
   * none.
   *
   * @returns the endpoints that got events, with the number of events of each.
   */
  feed(): Promise<{ endpointId: string; events: number }[]> {
    return this.database.byIndex(() => this.database.query(FEED, [REPLAYS_AT_ONCE, MAX_AHEAD]));
  }

  /**
   * Deletes replays that ended more than `endedDays` days ago, and replays that have waited more than `heldDays` days
   * for a paused or disabled endpoint.
   */
  purge(endedDays: number, heldDays: number): Promise<number> {
    return this.database.execute(PURGE, [endedDays, heldDays]);
  }
}

// $1 workspace, $2 id, $3 kinds, $4 outcomes, $5 since, $6 until, $7 only failed, $8 most events, $9 most attempts.
// - The log of attempts has an index by endpoint, kind, outcome and time. Ordering by it prevents a bitmap scan, which
//   would read everything before the limit. Events have no such index, because they are written with every message.
// - The lock is not waited for: concurrent requests must not each hold a connection.
// - "each" is recursive in form only. This way PostgreSQL returns an event when it first meets it, where "distinct"
//   would read all attempts first. One event too many ends the search, and then none is looked up.
// - "offset" makes PostgreSQL look each event up by its id. Without statistics of a workspace the planner expects one
//   event, and would scan all of them for each attempt.
const START = `
with recursive endpoint as materialized (
  select id, not ${REPLAY_LOCK}
    or exists (select from webhook_replay r where r.endpoint_id = e.id and r.finished_at is null) as busy
  from webhook_endpoint e where organization_id = $1 and deleted_at is null
), attempt as materialized (
  select d.event_id from endpoint cross join unnest($3::text[]) as kind (type)
  cross join unnest($4::text[]) as outcome (status) cross join lateral (
    select event_id from webhook_delivery d
    where d.organization_id = $1 and d.endpoint_id = endpoint.id and d.event_type = kind.type
      and d.status = outcome.status and d.created_at >= $5 and d.created_at < $6
    order by d.created_at limit $9::integer + 1) as d
  where not endpoint.busy limit $9::integer + 1
), each as (
  select event_id from attempt union select event_id from each where false
), chosen as materialized (
  select event_id from each limit $8::integer + 1
), size as materialized (
  select case when (select count(*) from chosen) > $8 then true else (select count(*) from attempt) > $9 end as too_many
), found as materialized (
  select v.id from (select event_id from chosen where not (select too_many from size)) as chosen
  cross join lateral (
    select id, organization_id, endpoint_id from webhook_event where id = chosen.event_id offset 0) as v
  where v.organization_id = $1 and v.endpoint_id in (select id from endpoint)
    and not ($7::boolean and ${wasDelivered('v.id')})
), counted as materialized (
  select (select count(*)::integer from found) as events, too_many from size
), made as (
  insert into webhook_replay (id, organization_id, endpoint_id, only_failed, total, finished_at)
  select $2, $1, endpoint.id, $7, counted.events,
    case when counted.events = 0 then date_trunc('milliseconds', clock_timestamp()) end
  from endpoint, counted where not endpoint.busy and not counted.too_many
  on conflict (endpoint_id) where finished_at is null do nothing
  returning id
), listed as (
  insert into webhook_replay_event (replay_id, organization_id, event_id)
  select made.id, $1, found.id from made, found
)
select (select id from made) as id, counted.too_many as "tooMany" from endpoint, counted`;

const FIND = `
select r.id, r.total, r.done, r.created_at, r.finished_at, case when r.finished_at is not null then 'done'
  when e.active and e.disabled_reason is null then 'running' else 'paused' end as status
from webhook_replay r join webhook_endpoint e on e.id = r.endpoint_id and e.deleted_at is null
where r.organization_id = $1 and r.id = $2`;

// $1 limit of replays with room (those without must not hide the ones behind them); $2 limit of due events. In the
// order of the ids, which begin with their time. Events that were deleted or delivered meanwhile, or are being
// delivered now, are only counted.
const FEED = `
with room as materialized (
  select r.id, r.organization_id, r.endpoint_id, r.only_failed, $2::bigint - due.events as places
  from webhook_replay r join webhook_endpoint e on e.id = r.endpoint_id and ${TAKES_EVENTS}
  left join lane l on l.key = '${WEBHOOK_LANE}' || e.id
  cross join lateral (
    select count(*) as events from (select from webhook_queue q where q.endpoint_id = r.endpoint_id
      and q.due_at >= coalesce(l.low_at, '-infinity') and q.due_at <= statement_timestamp()
      order by q.endpoint_id, q.due_at limit $2) as first_ones) as due
  where r.finished_at is null and due.events < $2 order by r.id limit $1 for update of r skip locked
), next as materialized (
  select room.id as replay_id, room.organization_id, room.endpoint_id, room.only_failed, listed.event_id
  from room cross join lateral (
    select event_id from webhook_replay_event x where x.replay_id = room.id order by event_id limit room.places) as listed
), taken as (
  delete from webhook_replay_event x using next where x.replay_id = next.replay_id and x.event_id = next.event_id
), queued as (
  ${queueAgain(`(
    select v.* from next cross join lateral (select * from webhook_event where id = next.event_id offset 0) as v
    where v.organization_id = next.organization_id and v.endpoint_id = next.endpoint_id
      and not (next.only_failed and ${wasDelivered('v.id')}))`)}
), fed as (
  select replay_id, endpoint_id, count(*)::integer as events from next group by 1, 2
), counted as (
  update webhook_replay r set done = r.done + fed.events,
    finished_at = case when r.done + fed.events >= r.total then date_trunc('milliseconds', clock_timestamp()) end
  from fed where r.id = fed.replay_id
)
select endpoint_id as "endpointId", events from fed`;

const PURGE = `
delete from webhook_replay r using webhook_endpoint e
where e.id = r.endpoint_id and (r.finished_at < clock_timestamp() - make_interval(days => $1)
  or greatest(e.inactive_since, r.created_at) < clock_timestamp() - make_interval(days => $2)
    and e.inactive_since is not null)`;
