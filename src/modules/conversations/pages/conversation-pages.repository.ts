import { isOnlyFormer } from '../contacts/recipient.types.js';
import { previousOf } from '../conversations.types.js';
import { Injectable } from '@nestjs/common';
import { beginningAt } from '../../../infrastructure/http/page.query.js';
import { FIRST_ID } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import { spellingsOf } from '../../../infrastructure/whatsapp/account-number.js';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import { ownerOf, type OwnerFacts } from '../control/owner.types.js';
import { windowClosesAt } from '../windows/windows.types.js';
import {
  UNREAD_LIMIT,
  UNREAD_PAGES,
  type ConversationFilter,
  type ConversationResponse,
} from '../dto/conversations.dto.js';
import { listItemOf } from '../../message-state/message-list-item.response.js';
import { messageJoins, MESSAGE_SELECT, messageOf, type MessageRow } from '../../message-state/message-row.types.js';

/*
 * Words of this file. The journal: all messages of a workspace, newest first. A place: a position in the journal, given
 * by the time and id of a message. Conversations are listed by the place of one of their messages.
 */

/** The message by which a conversation is listed, or the last message of the journal that a page has read. */
interface Place {
  conversationId: string;
  messageId: string;
  at: string | Date;
  /** The conversation's last message, where that is not the message by which it is listed. */
  lastId?: string;
}

type ConversationRow = Pick<
  ConversationResponse,
  'id' | 'connection_id' | 'last_inbound_at' | 'unread_count' | 'closed' | 'assignee' | 'assignee_id' | 'created_at'
> &
  Record<'phone' | 'wa_id' | 'user_id' | 'profile_name', string | null> & { former: string[] } & Pick<
    OwnerFacts,
    'standbyAt' | 'handoverAt' | 'handoverTo' | 'handoverRole'
  >;

/** Limit of former phones and user ids shown for a contact; the latest ones are shown. */
const MAX_PREVIOUS = 20;

/**
 * Types of messages that do not count as unread: reactions, edits and revokes concern another message, and a `system`
 * message is a notice, such as of a changed number.
 */
const NOT_WRITTEN = `('reaction', 'system', 'edit', 'revoke')`;

/** SQL: messages that a customer wrote to this workspace, as in the index message_written. */
const written = (m: string): string =>
  `${m}.direction = 'inbound' and ${m}.source is null and not ${m}.standby and ${m}.type not in ${NOT_WRITTEN}`;

/** Limit of the conversations that a search finds, as a whole and in each of its parts. */
const SEARCHED = 50;
/**
 * If an assignee has at most this many conversations, or at most this many are closed, they are sorted by their last
 * message. If there are more, the journal is read.
 */
const FEW = 500;

/** How many messages of the journal one page reads, in steps: most pages need only the first step. */
const STEPS = [200, 1_000, 4_000];

/**
 * Lists conversations by their last message, newest first. No column stores that time: the journal already has the
 * order, and an index shows whether a conversation has a newer message. So the list adds no cost to sending and
 * receiving, and a page reads a bounded number of messages, however long the journal is.
 */
