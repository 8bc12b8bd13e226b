import { newId } from '../../../common/ids.js';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import { ownerFields } from '../../conversations/control/owner.types.js';
import type { ContactObservation } from '../../conversations/conversations.types.js';
import type { MediaService } from '../../media/media.service.js';
import { insertMessageEvents } from '../../message-state/message-events.types.js';
import type { AppMessageReport, StatusReport } from '../../message-state/message.types.js';
import { pendingFileOf } from './received-messages.repository.js';
import type { FactsService } from '../../message-state/facts.service.js';
import { answeredBy } from './received-messages.repository.js';

/** What became of one message. */
export interface RecordedMessage {
  /** False where the message was known before. */
  created: boolean;
  /** Whether the message has a file that is still to be fetched. */
  hasFile: boolean;
}

/**
 * Stores messages that the API did not send, each exactly once, in the caller's transaction: messages sent in the
 * WhatsApp Business app, each with its event, and imported messages of the app's history, without events. Returns one
 * result per message, in the same order.
 *
 * @param conversationIds the messages' conversations, in the same order.
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
  // Messages are stored in the order of the index, so that batches with common messages never deadlock.
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
 * Applies reports about messages that were sent in the app. Only reports that name no attempt and have no callback data
 * of ours can be such reports. Returns the reports that did concern such a message.
 */
export async function applyAppStatuses(
  reports: readonly StatusReport[],
  statements: Statements,
  facts: FactsService,
): Promise<Set<StatusReport>> {
  const asked = reports.filter(({ callbackData }) => callbackData === null);
  if (asked.length === 0) return new Set();
  const rows = await statements.query<Pick<StatusReport, 'connectionId' | 'metaMessageId'> & { id: string }>(FIND, [
    asked.map(({ connectionId }) => connectionId),
    asked.map(({ metaMessageId }) => metaMessageId),
  ]);
  const ids = new Map(rows.map((row) => [keyOf(row), row.id]));
  const known = asked.flatMap((report) => {
    const messageId = ids.get(keyOf(report));
    return messageId === undefined ? [] : [{ kind: 'report_of_app', messageId, report } as const];
  });
  await facts.apply(known, statements);
  return new Set(known.map(({ report }) => report));
}

const FIND = `
select m.id, ${camelColumns('m', 'connection_id, meta_message_id')}
from unnest($1::uuid[], $2::text[]) as asked (connection_id, meta_message_id)
join platform_message p using (connection_id, meta_message_id) join message m on m.id = p.message_id
where m.source is not null and m.direction = 'outbound'`;

function keyOf({ connectionId, metaMessageId }: Pick<StatusReport, 'connectionId' | 'metaMessageId'>): string {
  return `${connectionId}/${metaMessageId}`;
}

/** SQL condition: the message of the row `i` is stored already, as a message that the API sent. */
const IS_OURS = `exists (select from message_attempt a join message m on m.id = a.message_id
    where a.meta_message_id = i."metaMessageId" and m.connection_id = i."connectionId")`;

// The message that a reply refers to is looked for in the batch, and among sent and received messages. A message of the
// history is stored with its own time. A file of the history may come in a later notification than its message: the
// message is then stored already as a placeholder, which gets the content now.
const RECORD = `
with incoming as materialized (
  select i.*, now.at, case when i.source = 'history' then least(coalesce(i."occurredAt", now.at), now.at) else now.at end as made_at,
    answered.id as answered_id
  from json_to_recordset($1) as i (id uuid, "organizationId" uuid, "connectionId" uuid, "conversationId" uuid,
    source text, direction text, status text, type text, "businessNumber" text, contact text, "userId" text, body text,
    content jsonb, "contextMessageId" text, "mediaObjectId" uuid, "metaMessageId" text, "originalMetaId" text,
    "occurredAt" timestamptz, "traceContext" text)
  cross join (select date_trunc('milliseconds', clock_timestamp()) as at) as now
  cross join lateral (select case when i."contextMessageId" is not null then ${answeredBy('i')} end as id) as answered
), named as (
  insert into platform_message (connection_id, meta_message_id, message_id)
  select "connectionId", "metaMessageId", id from incoming i where direction = 'inbound' or not ${IS_OURS}
  on conflict do nothing
  returning message_id as id
), created as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, source, type, recipient,
    recipient_user_id, sender, reply_to_message_id, media_object_id, meta_message_id, original_meta_id, created_at, sent_at,
    trace_context)
  select id, "organizationId", "connectionId", "conversationId", direction, source, type,
    case when direction = 'inbound' then "businessNumber" else coalesce(contact, "userId") end,
    case when direction = 'outbound' and contact is null then "userId" end,
    case when direction = 'inbound' then contact else "businessNumber" end, answered_id, "mediaObjectId", "metaMessageId",
    "originalMetaId", made_at, least("occurredAt", at), decode("traceContext", 'hex')
  from incoming join named using (id)
  returning *
), stated as (
  insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, status, event_count,
    queued_at, sent_at, failed_at, meta_message_id, failure_category)
  select c.id, c.organization_id, c.connection_id, c.conversation_id, c.created_at, i.status, 1, c.created_at,
    coalesce(c.sent_at, c.created_at), case when i.status = 'failed' then c.created_at end, c.meta_message_id,
    case when i.status = 'failed' then 'unknown' end
  from created c join incoming i on i.id = c.id where c.direction = 'outbound'
), said as (
  insert into message_content (message_id, body, content)
  select i.id, i.body, i.content from incoming i join created on created.id = i.id
  returning *
), filled as (
  update message m set type = i.type, media_object_id = i."mediaObjectId"
  from incoming i join platform_message p on p.connection_id = i."connectionId" and p.meta_message_id = i."metaMessageId"
  where m.id = p.message_id and m.direction = i.direction
    and m.source = 'history' and m.type = 'media_placeholder' and i.type <> 'media_placeholder'
  returning m.id, m.media_object_id, i.body, i.content
), refilled as (
  update message_content c set body = filled.body, content = filled.content from filled
  where c.message_id = filled.id and c.message_id = any(array(select id from filled))
), received as (
  select created.*, said.body, said.content, said.inbound_context from created join said on said.message_id = created.id
  where created.source = 'app'
), ${insertMessageEvents('received', ownerFields)}
select id, media_object_id as "fileId" from created
union all
select null, media_object_id from filled`;
