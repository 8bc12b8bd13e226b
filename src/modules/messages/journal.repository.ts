import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { MESSAGE_JOINS, MESSAGE_SELECT, messageOf, type MessageRow } from './message-row.js';
import { MESSAGE_STATUSES, type MessageStatus } from './message-state.js';
import type { Message } from './messages.types.js';

/** What is null does not filter. */
export interface JournalQuery {
  organizationId: string;
  connectionId: string | null;
  direction: Message['direction'] | null;
  status: MessageStatus | null;
  conversationId: string | null;
  clientMessageId: string | null;
  /** Digits: of the sender, one of our numbers or a contact's. */
  from: string | null;
  /** Digits. */
  to: string | null;
  /** A user id: messages from and to the contact who is known by it. */
  recipient: string | null;
  before: Date | null;
  beforeId: string | null;
  limit: number;
}

/** All of a journal, for what filters by a few things only. */
export const UNFILTERED = {
  connectionId: null,
  direction: null,
  status: null,
  conversationId: null,
  clientMessageId: null,
  from: null,
  to: null,
  recipient: null,
  before: null,
  beforeId: null,
} satisfies Partial<JournalQuery>;

interface Contact {
  id: string;
  connection_id: string;
}

/**
 * Pages of the journal, newest first. Every filter has an index whose order is the journal's; where a filter leaves
 * one of the index's leading columns out, the few ordered lists are merged. So a page costs the same at ten thousand
 * and at ten million messages.
 */
@Injectable()
export class JournalRepository {
  constructor(private readonly database: Database) {}

  async page(query: JournalQuery): Promise<Message[]> {
    const conversations = await this.conversationsOf(query);
    const params: unknown[] = [query.organizationId, query.limit];
    const bind = (value: unknown): string => `$${params.push(value)}`;
    const source = sourceOf(query, conversations, bind);
    if (source === null) return [];
    const rows = await this.database.query<MessageRow>(
      `select ${MESSAGE_SELECT} from (select * from (${source}) as m ${ORDER}) as m ${MESSAGE_JOINS}
       order by m.created_at desc, m.id desc`,
      params,
    );
    return rows.map(messageOf);
  }

  /** The conversations that the filters name, those that were merged into them too; null where none is named. */
  private async conversationsOf(query: JournalQuery): Promise<string[] | null> {
    const { organizationId, conversationId, recipient, connectionId } = query;
    const named: Contact[][] = [];
    if (conversationId !== null) named.push(await this.contacts('c.id = $2', [organizationId, conversationId]));
    if (recipient !== null) {
      const ofWorkspace = 'c.connection_id in (select id from connection where organization_id = $1)';
      named.push(await this.contacts(`${ofWorkspace} and c.user_id = $2`, [organizationId, recipient]));
    }
    const [first, second] = named;
    if (first === undefined) return null;
    return first
      .filter(({ id }) => second === undefined || second.some((other) => other.id === id))
      .filter(({ connection_id: ofConversation }) => connectionId === null || ofConversation === connectionId)
      .map(({ id }) => id);
  }

  private contacts(condition: string, params: readonly unknown[]): Promise<Contact[]> {
    return this.database.query<Contact>(
      `select same.id, same.connection_id from conversation c cross join lateral (
         select id, connection_id from conversation where id = coalesce(c.merged_into, c.id)
         union select id, connection_id from conversation where merged_into = coalesce(c.merged_into, c.id)) as same
       where c.organization_id = $1 and ${condition}`,
      params,
    );
  }
}

type Bind = (value: unknown) => string;

const ORDER = 'order by m.created_at desc, m.id desc limit $2';

/** SQL of the lists to merge; null where the filters contradict each other. */
function sourceOf(query: JournalQuery, conversations: readonly string[] | null, bind: Bind): string | null {
  const statuses = statusesOf(query);
  if (statuses.length === 0 || conversations?.length === 0) return null;
  const bounds = boundsOf(query, bind);
  const own = (conditions: string): string =>
    `select m.* from message m where m.organization_id = $1 ${conditions} ${bounds} ${ORDER}`;
  const { clientMessageId, from, to, connectionId } = query;
  const sentTo =
    to === null ? '' : `and m.direction = 'outbound' and m.recipient = ${bind(to)} and m.recipient_user_id is null`;
  const sentBy = from === null ? '' : `and m.sender = ${bind(from)}`;
  const rest = `${sentTo} ${sentBy}`;
  const inStatus = (list: readonly MessageStatus[]): string => `unnest(${bind(list)}::text[]) as s (status)`;

  // Both lead to few rows: those of one message of the caller, or what was sent to one number.
  if (clientMessageId !== null || (to !== null && conversations === null)) {
    const parts = [rest];
    if (clientMessageId !== null) parts.push(`and m.client_message_id = ${bind(clientMessageId)}`);
    if (connectionId !== null) parts.push(`and m.connection_id = ${bind(connectionId)}`);
    if (statuses !== MESSAGE_STATUSES) parts.push(`and m.status = any(${bind(statuses)}::text[])`);
    if (conversations !== null) parts.push(`and m.conversation_id = any(${bind(conversations)}::uuid[])`);
    return own(parts.join(' '));
  }
  // Of one contact: what is left of `to` and `from` chooses among the spellings of one number.
  if (conversations !== null) {
    return `select found.* from unnest(${bind(conversations)}::uuid[]) as k (id) cross join ${inStatus(statuses)}
      cross join lateral (${own(`and m.conversation_id = k.id and m.status = s.status ${rest}`)}) as found`;
  }
  if (from === null && connectionId === null && statuses === MESSAGE_STATUSES) return own('');

  const ofConnection = connectionId === null ? '' : `and k.id = ${bind(connectionId)}`;
  const lists = (which: string, list: readonly MessageStatus[], conditions: string): string =>
    `select found.* from connection k cross join ${inStatus(list)}
     cross join lateral (${own(`and m.connection_id = k.id ${conditions} ${rest}`)}) as found
     where k.organization_id = $1 ${ofConnection} ${which}`;
  const inListed = 'and m.status = s.status';
  if (from === null) return lists('', statuses, inListed);
  // What we sent bears the connection's number, and what came in that of the contact.
  const outbound = statuses.filter((status) => status !== 'received');
  const parts: string[] = [];
  if (outbound.length > 0) parts.push(lists(`and k.phone_number = ${bind(from)}`, outbound, inListed));
  if (statuses.includes('received')) parts.push(lists('', ['received'], "and m.direction = 'inbound'"));
  return parts.join(' union all ');
}

/** The states that the filters leave; inbound messages have but one. */
function statusesOf({ direction, status, to }: JournalQuery): readonly MessageStatus[] {
  if (direction === null && status === null && to === null) return MESSAGE_STATUSES;
  return MESSAGE_STATUSES.filter(
    (candidate) =>
      (status === null || candidate === status) &&
      (to === null || candidate !== 'received') &&
      (direction === null || (candidate === 'received') === (direction === 'inbound')),
  );
}

function boundsOf({ before, beforeId }: JournalQuery, bind: Bind): string {
  if (before === null) return '';
  if (beforeId === null) return `and m.created_at < ${bind(before)}`;
  return `and (m.created_at, m.id) < (${bind(before)}, ${bind(beforeId)})`;
}