@Injectable()
export class ConversationPagesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Reads one page. A page that has read as many messages as it may ends early, with fewer conversations. `next`: where
   * the next page begins; null on the last page.
   */
  async page(organizationId: string, asked: ConversationFilter): Promise<ConversationPage> {
    const filter = beginningAt(asked);
    if (filter.unread) return this.unreadPage(organizationId, filter);
    const ids = await this.candidates(organizationId, filter);
    const { places, next } =
      ids === null ? await this.walk(organizationId, filter) : await this.among(organizationId, ids, filter);
    const conversations = await this.read(organizationId, places);
    return { conversations, places, next: next === null ? null : placeOf(next), looked: 1 };
  }

  /** Reads a page of unread conversations. No index has them, so this reads a few pages of all conversations. */
  private async unreadPage(organizationId: string, filter: ConversationFilter): Promise<ConversationPage> {
    const conversations: ConversationResponse[] = [];
    const places: Place[] = [];
    let cursor: Pick<ConversationFilter, 'before' | 'beforeId'> = filter;
    for (let looked = 1; ; looked++) {
      const page = await this.page(organizationId, { ...filter, ...cursor, unread: false });
      const unread = page.conversations.filter(({ unread_count: count }) => count > 0);
      const rest = filter.limit - conversations.length;
      conversations.push(...unread.slice(0, rest));
      places.push(...page.places);
      const last = places.find(({ conversationId }) => conversationId === conversations.at(-1)?.id);
      if (unread.length > rest && last !== undefined) return { conversations, places, next: placeOf(last), looked };
      if (page.next === null || looked === UNREAD_PAGES) return { conversations, places, next: page.next, looked };
      cursor = { before: page.next.at, beforeId: page.next.messageId };
    }
  }

  /**
   * Finds a conversation by its own id, or by the id of a conversation that was merged into it. Null where there is
   * none, and where the contact was erased.
   */
  async find(organizationId: string, id: string): Promise<ConversationResponse | null> {
    const found = await this.database.find<{ id: string; messageId: string | null }>(FIND, [organizationId, id]);
    if (found === null) return null;
    const place = { conversationId: found.id, messageId: found.messageId ?? '' };
    return (await this.read(organizationId, [place]))[0] ?? null;
  }

  /**
   * The ids of the conversations that a contact, a search, an assignee or `closed` selects. Null where the filter has
   * none of these, or more than `FEW` conversations match.
   */
  private async candidates(organizationId: string, filter: ConversationFilter): Promise<string[] | null> {
    const { connectionId, to, recipient, search, assignee, assigneeId, closed } = filter;
    const ids = async (sql: string, params: unknown[]): Promise<string[]> =>
      (await this.database.query<{ id: string }>(sql, params)).map(({ id }) => id);
    if (to !== null || recipient !== null) {
      return ids(OF_CONTACT, [organizationId, connectionId, to === null ? null : spellingsOf(to), recipient]);
    }
    if (search !== null) {
      const { beginnings, ends } = numbersOf(search);
      return ids(SEARCH, [organizationId, search, beginnings, ends]);
    }
    const named = assigneeId ?? assignee;
    if (named === null && closed !== true) return null;
    const found =
      named === null
        ? await ids(CLOSED, [organizationId])
        : await ids(assigneeId === null ? ASSIGNED : ASSIGNED_TO, [organizationId, named]);
    return found.length > FEW ? null : found;
  }

  private async walk(organizationId: string, filter: ConversationFilter): Promise<Places> {
    const { limit } = filter;
    const places: Place[] = [];
    let before: unknown[] = [filter.before ?? 'infinity', filter.beforeId ?? FIRST_ID];
    let end: Place | null = null;
    for (const step of STEPS) {
      const wanted = limit + 1 - places.length;
      const { sql, params } = walkOf(filter, [organizationId, ...before, step, wanted]);
      const { found, last, walked } = await this.database.row<{ found: Place[]; last: Place | null; walked: number }>(
        sql,
        params,
      );
      places.push(...found);
      if (places.length > limit) return pageOf(places, limit);
      if (last === null || walked < step) return { places, next: null };
      end = last;
      before = [last.at, last.messageId];
    }
    return { places, next: end };
  }

  private async among(organizationId: string, ids: readonly string[], filter: ConversationFilter): Promise<Places> {
    const { before, beforeId, limit } = filter;
    if (ids.length === 0) return { places: [], next: null };
    const { sql, params } = amongOf(filter, [
      organizationId,
      before ?? 'infinity',
      beforeId ?? FIRST_ID,
      limit + 1,
      ids,
    ]);
    return pageOf(await this.database.query<Place>(sql, params), limit);
  }

  private async read(organizationId: string, found: readonly Omit<Place, 'at'>[]): Promise<ConversationResponse[]> {
    const places = found.map(({ conversationId, messageId, lastId = messageId }) => ({
      conversationId,
      messageId: lastId,
    }));
    if (places.length === 0) return [];
    const ids = places.map(({ conversationId }) => conversationId);
    const rows = await this.database.query<ConversationRow>(READ, [organizationId, ids]);
    const messages = await this.database.query<MessageRow>(
      `select ${MESSAGE_SELECT} from message m ${messageJoins()} where m.organization_id = $1 and m.id = any($2::uuid[])`,
      [organizationId, places.map(({ messageId }) => messageId).filter((id) => id !== '')],
    );
    const rowOf = new Map(rows.map((row) => [row.id, row]));
    const messageOfId = new Map(messages.map((row) => [row.id, messageOf(row)]));
    return places.flatMap(({ conversationId, messageId }) => {
      const row = rowOf.get(conversationId);
      if (row === undefined) return [];
      const lastMessage = messageOfId.get(messageId);
      const { owner, role } = ownerOf({ ...row, lastInboundAt: row.last_inbound_at });
      return [
        {
          id: row.id,
          connection_id: row.connection_id,
          contact: {
            phone: row.wa_id ?? row.phone,
            user_id: row.user_id,
            name: row.profile_name,
            ...(row.former.length > 0 && { previous: previousOf(row.former) }),
          },
          last_message: lastMessage === undefined ? null : listItemOf(lastMessage),
          last_inbound_at: row.last_inbound_at,
          service_window_closes_at: windowClosesAt(row.last_inbound_at),
          unread_count: row.unread_count,
          owner,
          owner_role: role,
          closed: row.closed,
          assignee: row.assignee,
          assignee_id: row.assignee_id,
          created_at: row.created_at,
          updated_at: lastMessage?.createdAt ?? row.created_at,
        },
      ];
    });
  }
}

