import type { InboundContext } from '../../infrastructure/whatsapp/webhook-records.js';
import type { MessageStatus } from './message-state.js';
import type { Attempt, Message } from './messages.types.js';

/** A message as the driver returns it; `conversation_id` is the surviving conversation's. */
export interface MessageRow {
  id: string;
  organization_id: string;
  connection_id: string;
  conversation_id: string | null;
  direction: 'outbound' | 'inbound';
  type: string;
  recipient: string | null;
  recipient_user_id: string | null;
  sender: string | null;
  body: string | null;
  content: Record<string, unknown>;
  client_message_id: string | null;
  reply_to_message_id: string | null;
  media_object_id: string | null;
  status: MessageStatus;
  meta_message_id: string | null;
  failure_category: string | null;
  error_code: string | null;
  error_message: string | null;
  attempt_count: number;
  created_at: Date;
  next_attempt_at: Date | null;
  queued_at: Date | null;
  processing_at: Date | null;
  accepted_at: Date | null;
  sent_at: Date | null;
  delivered_at: Date | null;
  read_at: Date | null;
  failed_at: Date | null;
  inbound_context: (InboundContext & { sender?: { user_id: string | null; name: string | null } }) | null;
  contact_phone: string | null;
  contact_wa_id: string | null;
  contact_user_id: string | null;
  contact_name: string | null;
}

const of = (alias: string, columns: string): string => columns.replaceAll(/\w+/g, `${alias}.$&`);

/**
 * SELECT list for messages `m` of the table `message` with `messageJoins`. A conversation that was found to be another's
 * contact leads to the surviving one.
 */
export const MESSAGE_SELECT = `${of('m', 'id, organization_id, connection_id, direction, type, recipient')},
  ${of('m', 'recipient_user_id, sender, client_message_id, reply_to_message_id, media_object_id, created_at')},
  c.body, coalesce(c.content, '{}') as content, c.inbound_context,
  case when m.direction = 'inbound' then 'received' when q.attempt_id is not null then 'processing'
    when q.message_id is not null then 'queued' else s.status end as status,
  case when m.direction = 'inbound' then m.meta_message_id else s.meta_message_id end as meta_message_id,
  case when m.direction = 'inbound' then m.sent_at else s.sent_at end as sent_at,
  coalesce(q.attempt_number, s.attempt_count, s.attempt_number, 0) as attempt_count,
  case when q.attempt_id is null then coalesce(q.next_attempt_at, q.queued_at) end as next_attempt_at,
  coalesce(q.queued_at, s.queued_at) as queued_at, coalesce(q.claimed_at, s.processing_at) as processing_at,
  ${of('s', 'failure_category, error_code, error_message, accepted_at, delivered_at, read_at, failed_at')},
  coalesce(w.id, v.id, m.conversation_id) as conversation_id,
  coalesce(w.phone, v.phone) as contact_phone, coalesce(w.wa_id, v.wa_id) as contact_wa_id,
  coalesce(w.user_id, v.user_id) as contact_user_id, coalesce(w.profile_name, v.profile_name) as contact_name`;

// Offset 0 keeps each look-up to itself: PostgreSQL plans them in half the time that an equal join of all takes.
const lookUp = (alias: string, found: string, on = 'true'): string =>
  `left join lateral (select * from ${found} offset 0) ${alias} on ${on}`;

const isOutbound = "m.direction = 'outbound'";

/**
 * See `MESSAGE_SELECT`.
 *
 * @param status of all of the messages, where it is known: no look-up is made where nothing can be found.
 */
export function messageJoins(status: MessageStatus | null = null): string {
  const waits = status === 'queued' || status === 'processing';
  const hasOutcome = status !== null && status !== 'received' && !waits;
  return [
    lookUp('q', `message_queue where ${hasOutcome ? 'false' : 'message_id = m.id'}`, isOutbound),
    lookUp('s', `message_state where ${waits ? 'false' : 'message_id = m.id'}`, isOutbound),
    lookUp('c', 'message_content where message_id = m.id'),
    lookUp('v', 'conversation where id = m.conversation_id'),
    lookUp('w', 'conversation where id = v.merged_into'),
  ].join('\n');
}

export function messageOf(row: MessageRow): Message {
  const { sender, ...inboundContext } = row.inbound_context ?? {};
  return {
    id: row.id,
    organizationId: row.organization_id,
    connectionId: row.connection_id,
    conversationId: row.conversation_id,
    direction: row.direction,
    type: row.type,
    recipient: row.recipient_user_id === null ? row.recipient : null,
    recipientUserId: row.recipient_user_id,
    sender: row.sender,
    body: row.body,
    content: row.content,
    clientMessageId: row.client_message_id,
    replyToMessageId: row.reply_to_message_id,
    mediaObjectId: row.media_object_id,
    status: row.status,
    metaMessageId: row.meta_message_id,
    failureCategory: row.failure_category,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    attemptCount: row.attempt_count,
    createdAt: row.created_at,
    nextAttemptAt: row.next_attempt_at,
    queuedAt: row.queued_at,
    processingAt: row.processing_at,
    acceptedAt: row.accepted_at,
    sentAt: row.sent_at,
    deliveredAt: row.delivered_at,
    readAt: row.read_at,
    failedAt: row.failed_at,
    contact:
      sender === undefined
        ? { phone: row.contact_wa_id ?? row.contact_phone, userId: row.contact_user_id, name: row.contact_name }
        : { phone: row.sender, userId: sender.user_id, name: sender.name },
    inboundContext,
  };
}

/** A row of `message_attempt_view` inside JSON, which has times as text. */
export interface AttemptRow {
  number: number;
  status: Attempt['status'];
  started_at: string;
  finished_at: string | null;
  http_status: number | null;
  platform_code: number | null;
  platform_message: string | null;
  failure_category: string | null;
  meta_message_id: string | null;
  trace_id: string | null;
}

export function attemptOf(row: AttemptRow): Attempt {
  return {
    number: row.number,
    status: row.status,
    startedAt: new Date(row.started_at),
    finishedAt: row.finished_at === null ? null : new Date(row.finished_at),
    httpStatus: row.http_status,
    platformCode: row.platform_code,
    platformMessage: row.platform_message,
    failureCategory: row.failure_category,
    metaMessageId: row.meta_message_id,
    traceId: row.trace_id,
  };
}
