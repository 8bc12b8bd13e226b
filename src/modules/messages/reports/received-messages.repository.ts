import { databaseClock } from '../../../common/clock.js';
import { newId } from '../../../common/ids.js';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import type { Statements } from '../../../infrastructure/database/database.js';
import type { MediaService } from '../../media/media.service.js';
import type { PendingMedia } from '../../media/media.types.js';
import { isMediaType } from '../../message-state/file-references.types.js';
import type { ContactObservation } from '../../conversations/conversations.types.js';
import { ownerFields } from '../../conversations/control/owner.types.js';
import { insertMessageEvents } from '../../message-state/message-events.types.js';
import type { InboundReport } from '../../message-state/message.types.js';

export interface ReceivedMessage {
  messageId: string;
  /** False where WhatsApp had delivered this message before. */
  created: boolean;
  /** Whether the message has a file that is still to be fetched. */
  hasFile: boolean;
}

type NewInbound = InboundReport & { id: string; file: PendingMedia | null };

type StoredRow = { id: string } & Pick<InboundReport, 'connectionId' | 'metaMessageId'>;

/** Reported messages, and which of them are new. */
export interface FoundMessages {
  readonly reports: readonly InboundReport[];
  readonly byKey: ReadonlyMap<string, NewInbound>;
  /** Ids of messages that are stored already. */
  readonly ids: Map<string, string>;
  readonly fresh: readonly NewInbound[];
  /** Those of `fresh` that belong to the conversation with their author: all except messages in a group. */
  readonly direct: readonly NewInbound[];
  /** The authors of `direct`, in the same order. */
  readonly authors: readonly ContactObservation[];
}

/** Finds which messages are new. Store their authors before calling `storeMessages`. */
export async function findNewMessages(
  reports: readonly InboundReport[],
  statements: Statements,
): Promise<FoundMessages> {
  const byKey = new Map<string, NewInbound>();
  for (const report of reports) {
    const key = keyOf(report);
    // Ids are assigned in the order of arrival, which decides the journal's order within a millisecond.
    if (!byKey.has(key)) byKey.set(key, { ...report, id: newId(), file: pendingFileOf(report) });
  }
  const ids = await read([...byKey.values()], statements);
  // Messages are stored in the order of the index, so that batches with common messages never deadlock.
  const inOrder = [...byKey].filter(([key]) => !ids.has(key)).sort(([a], [b]) => (a < b ? -1 : 1));
  const fresh = inOrder.map(([, message]) => message);
  const direct = fresh.filter(({ context }) => context.group_id === undefined);
  return { reports, byKey, ids, fresh, direct, authors: direct.map(observationOf) };
}

/**
 * Stores customers' messages in the caller's transaction, each exactly once, with their events and the files to fetch.
 * Returns one result per report, in the same order. A repeated report changes nothing; its result has the id of the
 * message that was stored first.
 *
 * @param conversationIds the conversations of `found.authors`.
 */
export async function storeMessages(
  { reports, byKey, ids, fresh, direct }: FoundMessages,
  conversationIds: readonly (string | null)[],
  statements: Statements,
  media: MediaService,
): Promise<ReceivedMessage[]> {
  const conversationOf = new Map(direct.map((message, index) => [message, conversationIds[index] ?? null]));
  const created = await insert(fresh, conversationOf, statements, media);
  const conflicted = fresh.filter((message) => !created.has(keyOf(message)));
  for (const [key, id] of [...created, ...(await read(conflicted, statements))]) ids.set(key, id);
  return reports.map((report) => {
    const key = keyOf(report);
    const messageId = ids.get(key);
    if (messageId === undefined) throw new Error('an inbound message that conflicted has no row');
    const hasFile = byKey.get(key)?.file !== null;
    return { messageId, created: created.delete(key), hasFile };
  });
}

/** The ids of messages that are stored already. */
async function read(reports: readonly InboundReport[], statements: Statements): Promise<Map<string, string>> {
  if (reports.length === 0) return new Map();
  const rows = await statements.query<StoredRow>(READ, [
    reports.map((report) => report.connectionId),
    reports.map((report) => report.metaMessageId),
  ]);
  return idsOf(rows);
}

/** Stores new messages. Returns the ids of those that no other process has stored meanwhile. */
async function insert(
  messages: readonly NewInbound[],
  conversationOf: ReadonlyMap<NewInbound, string | null>,
  statements: Statements,
  media: MediaService,
): Promise<Map<string, string>> {
  if (messages.length === 0) return new Map();
  const inBatch = new Map(messages.map((message) => [keyOf(message), message.id]));
  const rows = messages.map((message) => ({
    ...message,
    conversationId: conversationOf.get(message) ?? null,
    context: storedContextOf(message),
    mediaObjectId: message.file?.id ?? null,
    file: undefined,
    replyToMessageId:
      message.contextMessageId === null
        ? null
        : inBatch.get(keyOf({ ...message, metaMessageId: message.contextMessageId })),
  }));
  const created = idsOf(await statements.query<StoredRow>(INSERT, [JSON.stringify(rows)]));
  const files = messages.flatMap((message) => (created.has(keyOf(message)) ? (message.file ?? []) : []));
  if (files.length > 0) await media.createPending(files, statements);
  return created;
}

