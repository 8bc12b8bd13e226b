import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { beginningAt, type ListCursor, type Period } from '../../infrastructure/http/page.query.js';
import { Database } from '../../infrastructure/database/database.js';
import type { TraceContext } from '../../infrastructure/operations/tracing.js';
import { isIdle } from './dispatch/dispatch.repository.js';
import type { DeliveryResponse, QueuedEventData } from './dto/webhook.dto.js';
import {
  DELIVERY_STATUSES,
  EVENT_TYPES,
  type DeliveryStatus,
  eventSubject,
  type EventType,
  MAX_MESSAGE_EVENTS,
  type MessageEventDelivery,
} from './webhook.types.js';

/** A queued event, as the API shows it. */
export interface QueuedEvent extends QueuedEventData {
  endpoint_id: string;
}

/** An attempt with its event, which is null where the event is no longer stored. */
export interface DeliveryOfEvent extends DeliveryResponse {
  identity: string;
  event: { data: Record<string, unknown>; transaction: string } | null;
  occurredAt: Date | null;
}

/** Limit of the deliveries of one event that are shown. */
const MAX_DELIVERIES = 50;

/** The log of deliveries, and test events and replays of single events. */
@Injectable()
export class DeliveriesRepository {
  constructor(private readonly database: Database) {}

  /** Attempts of one endpoint, newest first: up to `limit` (1 to 101), from the cursor on. */
  list(
    organizationId: string,
    endpointId: string,
    filter: Partial<ListCursor & Period> & {
      limit: number;
      status?: DeliveryStatus | undefined;
      eventType?: EventType | undefined;
      eventId?: string | undefined;
    },
  ): Promise<DeliveryResponse[]> {
    const { limit, since = null, until = null, status, eventType, eventId } = filter;
    const { before, beforeId } = beginningAt({
      before: filter.before ?? null,
      beforeId: filter.beforeId ?? null,
      until,
    });
    const types = eventType === undefined ? EVENT_TYPES : [eventType];
    const statuses = status === undefined ? DELIVERY_STATUSES : [status];
    const params: unknown[] = [organizationId, endpointId, types, statuses, before, beforeId, limit, since];
    if (eventId === undefined) return this.database.query<DeliveryResponse>(LIST, params);
    return this.database.query<DeliveryResponse>(LIST_OF_EVENT, [...params, eventId]);
  }

  /** An attempt with its event; null where the workspace's endpoint has no such attempt. */
  find(organizationId: string, id: string): Promise<DeliveryOfEvent | null> {
    return this.database.find<DeliveryOfEvent>(FIND, [organizationId, id]);
  }

  /**
   * The latest `MAX_MESSAGE_EVENTS` stored events of a message, and one more if there are more, in the order of their
   * times, each with its first 50 deliveries.
   */
  ofMessage(organizationId: string, messageId: string): Promise<MessageEventDelivery[]> {
    return this.database.query<MessageEventDelivery>(OF_MESSAGE, [organizationId, messageId]);
  }

  /** Writes a test event; null where the workspace has no endpoint. */
  insertTest(
    organizationId: string,
    type: EventType,
    data: Record<string, unknown>,
    traceContext?: TraceContext,
  ): Promise<QueuedEvent | null> {
    const params = [organizationId, type, JSON.stringify(data), traceContext ?? null];
    return this.database.find<QueuedEvent>(INSERT_TEST, params);
  }

  /**
   * Queues the event of a delivery again, with a full set of attempts, unless the event is being delivered now.
   * Returns null where the workspace's endpoint has no such delivery, or the event is no longer stored.
   */
  async replay(organizationId: string, deliveryId: string): Promise<QueuedEvent | null> {
    const params = [organizationId, deliveryId];
    const again = await this.database.find<QueuedEvent>(REPLAY, params);
    return again ?? this.database.find<QueuedEvent>(EVENT_OF_DELIVERY, params);
  }
}

/** SQL: a lower bound for ids of the event's attempts, since ids begin with their times. */
export const firstAttemptOf = (eventId: string): string =>
  `(left(${eventId}::text, 13) || '-7000-8000-000000000000')::uuid`;

/**
 * SQL: an insert that queues events of the relation `v` again, with a full set of attempts, including events that still
 * wait. Leaves out events that are being delivered now. Attempt numbers continue.
 */
export const queueAgain = (
  events: string,
): string => `insert into webhook_queue as q (event_id, organization_id, endpoint_id, attempt_count)
  select v.id, v.organization_id, v.endpoint_id, coalesce((
    select max(attempt) from webhook_delivery d where d.event_id = v.id and d.id >= ${firstAttemptOf('v.id')}), 0)
  from ${events} v
  on conflict (event_id) do update set tries = 0, due_at = least(q.due_at, clock_timestamp()) where ${isIdle('q')}`;

