import type { ListCursor } from '../../../infrastructure/http/page.query.js';
import { spellingsOf } from '../../../infrastructure/whatsapp/account-number.js';
import { isInQueue, type MessageStatus } from '../../message-state/message-state.types.js';
import type { Message, MessageSource } from '../../message-state/message.types.js';
import { BY_TIME, HELD_BY_RECIPIENT } from '../../message-state/message-row.types.js';

/** Absent fields do not filter. */
export interface JournalQuery extends Partial<ListCursor> {
  organizationId: string;
  connectionId?: string | undefined;
  direction?: Message['direction'] | undefined;
  source?: MessageSource | undefined;
  status?: MessageStatus | undefined;
  /** Several statuses, instead of `status`. */
  statuses?: readonly MessageStatus[] | undefined;
  conversationId?: string | undefined;
  clientMessageId?: string | undefined;
  tag?: string | undefined;
  /** A file that the message sends, refers to, or came with. */
  mediaObjectId?: string | undefined;
  /** WhatsApp's id of the message, or of an earlier attempt. */
  metaMessageId?: string | undefined;
  /** The category of a failure or of an unknown outcome. */
  failureCategory?: string | undefined;
  /** Created at this time or later. */
  since?: Date | undefined;
  /** Made before. */
  until?: Date | undefined;
  /** Digits: the sender, which is one of our numbers or a contact's. */
  from?: string | undefined;
  /** Digits. */
  to?: string | undefined;
  /** A user id: messages from and to the contact who has it. */
  recipient?: string | undefined;
  /** The oldest message that this page may read. */
  downTo?: JournalPlace | undefined;
  limit: number;
}

export interface JournalPlace {
  createdAt: Date;
  id: string;
}

/** Messages that one page examines where an index finds more than the filters select. */
export const MAX_SCANNED = 2_000;

/** A conversation selected by the filters. */
export interface NamedContact {
  id: string;
  connectionId: string;
  phone: string | null;
  waId: string | null;
  userId: string | null;
}

/** One query per status. */
function perState({ statuses, ...query }: JournalQuery): JournalQuery[] {
  return statuses === undefined ? [query] : statuses.map((status) => ({ ...query, status }));
}

/** `pageOfState` for all requested statuses; each has lists of its own. */
export function pageOf(query: JournalQuery, contacts: readonly NamedContact[] | null, bind: Bind): string | null {
  const found = perState(query).flatMap((each) => pageOfState(each, contacts, bind) ?? []);
  if (found.length < 2) return found[0] ?? null;
  const all = found.map((each) => `select m.* from ${each}`).join(' union all ');
  return `(select m.* from (${all}) as m order by m.created_at desc, m.id desc limit $2) as m`;
}

/**
 * `scanEndOfState` for all requested statuses: the newest of their ends, because all of their lists reach down to it.
 */
export function scanEndOf(query: JournalQuery, contacts: readonly NamedContact[] | null, bind: Bind): string | null {
  // PostgreSQL refuses parameters that the statement does not use, so only bounded statuses bind any.
  const bounded = perState(query).filter((each) => scanEndOfState(each, contacts, () => '') !== null);
  const found = bounded.flatMap((each) => scanEndOfState(each, contacts, bind) ?? []);
  if (found.length < 2) return found[0] ?? null;
  const all = found.map((each) => `(${each})`).join(' union all ');
  return `select id, created_at from (${all}) as ends order by created_at desc, id desc limit 1`;
}

type Bind = (value: unknown) => string;
type List = (relation: string, id: string, conditions: readonly string[], columns?: string) => string;

/**
 * SQL of the journal's pages, newest first. The ids of a page come from ordered lists: from `message_queue` for
 * messages that wait, are held or are in flight; from `message_state` for those with an outcome; otherwise from
 * `message`. Each list uses an index that starts with the filter and continues in the journal's order, and only the
 * rows of the page are read whole. So a page costs the same with ten thousand and with ten million messages. One
 * statement sees each message in one place.
 *
 * @returns the page's rows `m` of `message`, for a FROM list; null where the filters contradict each other.
 */
