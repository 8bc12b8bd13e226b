/** Kinds of event about messages (specification, Events): the default of a new endpoint. */
export const MESSAGE_EVENTS = ['message.received', 'message.status.updated'] as const;

/** Kinds of event that an endpoint can choose. */
export const WEBHOOK_EVENTS = [
  ...MESSAGE_EVENTS,
  'message.standby.received',
  'message.sent_elsewhere',
  'conversation.control.updated',
  'conversation.updated',
  'template.status.updated',
  'template.category.updated',
  'media.ready',
  'media.failed',
  'connection.updated',
  'contact.opt_out.updated',
  'workspace.limit.reached',
  'payment.updated',
  'call.missed',
  'call.ended',
  'platform.error',
  'destination.events_lost',
] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/** The event of POST /webhook/test; sent to every endpoint, whatever it has chosen. */
export const TEST_EVENT = 'webhook.test';

export const EVENT_TYPES = [...WEBHOOK_EVENTS, TEST_EVENT] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const DELIVERY_STATUSES = ['succeeded', 'failed'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Why deliveries stopped: the endpoint answered 410, or had no success for five days. */
export type DisabledReason = 'gone' | 'failing';

/** Limit of events of a message that are listed; the latest. */
export const MAX_MESSAGE_EVENTS = 300;

/** An event about a message, and its deliveries. */
export interface MessageEventDelivery {
  type: EventType;
  /** For `message.status.updated`: the status that it announced, and the attempt. */
  status: string | null;
  previousStatus: string | null;
  attempt: number | null;
  occurredAt: Date;
  state: 'pending' | 'delivered' | 'exhausted' | 'recorded';
  /** Attempts to deliver it, oldest first, as GET /webhook/deliveries lists them. */
  deliveryIds: string[];
}

/**
 * A file in DATA_DIR: written by `herald demo` and `herald webhook listen` while they listen, readable by its owner
 * only.
 */
export const DEMO_RECEIVERS_FILE = 'demo-receivers.json';

/**
 * SQL: the CTEs `announced` and `announced_queue`, for the statement that makes the reported change: so an event
 * commits with its change and costs no round trip. Rows of a workspace that has never had an endpoint nor read its
 * events insert nothing. Rows that no endpoint has chosen, by type and number, are recorded for GET /events only; the
 * others are queued. Afterwards call `WebhookService.wake`, or leave it to the sweep, which finds them within a second.
 * Events of one message get ids in the order of their `sequence`, for GET /events.
 *
 * @param source a CTE's name or a parenthesised select with the columns organization_id uuid, event_type text,
 * event_data jsonb, occurred_at timestamptz (cut to milliseconds, as the API shows times; a cast would round),
 * connection_ids uuid[] (of the numbers that it is about; null: every endpoint gets it), trace_context bytea (of the
 * message, null where its trace is not recorded).
 */
export function insertWebhookEvents(source: string): string {
  return `announced as (
    insert into webhook_event (organization_id, endpoint_id, type, data, occurred_at, trace_context)
    select source.organization_id, endpoint.id, source.event_type, source.event_data,
      date_trunc('milliseconds', source.occurred_at), source.trace_context
    from ${source} source
    join event_recording recording on recording.organization_id = source.organization_id
    left join webhook_endpoint endpoint on endpoint.organization_id = source.organization_id
      and endpoint.deleted_at is null and source.event_type = any(endpoint.events)
      and (endpoint.connection_ids = '{}' or source.connection_ids is null
        or endpoint.connection_ids && source.connection_ids)
    order by source.event_data -> 'sequence'
    returning id, organization_id, endpoint_id
  ), announced_queue as (
    -- Due at once, by the default of due_at.
    insert into webhook_queue (event_id, organization_id, endpoint_id)
    select id, organization_id, endpoint_id from announced where endpoint_id is not null
  )`;
}

/**
 * SQL: the subject of an event, by which a person's events are found: its file, its message, otherwise the contact's
 * number or user id. The index "webhook_event_subject" has the same expression.
 */
export const eventSubject = (
  alias: string,
): string => `coalesce(${alias}.data -> 'media' ->> 'id', ${alias}.data ->> 'message_id',
  ${alias}.data -> 'message' ->> 'id', ${alias}.data -> 'contact' ->> 'phone', ${alias}.data -> 'contact' ->> 'user_id')`;

/** SQL: the conversation of an event, as text, or null. */
export const eventConversation = (alias: string): string =>
  `coalesce(${alias}.data ->> 'conversation_id', ${alias}.data -> 'message' ->> 'conversation_id')`;

/**
 * SQL: whether an event concerns one of the numbers, or none, as `insertWebhookEvents` chooses for an endpoint.
 *
 * @param ids SQL of a uuid[]; empty: of all numbers.
 */
export function isAboutNumbers(alias: string, ids: string): string {
  const one = `coalesce(${alias}.data ->> 'connection_id', ${alias}.data -> 'message' ->> 'connection_id',
    ${alias}.data -> 'media' ->> 'connection_id', ${alias}.data -> 'connection' ->> 'id')`;
  const several = `coalesce(${alias}.data -> 'connection_ids', '[]')`;
  return `(${ids} = '{}' or case when ${one} is not null then ${one} = any(${ids}::text[])
    else ${several} = '[]' or ${several} ?| ${ids}::text[] end)`;
}

/** Precedes the id of an endpoint in the key of its lane. */
export const WEBHOOK_LANE = 'webhook:';

/** SQL: a time as the API shows it. Both cut the fraction off instead of rounding. */
export function isoTime(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
