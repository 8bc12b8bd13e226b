import { newId } from '../../../common/ids.js';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import { ownerFields } from '../../conversations/control/owner.js';
import type { ContactObservation } from '../../conversations/contacts/contact-resolver.js';
import type { MediaService } from '../../media/media.service.js';
import { insertMessageEvents } from '../message/message-event-sql.js';
import type { AppMessageReport, StatusReport } from '../messages.types.js';
import { pendingFileOf } from './received-messages.repository.js';
import { failureOf } from './message-progress.js';

/** What one message led to. */
export interface RecordedMessage {
  /** False where the message was known before. */
  created: boolean;
  /** It has a file, which waits to be fetched. */
  hasFile: boolean;
}

/**
 * Makes messages durable that were not sent by the API, each exactly once, in the caller's transaction: those that were
 * sent in the WhatsApp Business app, each with its event, and those of its history, which have none. One result a message,
 * in the same order.
 *
 * @param conversationIds of the messages, in the same order.
 */
export async function recordAppMessages(
  reports: readonly AppMessageReport[],
  conversationIds: readonly (string | null)[],
  statements: Statements,
  media: MediaService,
): Promise<RecordedMessage[]> {
  if (reports.length === 0) return [];
  const messages = reports.map((report, index) => {
    const conversationId = conversationIds[index] ?? null;
    return { ...report, id: newId(), conversationId, file: pendingFileOf(report) };
  });
  const rows = messages.map(({ file, ...message }) => ({ ...message, mediaObjectId: file?.id ?? null }));
  // In the order of the index: two batches that share messages then never deadlock.
  rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const stored = await statements.query<{ id: string; fileId: string | null }>(RECORD, [JSON.stringify(rows)]);
  const created = new Set(stored.map(({ id }) => id));
  const fetched = new Set(stored.map(({ fileId }) => fileId));
  const files = messages.flatMap(({ file }) => (file !== null && fetched.has(file.id) ? [file] : []));
  if (files.length > 0) await media.createPending(files, statements);
  return messages.map(({ id, file }) => ({
    created: created.has(id),
    hasFile: file !== null && fetched.has(file.id),
  }));
}

export function observationOfAppMessage(report: AppMessageReport): ContactObservation {
  const { connectionId, organizationId, contact, userId, occurredAt } = report;
  return { connectionId, organizationId, waId: contact, userId, at: occurredAt };
}

/**
 * Applies reports about messages that were sent in the app: those that mean no attempt of ours, and bring nothing back that
 * we sent along. They move such a message as they move another, and no event tells of it. Returns the reports that were
 * about one.
 */
export async function applyAppStatuses(
  reports: readonly StatusReport[],
  statements: Statements,
): Promise<Set<StatusReport>> {
  const asked = reports.filter(({ callbackData }) => callbackData === null);
  if (asked.length === 0) return new Set();
  const found = await statements.query<Pick<StatusReport, 'connectionId' | 'metaMessageId'>>(APPLY_STATUSES, [
    JSON.stringify(asked.map(statusRow)),
  ]);
  const known = new Set(found.map(keyOf));
  return new Set(asked.filter((report) => known.has(keyOf(report))));
}

function statusRow(report: StatusReport): object {
  const { connectionId, metaMessageId, status, occurredAt, pricing } = report;
  const failure = status === 'failed' ? failureOf(report) : null;
  return { connectionId, metaMessageId, status, at: occurredAt, ...failure, pricing };
}

function keyOf({ connectionId, metaMessageId }: Pick<StatusReport, 'connectionId' | 'metaMessageId'>): string {
  return `${connectionId}/${metaMessageId}`;
}

/** SQL: the message of a row `i` is in the journal as one that the API sent. */
const IS_OURS = `(
  exists (select from message_state s where hashtextextended(s.meta_message_id, 0) = hashtextextended(i."metaMessageId", 0)
    and s.meta_message_id = i."metaMessageId" and s.connection_id = i."connectionId")
  or exists (select from message_attempt a join message m on m.id = a.message_id
    where a.meta_message_id = i."metaMessageId" and m.connection_id = i."connectionId"))`;