interface ConversationPage {
  conversations: ConversationResponse[];
  /** The places of the conversations; with `unread`, of all conversations that were read, also those left out. */
  places: Place[];
  next: { at: Date; messageId: string } | null;
  /** How many pages were read for this page: more than one only with `unread`. */
  looked: number;
}

interface Places {
  places: Place[];
  next: Place | null;
}

function pageOf(found: readonly Place[], limit: number): Places {
  const places = found.slice(0, limit);
  return { places, next: found.length > limit ? (places.at(-1) ?? null) : null };
}

function placeOf({ at, messageId }: Place): { at: Date; messageId: string } {
  return { at: new Date(at), messageId };
}

/** The digits with which a number may begin or end, if the search is only a number; otherwise empty. */
function numbersOf(search: string): { beginnings: string[]; ends: string[] } {
  if (!/^[+\d\s()./-]+$/.test(search)) return { beginnings: [], ends: [] };
  const digits = search.replaceAll(/\D/g, '');
  // A number as dialled within its country, or from abroad: 0171 ..., 0049171 ...
  const national = digits.replace(/^0(?=[1-9]\d{5})/, '');
  return { beginnings: [digits.replace(/^00(?=[1-9])/, '')], ends: [...new Set([digits, national])] };
}

/** SQL: the ids of a conversation and of those merged into it, whose messages belong to it, as the relation `same`. */
const same = (id: string): string =>
  `(select ${id} as id union all select g.id from conversation g where g.merged_into = ${id} and g.organization_id = $1) same`;

/** SQL: the newest message in one direction of the row `same`, as `id` and `created_at`. */
const newest = (direction: string, conditions = ''): string => `(
  select n.id, n.created_at from message n where n.conversation_id = same.id and n.direction = '${direction}'
    and n.organization_id = $1 ${conditions} order by n.created_at desc, n.id desc limit 1)`;

