import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { EVENT_TYPES, TEST_EVENT, type EventType } from './webhook.types.js';

export const DELIVERY_STATUSES = ['succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** One attempt to deliver an event. */
export interface Delivery {
  id: string;
  eventId: string;
  eventType: EventType;
  /** 1 for the first attempt of the event. */
  attempt: number;
  status: DeliveryStatus;
  httpStatus: number | null;
  /** A short stable word; null with `succeeded`. */
  error: string | null;
  durationMs: number | null;
  createdAt: Date;
  nextAttemptAt: Date | null;
}

export interface DeliveryFilter {
  /** 1 to 100. */
  limit: number;
  before: Date | null;
  beforeId: string | null;
  status: DeliveryStatus | null;
  eventType: EventType | null;
}

/** An event that stands in line. */
export interface QueuedEvent {
  id: string;
  type: EventType;
  endpointId: string;
  /** The endpoint is paused or disabled: the event waits. */
  held: boolean;
  occurredAt: Date;
}

interface DeliveryRow {
  id: string;
  event_id: string;
  event_type: EventType;
  attempt: number;
  status: DeliveryStatus;
  http_status: number | null;
  error: string | null;
  duration_ms: number | null;
  created_at: Date;
  next_attempt_at: Date | null;
}

interface QueuedRow {
  id: string;
  type: EventType;
  endpoint_id: string;
  held: boolean;
  occurred_at: Date;
}

/** The log of deliveries, and single events that a caller asked for. */
@Injectable()
export class DeliveriesRepository {
  constructor(private readonly database: Database) {}

  /** Attempts of one endpoint, newest first; up to `limit` from the cursor on. */
  async list(organizationId: string, endpointId: string, filter: DeliveryFilter): Promise<Delivery[]> {
    const rows = await this.database.query<DeliveryRow>(LIST, [
      organizationId,
      endpointId,
      filter.eventType === null ? EVENT_TYPES : [filter.eventType],
      filter.status === null ? DELIVERY_STATUSES : [filter.status],
      filter.before,
      filter.beforeId,
      filter.limit,
    ]);
    return rows.map((row) => ({
      id: row.id,
      eventId: row.event_id,
      eventType: row.event_type,
      attempt: row.attempt,
      status: row.status,
      httpStatus: row.http_status,
      error: row.error,
      durationMs: row.duration_ms,
      createdAt: row.created_at,
      nextAttemptAt: row.next_attempt_at,
    }));
  }

  /** Writes a test event; null where the workspace has no endpoint. */
  async insertTest(organizationId: string, data: Record<string, unknown>): Promise<QueuedEvent | null> {
    const rows = await this.database.query<QueuedRow>(INSERT_TEST, [organizationId, TEST_EVENT, JSON.stringify(data)]);
    return queuedOf(rows[0]);
  }

  /**
   * Puts the event of a delivery in line again, with all its attempts; one that is being delivered just now is left
   * alone. Returns null where the workspace's endpoint has no such delivery, or the event is no longer kept.
   */
  async replay(organizationId: string, deliveryId: string): Promise<QueuedEvent | null> {
    const again = await this.database.query<QueuedRow>(REPLAY, [organizationId, deliveryId]);
    if (again[0] !== undefined) return queuedOf(again[0]);
    const underWay = await this.database.query<QueuedRow>(EVENT_OF_DELIVERY, [organizationId, deliveryId]);
    return queuedOf(underWay[0]);
  }
}

function queuedOf(row: QueuedRow | undefined): QueuedEvent | null {
  if (row === undefined) return null;
  return {
    id: row.id,
    type: row.type,
    endpointId: row.endpoint_id,
    held: row.held,
    occurredAt: row.occurred_at,
  };
}

// One walk of the index for each kind and state, merged: a page costs the same whatever is filtered.
const LIST = `
select d.* from unnest($3::text[]) as kind (type) cross join unnest($4::text[]) as state (status) cross join lateral (
  select id, event_id, event_type, attempt, status, http_status, error, duration_ms, created_at, next_attempt_at
  from webhook_delivery
  where organization_id = $1 and endpoint_id = $2 and event_type = kind.type and status = state.status
    and (created_at, id) < (coalesce($5::timestamptz, 'infinity'),
      coalesce($6::uuid, '00000000-0000-0000-0000-000000000000'))
  order by created_at desc, id desc limit $7) d
order by d.created_at desc, d.id desc limit $7`;

const HELD = `not e.active or e.disabled_reason is not null`;

const INSERT_TEST = `
with e as (
  select * from webhook_endpoint where organization_id = $1 and deleted_at is null
), event as (
  insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at)
  select e.organization_id, e.id, $2, $3, date_trunc('milliseconds', clock_timestamp()) from e
  returning id, type, endpoint_id, occurred_at
)
select event.*, (${HELD}) as held from event, e`;

const EVENT_OF_DELIVERY = `
select v.id, v.type, v.endpoint_id, v.occurred_at, (${HELD}) as held
from webhook_delivery d
join webhook_endpoint e on e.id = d.endpoint_id and e.deleted_at is null
join webhook_event v on v.id = d.event_id and v.organization_id = d.organization_id
where d.organization_id = $1 and d.id = $2`;

const REPLAY = `
update webhook_event v set status = 'pending', tries = 0, current_attempt_id = null, next_attempt_at = clock_timestamp()
from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id and e.deleted_at is null
where d.organization_id = $1 and d.id = $2 and v.id = d.event_id and v.organization_id = $1
  and (v.status <> 'pending' or v.current_attempt_id is null)
returning v.id, v.type, v.endpoint_id, v.occurred_at, (${HELD}) as held`;