// The events are materialized first: read in the order of ids, the events of all workspaces would be read.
const OF_MESSAGE = `
with about as materialized (
  select v.id from webhook_event v where v.organization_id = $1 and ${eventSubject('v')} = $2
), found as materialized (
  select * from webhook_event_view where id = any(array(select id from about order by id desc limit ${MAX_MESSAGE_EVENTS + 1}))
)
select found.type, found.data ->> 'status' as status, found.data ->> 'previous_status' as "previousStatus",
  (found.data ->> 'attempt')::integer as attempt, found.occurred_at as "occurredAt", found.status as state, (
    select coalesce(array_agg(d.id order by d.created_at, d.id), '{}') from (
      select id, created_at from webhook_delivery
      where organization_id = $1 and event_id = found.id and id >= ${firstAttemptOf('found.id')}
      limit ${MAX_DELIVERIES}) as d) as "deliveryIds"
from found order by found.occurred_at, found.id`;

const COLUMNS =
  'd.id, d.event_id, d.event_type, d.attempt, d.status, d.http_status, d.error, d.duration_ms, d.created_at, d.next_attempt_at';

const FIND = `
select ${COLUMNS}, identity_of_database() as identity,
  case when v.id is not null then jsonb_build_object('data', v.data, 'transaction', v.transaction_id::text) end as event,
  v.occurred_at as "occurredAt"
from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id and e.deleted_at is null
left join webhook_event v on v.id = d.event_id and v.organization_id = d.organization_id
where d.organization_id = $1 and d.id = $2`;

const IN_PERIOD = `created_at >= coalesce($8::timestamptz, '-infinity')`;

// For each kind and state, one range of the index is read, and these are merged. So a page costs the same with any
// filter.
const LIST = `
select d.* from unnest($3::text[]) as kind (type) cross join unnest($4::text[]) as state (status) cross join lateral (
  select ${COLUMNS}
  from webhook_delivery d
  where organization_id = $1 and endpoint_id = $2 and event_type = kind.type and status = state.status
    and (created_at, id) < (coalesce($5::timestamptz, 'infinity'),
      coalesce($6::uuid, '${FIRST_ID}')) and ${IN_PERIOD}
  order by created_at desc, id desc limit $7) d
order by d.created_at desc, d.id desc limit $7`;

// An event has few attempts, and they have an index by event.
const LIST_OF_EVENT = `
select ${COLUMNS} from webhook_delivery d
where organization_id = $1 and endpoint_id = $2 and event_type = any($3) and status = any($4)
  and event_id = $9 and id >= ${firstAttemptOf('$9')} and ${IN_PERIOD}
  and (created_at, id) < (coalesce($5::timestamptz, 'infinity'), coalesce($6::uuid, '${FIRST_ID}'))
order by created_at desc, id desc limit $7`;

/** SQL: the columns of the event `v` and its endpoint `e`. */
const QUEUED = `v.id as event_id, v.type as event_type, v.endpoint_id, v.occurred_at as created_at,
  case when e.active and e.disabled_reason is null then 'queued' else 'held' end as status`;

const INSERT_TEST = `
with e as (
  select * from webhook_endpoint where organization_id = $1 and deleted_at is null
), v as (
  insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at, trace_context)
  select e.organization_id, e.id, $2, $3, date_trunc('milliseconds', clock_timestamp()), decode($4, 'hex') from e
  returning id, organization_id, type, endpoint_id, occurred_at
), queued as (
  insert into webhook_queue (event_id, organization_id, endpoint_id) select id, organization_id, endpoint_id from v
)
select ${QUEUED} from v, e`;

const EVENT_OF_DELIVERY = `
select ${QUEUED}
from webhook_delivery d
join webhook_endpoint e on e.id = d.endpoint_id and e.deleted_at is null
join webhook_event v on v.id = d.event_id and v.organization_id = d.organization_id
where d.organization_id = $1 and d.id = $2`;

const REPLAY = `
with v as materialized (
  select v.*, e.active, e.disabled_reason from webhook_delivery d
  join webhook_endpoint e on e.id = d.endpoint_id and e.deleted_at is null
  join webhook_event v on v.id = d.event_id and v.organization_id = $1 and v.endpoint_id = e.id
  where d.organization_id = $1 and d.id = $2
), queued as (
  ${queueAgain('v')} returning event_id
)
select ${QUEUED} from v join queued on queued.event_id = v.id cross join lateral (select v.active, v.disabled_reason) as e`;