function pageOfState(query: JournalQuery, contacts: readonly NamedContact[] | null, bind: Bind): string | null {
  const { direction, source, status, clientMessageId, to, from, connectionId } = query;
  const { failureCategory } = query;
  const inbound =
    direction !== 'outbound' &&
    source !== 'api' &&
    source !== 'app' &&
    to === undefined &&
    failureCategory === undefined &&
    (status === undefined || status === 'received');
  const outbound = direction !== 'inbound' && source !== 'customer' && status !== 'received';
  if (contacts?.length === 0 || (!inbound && !outbound)) return null;
  if (failureCategory !== undefined && failingStates(query).length === 0) return null;
  const list = listWithin(query, bind);
  if (leadsToMessage(query, contacts)) {
    const found = ['m.organization_id = $1', ...ofMessage(query, bind)];
    if (clientMessageId !== undefined) found.push(`m.client_message_id = ${bind(clientMessageId)}`);
    if (connectionId !== undefined) found.push(`m.connection_id = ${bind(connectionId)}`);
    if (contacts !== null) found.push(`m.conversation_id = any(${bind(contacts.map(({ id }) => id))}::uuid[])`);
    if (!inbound || !outbound) found.push(`m.direction = '${inbound ? 'inbound' : 'outbound'}'`);
    if (status !== undefined && status !== 'received') found.push(inStatus(status, bind));
    if (failureCategory !== undefined) {
      const category = `s.failure_category = ${bind(failureCategory)}`;
      found.push(`exists (select from message_state s where s.message_id = m.id and ${category})`);
    }
    // The limit forces the planner to use this index. Otherwise some of the other filters would make it read all
    // messages.
    const atMost = `limit ${Math.max(query.limit, MAX_SCANNED)}`;
    const led =
      query.metaMessageId === undefined
        ? listWithin(query, bind, atMost)('message m', 'm.id', indexed(query, bind), 'm.*')
        : namedAtWhatsApp(query.metaMessageId, bind);
    return `${list(`${led} m`, 'm.id', found, 'm.*')} as m`;
  }
  if (inbound && outbound && connectionId === undefined && contacts === null && from === undefined) {
    return `${list('message m', 'm.id', ['m.organization_id = $1'], 'm.*')} as m`;
  }
  const lists: string[] = [];
  if (inbound) lists.push(inboundList(query, contacts, list, bind));
  if (outbound) lists.push(outboundList(query, contacts, list, bind));
  return `(select * from (${lists.join(' union all ')}) as listed order by created_at desc, id desc limit $2) as page
    cross join lateral (select * from message where id = page.id and organization_id = $1 offset 0) as m`;
}

function inboundList({ connectionId, source, from }: JournalQuery, contacts: Contacts, list: List, bind: Bind): string {
  const conditions = [ofKey('m', contacts), `m.direction = 'inbound'`];
  if (source === 'customer') conditions.push('m.source is null');
  if (from !== undefined) {
    conditions.push('m.organization_id = $1', `m.sender = ${bind(from)}`);
    if (contacts !== null) conditions.push('m.connection_id = k.connection_id');
  }
  return forEach(connectionId, contacts, bind, list('message m', 'm.id', conditions));
}

function outboundList(query: JournalQuery, contacts: Contacts, list: List, bind: Bind): string {
  const { connectionId, status, from, to } = query;
  if (status === undefined && query.failureCategory !== undefined) {
    const lists = failingStates(query).map((state) => outboundList({ ...query, status: state }, contacts, list, bind));
    return lists.join(' union all ');
  }
  const rest = ofMessage(query, bind);
  const ofItsMessage = (id: string): string[] =>
    rest.length === 0 ? [] : [`(select ${rest.join(' and ')} from message m where m.id = ${id})`];
  // The sender of outbound messages is the connection's number.
  const each = (found: string): string => forEach(connectionId, contacts, bind, found, from);
  if (status === undefined)
    return each(list('message m', 'm.id', [ofKey('m', contacts), `m.direction = 'outbound'`, ...rest]));
  if (isWalked(status)) {
    const conditions = [ofKey('m', contacts), `m.direction = 'outbound'`, ...rest, inStatus(status, bind)];
    return each(list('message m', 'm.id', conditions));
  }
  if (!isInQueue(status)) {
    const conditions = [ofKey('s', contacts), `s.attention = ${bind(status)}`, ...ofItsMessage('s.message_id')];
    if (query.failureCategory !== undefined) conditions.push(`s.failure_category = ${bind(query.failureCategory)}`);
    return each(list('message_state s', 's.message_id', conditions));
  }
  const conditions = [ofKey('q', contacts), ...ofItsMessage('q.message_id')];
  if (to !== undefined) conditions.push(`q.recipient = ${bind(to)}`);
  if (status === 'processing') {
    // Few rows, over all connections.
    const sending = '(select * from message_queue where lease_until is not null offset 0) q';
    return each(list(sending, 'q.message_id', conditions));
  }
  if (contacts !== null)
    conditions.push('q.connection_id = k.connection_id', `q.recipient = any(${namesOf(contacts, bind)})`);
  conditions.push('q.attempt_id is null');
  // With a recipient, few of very many rows match, so the indexes by recipient are used.
  const parts = to === undefined && contacts === null ? [BY_TIME] : ['q.held_until is null', HELD_BY_RECIPIENT];
  return parts.map((part) => each(list('message_queue q', 'q.message_id', [...conditions, part]))).join(' union all ');
}