function observationOf(report: InboundReport): ContactObservation {
  return {
    connectionId: report.connectionId,
    organizationId: report.organizationId,
    waId: report.from,
    userId: report.userId,
    profileName: report.profileName,
    at: report.occurredAt,
    replacement: report.replacement ?? null,
    // The database replaces a time in its future by the present.
    inboundAt: report.opensWindow ? (report.occurredAt ?? databaseClock.date()) : null,
    wrote: report.opensWindow && report.standby !== true && report.type !== 'reaction',
    standbyAt: report.standby === true ? (report.occurredAt ?? databaseClock.date()) : null,
  };
}

/** The context to store. In a group, no conversation identifies the author, so the context has the author's contact. */
function storedContextOf({ context, userId, profileName }: InboundReport): object | null {
  if (context.group_id !== undefined) return { ...context, sender: { user_id: userId, name: profileName } };
  return Object.keys(context).length === 0 ? null : context;
}

function idsOf(rows: readonly StoredRow[]): Map<string, string> {
  return new Map(rows.map((row) => [keyOf(row), row.id]));
}

function keyOf({ connectionId, metaMessageId }: Pick<InboundReport, 'connectionId' | 'metaMessageId'>): string {
  return `${connectionId}/${metaMessageId}`;
}

/**
 * The file of a message from WhatsApp, to be fetched in the background; null where there is no file that can be
 * fetched. A voice message is `audio`. No field can be trusted.
 */
export function pendingFileOf(
  report: Pick<InboundReport, 'type' | 'content' | 'organizationId' | 'connectionId'>,
): PendingMedia | null {
  const { type, content } = report;
  const platformMediaId = textOf(content.id);
  if (!isMediaType(type) || platformMediaId === null) return null;
  return {
    id: newId(),
    organizationId: report.organizationId,
    connectionId: report.connectionId,
    platformMediaId,
    type,
    mimeType: textOf(content.mime_type),
    sha256: textOf(content.sha256),
    filename: textOf(content.filename),
    voice: content.voice === true,
  };
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return typeof value === 'string' && value !== '' ? value : null;
}

const READ = `
select p.message_id as id, ${camelColumns('p', 'connection_id, meta_message_id')}
from unnest($1::uuid[], $2::text[]) as asked (connection_id, meta_message_id)
join platform_message p using (connection_id, meta_message_id)`;

/**
 * SQL: the id of the message with the WhatsApp id `contextMessageId` of a row, in the row's connection: sent by the
 * API, received, or sent in the app.
 */
export const answeredBy = (row: string): string => `coalesce(
    (select m.id from message_attempt a join message m on m.id = a.message_id
     where a.meta_message_id = ${row}."contextMessageId" and m.connection_id = ${row}."connectionId" limit 1),
    (select p.message_id from platform_message p
     where p.connection_id = ${row}."connectionId" and p.meta_message_id = ${row}."contextMessageId"))`;

// Stores messages. The message that a reply refers to is looked for in the batch, among sent messages and their earlier
// attempts, and among received messages.
const INSERT = `
with incoming as materialized (
  select i.*, now.at, answered.id as answered_id
  from json_to_recordset($1) as i (id uuid, "organizationId" uuid, "connectionId" uuid, "conversationId" uuid,
    type text, "businessNumber" text, "from" text, body text, content jsonb, "contextMessageId" text,
    "replyToMessageId" uuid, "mediaObjectId" uuid, "metaMessageId" text, "originalMetaId" text, context jsonb, "occurredAt" timestamptz,
    "traceContext" text, standby boolean)
  cross join (select date_trunc('milliseconds', clock_timestamp()) as at) as now
  cross join lateral (select case when i."contextMessageId" is not null then coalesce(i."replyToMessageId",
    ${answeredBy('i')}) end as id) as answered
), named as (
  insert into platform_message (connection_id, meta_message_id, message_id)
  select "connectionId", "metaMessageId", id from incoming
  on conflict do nothing
  returning message_id as id
), created as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient, sender,
    reply_to_message_id, media_object_id, meta_message_id, original_meta_id, created_at, sent_at, trace_context, standby)
  select id, "organizationId", "connectionId", "conversationId", 'inbound', type, "businessNumber", "from", answered_id,
    "mediaObjectId", "metaMessageId", "originalMetaId", at, case when "occurredAt" is not null then least("occurredAt", at) end,
    decode("traceContext", 'hex'), coalesce(standby, false)
  from incoming join named using (id)
  returning *
), said as (
  insert into message_content (message_id, body, content, inbound_context)
  select i.id, i.body, i.content,
    case when i."contextMessageId" is null or i.answered_id is not null then i.context
      else coalesce(i.context, '{}') || jsonb_build_object('context', coalesce(i.context -> 'context', '{}')
        || jsonb_build_object('quoted_platform_id', i."contextMessageId")) end
  from incoming i join created on created.id = i.id
  returning *
), received as (
  select created.*, said.body, said.content, said.inbound_context from created join said on said.message_id = created.id
), ${insertMessageEvents('received', ownerFields)}
select ${camelColumns('m', 'id, connection_id, meta_message_id')} from created m`;