/** SQL: the last message of a conversation, as `id` and `created_at`. */
const lastOf = (id: string): string => `(
  select n.id, n.created_at from ${same(id)} cross join lateral (${newest('inbound')} union all ${newest('outbound')}) n
  order by n.created_at desc, n.id desc limit 1)`;

/** SQL: whether the message `n` is newer than the message `f`. */
const LISTED = `(n.created_at, n.id) > (f.created_at, f.id)`;

/**
 * SQL: whether the conversation of the message `f` is listed by it: no newer message exists. With `waiting`, only a
 * newer message that the customer wrote, or a newer answer that did not fail, counts.
 */
const isListed = (waiting: boolean): string =>
  waiting
    ? `not exists (
    select 1 from ${same('f.survivor')} cross join lateral (
      ${newest('inbound', `and ${written('n')} and ${LISTED}`)} union all (
        select n.id, n.created_at from message n join message_state t on t.message_id = n.id and t.status <> 'failed'
        where n.conversation_id = same.id and n.direction = 'outbound' and n.organization_id = $1 and ${LISTED} limit 1)) n)`
    : `not exists (
    select 1 from ${same('f.survivor')} cross join lateral (
      ${newest('inbound', `and ${LISTED}`)} union all ${newest('outbound', `and ${LISTED}`)}) n)`;

/** SQL: the id of the last message of the conversation of `f`. Without `waiting` that is `f` itself. */
const lastId = (waiting: boolean): string => (waiting ? `(select n.id from ${lastOf('f.survivor')} n)` : 'f.id');

interface Sql {
  sql: string;
  params: unknown[];
}

/** SQL: the filter's conditions on the row `s` of a conversation; adds its values to `params`. */
function rowConditions({ closed, assignee, assigneeId }: ConversationFilter, params: unknown[]): string {
  const conditions = [
    ...(closed === null ? [] : [`s.closed = $${params.push(closed)}`]),
    ...(assignee === null ? [] : [`s.assignee = $${params.push(assignee)}`]),
    ...(assigneeId === null ? [] : [`s.assignee_id = $${params.push(assigneeId)}`]),
  ];
  return conditions.length === 0
    ? ''
    : `and exists (select from conversation s where s.id = f.survivor and s.organization_id = $1 and ${conditions.join(' and ')})`;
}

/**
 * Builds the SQL that reads the journal from a place on. Its result: the messages by which conversations are listed
 * (`found`), the last message read (`last`), and how many were read (`walked`).
 *
 * @param params the workspace, the time and id of the place, how many messages to read, how many conversations to find.
 */
function walkOf(filter: ConversationFilter, params: unknown[]): Sql {
  const { connectionId, since, waiting } = filter;
  const from = since === null ? '' : `m.created_at >= $${params.push(since)} and `;
  const ofConnection =
    connectionId === null ? '' : `m.connection_id = $${params.push(connectionId)} and m.organization_id = $1 and `;
  let walked: string;
  if (waiting) walked = journal(`${from}${ofConnection}${written('m')} and m.organization_id = $1`);
  else if (connectionId === null) walked = journal(`${from}m.organization_id = $1`);
  else {
    walked = `
  select * from (${journal(`${from}${ofConnection}m.direction = 'inbound'`)} union all ${journal(`${from}${ofConnection}m.direction = 'outbound'`)}) both_directions
  order by created_at desc, id desc limit $4`;
  }
  const sql = `
with walked as materialized (${walked}), seen as (
  select distinct on (c.survivor) c.survivor, w.id, w.created_at
  from walked w cross join lateral (
    select coalesce(k.merged_into, k.id) as survivor from conversation k
    where k.id = w.conversation_id and k.organization_id = $1 offset 0) c
  order by c.survivor, w.created_at desc, w.id desc
), found as (
  select f.* from (select * from seen order by created_at desc, id desc offset 0) f
  where ${isListed(waiting)} ${rowConditions(filter, params)}
  limit $5
)
select (select coalesce(json_agg(json_build_object('conversationId', f.survivor, 'messageId', f.id, 'at', f.created_at,
    'lastId', ${lastId(waiting)}) order by f.created_at desc, f.id desc), '[]') from found f) as found,
  (select json_build_object('messageId', id, 'at', created_at) from walked order by created_at, id limit 1) as last,
  (select count(*)::integer from walked) as walked`;
  return { sql, params };
}