/**
 * Most messages have these statuses, and no index has them: their lists walk the journal, as far as one page may read.
 */
function isWalked(status: MessageStatus | undefined): boolean {
  return status !== undefined && ['accepted', 'sent', 'delivered', 'read'].includes(status);
}

/** Those of the requested statuses in which a message has a failure category. */
function failingStates({ status }: JournalQuery): ('failed' | 'outcome_unknown')[] {
  return (['failed', 'outcome_unknown'] as const).filter((state) => status === undefined || status === state);
}

type Contacts = readonly NamedContact[] | null;

/** Runs a list for each conversation or connection `k`; with `ownNumber`, only for those with this number. */
function forEach(
  connectionId: string | undefined,
  contacts: Contacts,
  bind: Bind,
  found: string,
  ownNumber?: string,
): string {
  const conditions = ['k.organization_id = $1'];
  if (contacts !== null) conditions.push(`k.id = any(${bind(contacts.map(({ id }) => id))}::uuid[])`);
  else if (connectionId !== undefined) conditions.push(`k.id = ${bind(connectionId)}`);
  if (ownNumber !== undefined) {
    const number = bind(ownNumber);
    conditions.push(
      contacts === null
        ? `k.phone_number = ${number}`
        : `(select n.phone_number from connection n where n.id = k.connection_id) = ${number}`,
    );
  }
  return `select found.* from ${contacts === null ? 'connection' : 'conversation'} k cross join lateral (${found}) as found
    where ${conditions.join(' and ')}`;
}

const ofKey = (alias: string, contacts: Contacts): string =>
  `${alias}.${contacts === null ? 'connection_id' : 'conversation_id'} = k.id`;

/**
 * The oldest message (`created_at` and `id`) that one page may read. Where no index covers all the filters, few or none
 * of very many messages may match. $2: how many messages the page examines.
 *
 * @returns null where every examined message matches.
 */
function scanEndOfState(query: JournalQuery, contacts: readonly NamedContact[] | null, bind: Bind): string | null {
  const { clientMessageId, tag, mediaObjectId, to, from, source, status, direction, connectionId } = query;
  const { organizationId, before, beforeId, limit } = query;
  if (contacts?.length === 0 || query.metaMessageId !== undefined) return null;
  const list = listWithin(query, bind, 'offset $2 limit 1');
  const lists: string[] = [];
  if (leadsToMessage(query, contacts)) {
    const first = clientMessageId ?? mediaObjectId ?? tag;
    const others = [
      first === undefined ? undefined : to,
      (first ?? to) === undefined ? undefined : source,
      first === mediaObjectId ? undefined : mediaObjectId,
      first === tag ? undefined : tag,
      from,
      status,
      direction,
      connectionId,
      query.failureCategory,
      contacts,
    ];
    if (others.every((filter) => filter === undefined || filter === null)) return null;
    lists.push(list('message m', 'm.id', indexed(query, bind)));
  } else if (query.failureCategory !== undefined) {
    for (const state of direction === 'inbound' ? [] : failingStates(query)) {
      const wider = { organizationId, connectionId, status: state, before, beforeId, limit } as JournalQuery;
      lists.push(outboundList(wider, contacts, list, bind));
    }
  } else if (
    isWalked(status) ||
    source !== undefined ||
    (contacts !== null && (to !== undefined || from !== undefined))
  ) {
    // Only outbound messages have such a status.
    const [states, directions] = isWalked(status) ? [undefined, 'outbound' as const] : [status, direction];
    const bounds = { before, beforeId, limit };
    const wider = { organizationId, connectionId, direction: directions, status: states, ...bounds } as JournalQuery;
    const isInbound = direction !== 'outbound' && source !== 'api' && to === undefined;
    if (isInbound && (status === undefined || status === 'received'))
      lists.push(inboundList(wider, contacts, list, bind));
    if (direction !== 'inbound' && source !== 'customer' && status !== 'received')
      lists.push(outboundList(wider, contacts, list, bind));
  }
  if (lists.length === 0) return null;
  return `select id, created_at from (${lists.join(' union all ')}) as listed order by created_at desc, id desc limit 1`;
}

/**
 * Whether the page is read from `message` by a selective filter: an id, a tag, a file, a source other than the API, or
 * a number as recipient.
 */
function leadsToMessage(query: JournalQuery, contacts: Contacts): boolean {
  const { clientMessageId, tag, mediaObjectId, metaMessageId, source, to, status } = query;
  return (
    [clientMessageId, tag, mediaObjectId, metaMessageId].some((filter) => filter !== undefined) ||
    isElsewhere(source) ||
    (to !== undefined && contacts === null && !isInQueue(status))
  );
}