// What a message answers is looked for among those of the batch, what was sent, and what was received. A message of the
// history is as old as it is: it stands in the journal at its own time. The file of one may come in a later notification
// than the message; the placeholder then gets its content.
const RECORD = `
with incoming as materialized (
  select i.*, now.at, case when i.source = 'history' then least(coalesce(i."occurredAt", now.at), now.at) else now.at end as made_at,
    answered.id as answered_id
  from json_to_recordset($1) as i (id uuid, "organizationId" uuid, "connectionId" uuid, "conversationId" uuid,
    source text, direction text, status text, type text, "businessNumber" text, contact text, "userId" text, body text,
    content jsonb, "contextMessageId" text, "mediaObjectId" uuid, "metaMessageId" text, "occurredAt" timestamptz,
    "traceContext" text)
  cross join (select date_trunc('milliseconds', clock_timestamp()) as at) as now
  cross join lateral (select case when i."contextMessageId" is not null then coalesce(
    (select s.message_id from message_state s
     where hashtextextended(s.meta_message_id, 0) = hashtextextended(i."contextMessageId", 0)
     and s.meta_message_id = i."contextMessageId" and s.connection_id = i."connectionId" limit 1),
    (select m.id from message m where m.connection_id = i."connectionId"
     and m.meta_message_id = i."contextMessageId" and m.direction = 'inbound')) end as id) as answered
), created as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, source, type, recipient,
    recipient_user_id, sender, reply_to_message_id, media_object_id, meta_message_id, created_at, sent_at, trace_context)
  select id, "organizationId", "connectionId", "conversationId", direction, source, type,
    case when direction = 'inbound' then "businessNumber" else coalesce(contact, "userId") end,
    case when direction = 'outbound' and contact is null then "userId" end,
    case when direction = 'inbound' then contact else "businessNumber" end, answered_id, "mediaObjectId", "metaMessageId",
    made_at, least("occurredAt", at), decode("traceContext", 'hex')
  from incoming i where direction = 'inbound' or not ${IS_OURS}
  on conflict do nothing
  returning *
), stated as (
  insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, status, event_count,
    queued_at, sent_at, delivered_at, read_at, failed_at, meta_message_id, failure_category, attempt_number)
  select c.id, c.organization_id, c.connection_id, c.conversation_id, c.created_at, i.status, 1, c.created_at,
    coalesce(c.sent_at, c.created_at), null, null, case when i.status = 'failed' then c.created_at end, c.meta_message_id,
    case when i.status = 'failed' then 'unknown' end, 0
  from created c join incoming i on i.id = c.id where c.direction = 'outbound'
), said as (
  insert into message_content (message_id, body, content)
  select i.id, i.body, i.content from incoming i join created on created.id = i.id
  returning *
), filled as (
  update message m set type = i.type, media_object_id = i."mediaObjectId"
  from incoming i
  where m.connection_id = i."connectionId" and m.meta_message_id = i."metaMessageId" and m.direction = i.direction
    and m.source = 'history' and m.type = 'media_placeholder' and i.type <> 'media_placeholder'
  returning m.id, m.media_object_id, i.body, i.content
), refilled as (
  update message_content c set body = filled.body, content = filled.content from filled where c.message_id = filled.id
), received as (
  select created.*, said.body, said.content, said.inbound_context from created join said on said.message_id = created.id
  where created.source = 'app'
), ${insertMessageEvents('received', ownerFields)}
select id, media_object_id as "fileId" from created
union all
select null, media_object_id from filled`;

/** SQL: how far a status has come; a state is never left for an earlier one. */
const rankOf = (status: string): string => `array_position(array['sent', 'failed', 'delivered', 'read'], ${status})`;

const APPLY_STATUSES = `
with reported as materialized (
  select r.*, coalesce(r.at, now.at) as told_at
  from json_to_recordset($1) as r ("connectionId" uuid, "metaMessageId" text, status text, at timestamptz, category text,
    code integer, message text, pricing jsonb)
  cross join (select clock_timestamp() as at) as now
), told as materialized (
  select "connectionId", "metaMessageId", max(${rankOf('status')}) as rank,
    min(told_at) filter (where status = 'sent') as sent_at, min(told_at) filter (where status = 'delivered') as delivered_at,
    min(told_at) filter (where status = 'read') as read_at, min(told_at) filter (where status = 'failed') as failed_at,
    min(category) as category, min(code)::text as code, min(message) as message,
    (array_agg(pricing) filter (where jsonb_typeof(pricing) = 'object'))[1] as pricing
  from reported group by "connectionId", "metaMessageId"
), locked as materialized (
  select s.message_id, told.*, coalesce(${rankOf('s.status')}, 0) as rank_before
  from told join message_state s on hashtextextended(s.meta_message_id, 0) = hashtextextended(told."metaMessageId", 0)
    and s.meta_message_id = told."metaMessageId" and s.connection_id = told."connectionId" and s.attempt_id is null
  where exists (select from message m where m.id = s.message_id and m.source is not null)
  order by s.message_id for no key update of s
), moved as (
  update message_state s set
    status = case when l.rank > l.rank_before then (array['sent', 'failed', 'delivered', 'read'])[l.rank] else s.status end,
    sent_at = coalesce(s.sent_at, l.sent_at),
    delivered_at = coalesce(s.delivered_at, l.delivered_at),
    read_at = coalesce(s.read_at, l.read_at),
    failed_at = ${ofFailure('failed_at', 'failed_at')},
    failure_category = ${ofFailure('failure_category', 'category')},
    error_code = ${ofFailure('error_code', 'code')},
    error_message = ${ofFailure('error_message', 'message')},
    billable = coalesce(s.billable, (l.pricing ->> 'billable')::boolean),
    pricing_category = coalesce(s.pricing_category, l.pricing ->> 'category'),
    pricing_type = coalesce(s.pricing_type, l.pricing ->> 'type'),
    pricing_subtype = coalesce(s.pricing_subtype, l.pricing ->> 'subtype'),
    pricing_model = coalesce(s.pricing_model, l.pricing ->> 'model')
  from locked l where s.message_id = l.message_id
)
select ${camelColumns('s', 'connection_id, meta_message_id')} from locked l join message_state s on s.message_id = l.message_id`;

/** SQL: a failure's column. A message that failed and then advanced has none any more. */
function ofFailure(column: string, told: string): string {
  return `case when greatest(l.rank, l.rank_before) <> 2 then null when l.rank > l.rank_before then l.${told} else s.${column} end`;
}