/** SQL: messages of the journal that meet the conditions, from the place $2, $3 on, at most $4. */
const journal = (conditions: string): string => `
  (select m.id, m.conversation_id, m.created_at from message m
   where ${conditions} and (m.created_at, m.id) < ($2::timestamptz, $3::uuid)
   order by m.created_at desc, m.id desc limit $4)`;

/**
 * Builds the SQL that reads a page of conversations whose ids are known.
 *
 * @param params the workspace, the time and id of the place, how many conversations to find, their ids.
 */
function amongOf(filter: ConversationFilter, params: unknown[]): Sql {
  const { connectionId, since, waiting } = filter;
  const listed = waiting
    ? `(select n.id, n.created_at from ${same('k.id')} cross join lateral ${newest('inbound', `and ${written('n')}`)} n
      order by n.created_at desc, n.id desc limit 1)`
    : lastOf('k.id');
  const conditions = [
    '(f.created_at, f.id) < ($2::timestamptz, $3::uuid)',
    ...(waiting ? [isListed(true)] : []),
    ...(connectionId === null ? [] : [`f.connection_id = $${params.push(connectionId)}`]),
    ...(since === null ? [] : [`f.created_at >= $${params.push(since)}`]),
  ];
  const sql = `
select f.survivor as "conversationId", f.id as "messageId", f.created_at as at, ${lastId(waiting)} as "lastId"
from (
  select k.id as survivor, k.connection_id, last.id, last.created_at
  from conversation k cross join lateral ${listed} last
  where k.organization_id = $1 and k.id = any($5::uuid[])) f
where ${conditions.join(' and ')} ${rowConditions(filter, params)}
order by f.created_at desc, f.id desc limit $4`;
  return { sql, params };
}

// The conversations of a contact, in no order. $1 workspace, $2 connection or null, $3 all spellings of a number or
// null, $4 user id or null. With only one of $3 and $4, a contact is also found by a former number or user id; with
// both, only by its present ones.
const OF_CONTACT = `
select k.id
from connection n cross join lateral (
  select c.id from conversation c where c.connection_id = n.id and c.phone = any($3::text[])
    and ($4::text is null or c.user_id = $4)
  union select c.id from conversation c where c.connection_id = n.id and c.wa_id = any($3::text[])
    and ($4::text is null or c.user_id = $4)
  union select c.id from conversation c where c.connection_id = n.id and c.user_id = $4 and $3::text[] is null
  union select coalesce(f.merged_into, f.id) from conversation_alias a join conversation f on f.id = a.conversation_id
    where a.connection_id = n.id and ${isOnlyFormer('a')}
      and case when $3::text[] is null then a.name = $4 else a.name = any($3) and $4::text is null end) k
where n.organization_id = $1 and ($2::uuid is null or n.id = $2)`;

const ASSIGNED = `
select id from conversation where organization_id = $1 and assignee = $2 and merged_into is null limit ${FEW + 1}`;
const ASSIGNED_TO = `
select id from conversation where organization_id = $1 and assignee_id = $2 and merged_into is null limit ${FEW + 1}`;
const CLOSED = `select id from conversation where organization_id = $1 and closed and merged_into is null limit ${FEW + 1}`;

/** SQL condition: `text` begins with `word`. It compares bytes, as the index does. */
const beginning = (text: string, word: string): string =>
  `${text} collate "C" >= ${word} collate "C" and ${text} collate "C" < ${word} || chr(1114111) collate "C"`;

