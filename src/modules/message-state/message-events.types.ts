import { changesOf } from './message-changes.types.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';

/** SQL: the `pricing` object of the API for a row of `message_state`. */
export function shownPricing(alias: string): string {
  return `case when coalesce(${alias}.pricing_category, ${alias}.pricing_type) is not null then jsonb_build_object(
    'billable', ${alias}.billable, 'category', ${alias}.pricing_category, 'type', ${alias}.pricing_type,
    'subtype', ${alias}.pricing_subtype, 'model', ${alias}.pricing_model) end`;
}

/**
 * The CTEs of `insertWebhookEvents` that write one `message.status.updated` for each row of `relation`, in the same
 * statement as the status change, so that neither exists without the other. The recipient is read from `message`.
 *
 * @param relation a CTE with organization_id, message_id, connection_id, status, previous_status, occurred_at, attempt,
 * failure_category, error_code, error_message, sequence, pricing.
 * @param condition which of the rows `c` are announced; default: all.
 * @param journal the relation that replaces `message`.
 */
export function insertStatusEvents(relation: string, condition = 'true', journal = 'message'): string {
  return insertWebhookEvents(`(
    select c.organization_id, 'message.status.updated'::text as event_type, c.occurred_at, m.trace_context,
      array[c.connection_id] as connection_ids,
      jsonb_build_object(
        'message_id', c.message_id, 'client_message_id', m.client_message_id, 'connection_id', c.connection_id,
        'conversation_id', coalesce((select v.merged_into from conversation v where v.id = m.conversation_id), m.conversation_id),
        'type', m.type, 'tag', m.tag, 'metadata', m.metadata,
        'to', case when m.recipient_user_id is null then m.recipient end, 'recipient', m.recipient_user_id,
        'status', c.status, 'previous_status', c.previous_status,
        'occurred_at', ${isoTime('c.occurred_at')}, 'attempt', c.attempt, 'failure_category', c.failure_category,
        'error', case when c.error_code is not null or c.error_message is not null then jsonb_build_object(
          'code', coalesce(c.error_code, 'UNKNOWN'), 'message', coalesce(c.error_message, '')) end,
        'pricing', c.pricing, 'sequence', c.sequence) as event_data
    from ${relation} c join ${journal} m on m.id = c.message_id where ${condition})`);
}

/**
 * Like `insertStatusEvents`: one `message.received` for each new inbound message, `message.standby.received` for what
 * was written to another app, and `message.sent_elsewhere` for what was sent in the WhatsApp Business app.
 *
 * @param relation a CTE with the columns of `message` and of `message_content`, just inserted; their conversations
 * already exist.
 * @param ownerOf returns the fields of `data` that say who owns a conversation.
 */
export function insertMessageEvents(relation: string, ownerOf: (conversation: string) => string): string {
  return insertWebhookEvents(`(
    select m.organization_id,
      case when m.direction = 'outbound' then 'message.sent_elsewhere'
        when m.standby then 'message.standby.received' else 'message.received' end as event_type,
      m.created_at as occurred_at, m.trace_context,
      array[m.connection_id] as connection_ids,
      jsonb_build_object(
        'conversation_id', m.conversation_id,
        'message', jsonb_build_object(
          'id', m.id, 'connection_id', m.connection_id, 'conversation_id', m.conversation_id,
          'direction', m.direction, 'source', coalesce(m.source, 'customer'), 'from', m.sender,
          'to', case when m.recipient_user_id is null then m.recipient end, 'type', m.type, 'body', m.body,
          'status', case m.direction when 'inbound' then 'received' else 'sent' end, 'failure_category', null, 'client_message_id', m.client_message_id,
          'tag', null, 'metadata', null, 'meta_message_id', m.meta_message_id, 'reply_to_message_id', m.reply_to_message_id, 'media_object_id', m.media_object_id,
          'created_at', ${isoTime('m.created_at')}, 'sent_at', ${isoTime('m.sent_at')}, 'standby', m.standby)
          || coalesce(${changesOf('m', relation)}, '{}'),
        ${ownerOf('v')},
        'contact', case when m.inbound_context ? 'sender'
          then jsonb_build_object('phone', m.sender) || (m.inbound_context -> 'sender')
          else jsonb_build_object(
            'phone', coalesce(v.wa_id, v.phone), 'user_id', v.user_id, 'name', v.profile_name) end,
        'content', m.content,
        'sequence', 1) || coalesce(m.inbound_context - 'sender', '{}') as event_data
    from ${relation} m left join conversation v on v.id = m.conversation_id and v.organization_id = m.organization_id)`);
}