/** The few messages with this WhatsApp id: each of the workspace's numbers may have one. */
export function namedAtWhatsApp(metaMessageId: string, bind: Bind): string {
  const id = bind(metaMessageId);
  return `(select * from message where organization_id = $1 and id = any(array(
    select p.message_id from connection k join platform_message p on p.connection_id = k.id and p.meta_message_id = ${id}
    where k.organization_id = $1
    union all select a.message_id from message_attempt a where a.meta_message_id = ${id} and a.organization_id = $1)) offset 0)`;
}

/** Messages that the API did not send; the column `source` says so. */
function isElsewhere(source: MessageSource | undefined): boolean {
  return source === 'app' || source === 'history';
}

/** The filter that an index has, followed by the journal's order. */
function indexed({ clientMessageId, tag, mediaObjectId, source, to }: JournalQuery, bind: Bind): string[] {
  if (clientMessageId !== undefined)
    return ['m.organization_id = $1', `m.client_message_id = ${bind(clientMessageId)}`];
  if (mediaObjectId !== undefined) return ['m.organization_id = $1', `m.media_object_id = ${bind(mediaObjectId)}`];
  if (tag !== undefined) return ['m.organization_id = $1', `m.tag = ${bind(tag)}`];
  if (to === undefined) return ['m.organization_id = $1', `m.source = ${bind(source)}`];
  const recipient = `m.recipient = ${bind(to)} and m.recipient_user_id is null and m.direction = 'outbound'`;
  return ['m.organization_id = $1', recipient];
}

/** The filters on a row `m` of `message`, besides its place in a list. */
function ofMessage({ tag, mediaObjectId, source, to, from }: JournalQuery, bind: Bind): string[] {
  const conditions: string[] = [];
  if (source !== undefined) conditions.push(isElsewhere(source) ? `m.source = ${bind(source)}` : 'm.source is null');
  if (mediaObjectId !== undefined) conditions.push(`m.media_object_id = ${bind(mediaObjectId)}`);
  if (tag !== undefined) conditions.push(`m.tag = ${bind(tag)}`);
  if (to !== undefined) conditions.push(`m.recipient = ${bind(to)} and m.recipient_user_id is null`);
  if (from !== undefined) conditions.push(`m.sender = ${bind(from)}`);
  return conditions;
}

/**
 * Names under which messages to the contacts wait: those read before, in all spellings, and those in this statement's
 * snapshot. A message moves to another lane when its contact's number becomes known.
 */
function namesOf(contacts: readonly NamedContact[], bind: Bind): string {
  const numbers = contacts.flatMap(({ phone, waId }) => [phone, waId]).filter((number) => number !== null);
  const userIds = contacts.map(({ userId }) => userId).filter((userId) => userId !== null);
  const names = [...new Set([...numbers.flatMap(spellingsOf), ...numbers, ...userIds])];
  return `${bind(names)}::text[] || array(
    select name from conversation c cross join unnest(array[c.phone, c.wa_id, c.user_id]) as name
    where c.id = any(${bind(contacts.map(({ id }) => id))}::uuid[]) and name is not null)`;
}

/** Condition on rows `m` of `message`. For few rows: it runs a subquery for each. */
function inStatus(status: MessageStatus, bind: Bind): string {
  if (!isInQueue(status)) {
    return `(select s.status from message_state s where s.message_id = m.id) = ${bind(status)}`;
  }
  return `(select q.attempt_id is ${status === 'queued' ? '' : 'not '}null from message_queue q where q.message_id = m.id)`;
}

/** Builds lists with the page's bounds and length, newest first. */
function listWithin(
  { before = null, beforeId = null, downTo, since, until }: JournalQuery,
  bind: Bind,
  length = 'limit $2',
): List {
  const end = downTo === undefined ? null : `(${bind(downTo.createdAt)}, ${bind(downTo.id)})`;
  const times = { since: since === undefined ? null : bind(since), until: until === undefined ? null : bind(until) };
  const [time, id] = [before === null ? '' : bind(before), beforeId === null ? '' : bind(beforeId)];
  return (relation, idColumn, conditions, columns = `${idColumn} as id, ${idColumn.slice(0, 1)}.created_at`) => {
    const createdAt = `${idColumn.slice(0, 1)}.created_at`;
    const bounds =
      before === null
        ? []
        : [beforeId === null ? `${createdAt} < ${time}` : `(${createdAt}, ${idColumn}) < (${time}, ${id})`];
    if (times.since !== null) bounds.push(`${createdAt} >= ${times.since}`);
    if (times.until !== null) bounds.push(`${createdAt} < ${times.until}`);
    if (end !== null) bounds.push(`(${createdAt}, ${idColumn}) >= ${end}`);
    return `(select ${columns} from ${relation}
      where ${[...conditions, ...bounds].join(' and ')} order by ${createdAt} desc, ${idColumn} desc ${length})`;
  };
}