/**
 * SQL: the conversations whose phone or wa_id (`column`) begins with one of $3. For each connection of the workspace
 * they are read from its unique index on that column.
 */
const numbers = (column: string, others = ''): string => `
  select c.id from unnest($3::text[]) as d (digits) cross join connection n cross join lateral (
    select c.id from conversation c where c.connection_id = n.id and c.${column} between d.digits and rpad(d.digits, 24, '9')
      ${others} order by c.${column} limit ${SEARCHED}) c
  where n.organization_id = $1`;

const NAME = 'search_name(c.profile_name)';
const LAST_NAME = `substring(${NAME} from '[^ ]+$')`;
const NAMED = `c.organization_id = $1 and c.profile_name is not null and c.merged_into is null and search_name($2) <> ''`;

// The parts of the union and the whole have a limit each: once the whole has enough rows, later parts are not read.
// With a million conversations, the search reads at most 69 pages of the database (EXPLAIN BUFFERS), and some ten more
// for each further connection of the workspace.
export const SEARCH = `
select distinct id from (
  (select c.id from conversation c where ${NAMED} and ${beginning(NAME, 'search_name($2)')}
   order by ${NAME} collate "C" limit ${SEARCHED})
  union all
  (select c.id from conversation c where ${NAMED} and ${NAME} like '% %' and ${beginning(LAST_NAME, 'search_name($2)')}
   order by ${LAST_NAME} collate "C" limit ${SEARCHED})
  union all (${numbers('phone')})
  union all (${numbers('wa_id', 'and c.wa_id is distinct from c.phone')})
  union all (
    select c.id from unnest($4::text[]) as d (digits) cross join lateral (
      select c.id from conversation c where c.organization_id = $1 and coalesce(c.phone, c.wa_id) is not null
        and ${beginning('reverse(coalesce(c.phone, c.wa_id))', 'reverse(d.digits)')}
      order by reverse(coalesce(c.phone, c.wa_id)) collate "C" limit ${SEARCHED}) c)
  limit ${SEARCHED}) found`;

// $1 workspace, $2 id. An erased contact has neither phone, wa_id nor user id.
const FIND = `
select s.id, last.id as "messageId"
from conversation c join conversation s on s.id = coalesce(c.merged_into, c.id) and s.organization_id = $1
left join lateral ${lastOf('s.id')} last on true
where c.organization_id = $1 and c.id = $2 and coalesce(s.phone, s.wa_id, s.user_id) is not null`;

// A message counts as read if it or a later message was marked as read, as WhatsApp shows it.
const READ = `
select s.id, s.connection_id, s.phone, s.wa_id, s.user_id, s.profile_name, s.last_inbound_at, s.created_at,
  s.closed, s.assignee, s.assignee_id,
  ${camelColumns('s', 'standby_at, handover_at, handover_to, handover_role')}, (
    select count(*)::integer from (
      select i.type, i.standby, i.source, bool_or(r.message_id is not null) over (order by i.created_at desc, i.id desc) as was_read
      from (
        select i.id, i.type, i.standby, i.source, i.created_at from ${same('s.id')} cross join lateral (
          select n.id, n.type, n.standby, n.source, n.created_at from message n where n.conversation_id = same.id
            and n.direction = 'inbound' and n.organization_id = $1 order by n.created_at desc, n.id desc limit ${UNREAD_LIMIT}) i
        order by i.created_at desc, i.id desc limit ${UNREAD_LIMIT}) i
      left join message_read r on r.message_id = i.id and r.organization_id = $1) counted
    where not was_read and not standby and source is null and type not in ${NOT_WRITTEN}) as unread_count,
  array(select a.name from conversation_alias a where a.conversation_id in (select id from ${same('s.id')})
    order by a.replaced_at desc, a.name limit ${MAX_PREVIOUS}) as former
from conversation s
where s.organization_id = $1 and s.id = any($2::uuid[])`;
