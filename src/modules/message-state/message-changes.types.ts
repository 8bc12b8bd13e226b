import { isoTime } from '../webhook/webhook.types.js';
import { contentOf } from './message-state.types.js';

/**
 * An edit or a revoke, as the API shows it. The edit or revoke names the message that it changes; the changed message
 * has the time and its current content. Fields that do not apply are absent.
 */
export interface MessageChanges {
  /** In an edit: the edited message; null where that is not known. */
  edits_message_id?: string | null;
  /** In a revoke: the revoked message; null where that is not known. */
  revokes_message_id?: string | null;
  edited_at?: string | null;
  revoked_at?: string | null;
  /** The content after the latest edit; null where the message was revoked. */
  current?: { body: string | null; content: Record<string, unknown> } | null;
}

/** Limit of changes read for one message: more than a person makes in the minutes that WhatsApp allows. */
export const MAX_CHANGES = 100;

/** SQL: the conversation that a row `m` of `message` belongs to, after merges. */
const conversationOf = (m: string): string =>
  `coalesce((select v.merged_into from conversation v where v.id = ${m}.conversation_id), ${m}.conversation_id)`;

/**
 * SQL: whether two rows of one connection have the same author. A message in a group has no conversation, but has its
 * author's number.
 */
const haveOneAuthor = (a: string, b: string): string => `(${conversationOf(a)} = ${conversationOf(b)}
    or ${a}.conversation_id is null and ${b}.conversation_id is null and ${a}.sender = ${b}.sender)`;

/** SQL: the id of the message that the edit or revoke `m` is about, of the same author. */
const changedBy = (m: string): string => `(select o.id from platform_message p join message o on o.id = p.message_id
      where p.connection_id = ${m}.connection_id and p.meta_message_id = ${m}.original_meta_id and o.direction = ${m}.direction
        and ${haveOneAuthor('o', m)})`;

/** SQL: the same, where both messages are in the batch being stored. */
const changedWith = (m: string, batch: string): string => `(select o.id from ${batch} o
      where o.connection_id = ${m}.connection_id and o.meta_message_id = ${m}.original_meta_id and o.direction = ${m}.direction
        and ${haveOneAuthor('o', m)})`;

/**
 * SQL: the edits and revokes of a message `m`, as a FROM item `l`: id, type, at (by WhatsApp), and message_id of its
 * content. They are found by WhatsApp's id, so a change that arrives before its message counts too.
 */
export const changesTo = (m: string): string => `(select e.id, e.type, coalesce(e.sent_at, e.created_at) as at
    from message e where e.connection_id = ${m}.connection_id and e.original_meta_id = ${m}.meta_message_id
      and e.direction = ${m}.direction and ${haveOneAuthor('e', m)}
    order by at desc, e.id desc limit ${MAX_CHANGES}) l`;

/**
 * SQL: `MessageChanges` of a row `m` of `message`, as jsonb; null where there are none.
 *
 * @param batch a relation with further messages that are being stored.
 */
export function changesOf(m: string, batch?: string): string {
  const about = [changedBy(m), ...(batch === undefined ? [] : [changedWith(m, batch)])].join(', ');
  const is = (type: string): string => `filter (where l.type = '${type}')`;
  return `case when ${m}.type in ('edit', 'revoke') then jsonb_build_object(${m}.type || 's_message_id',
      case when ${m}.original_meta_id is not null then coalesce(${about}) end)
    when ${m}.direction = 'inbound' or ${m}.source is not null then (
      select jsonb_build_object('edited_at', ${isoTime(`max(l.at) ${is('edit')}`)},
        'revoked_at', ${isoTime(`min(l.at) ${is('revoke')}`)},
        'current', case when count(*) ${is('revoke')} = 0 then (array_agg(jsonb_build_object('body', s.body,
          'content', coalesce(s.content -> 'message' -> (s.content -> 'message' ->> 'type'), '{}')) order by l.at desc, l.id desc))[1] end)
      from ${changesTo(m)} left join lateral ${contentOf('l.id')} s on true
      having count(*) > 0) end`;
}
