import { isOnlyFormer } from '../contacts/recipient.types.js';
import { previousOf } from '../conversations.types.js';
import { Injectable } from '@nestjs/common';
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

/** A conversation's last message, or the place in the journal down to which was looked. */
interface Place {
  conversationId: string;
  messageId: string;
  at: string | Date;
}

type ConversationRow = Pick<
  ConversationResponse,
  'id' | 'connection_id' | 'last_inbound_at' | 'unread_count' | 'created_at'
> &
  Record<'phone' | 'wa_id' | 'user_id' | 'profile_name', string | null> & { former: string[] } & Pick<
    OwnerFacts,
    'standbyAt' | 'handoverAt' | 'handoverTo' | 'handoverRole'
  >;

/** The latest former names that are shown of a contact. */
const MAX_PREVIOUS = 20;

/** Rows that are about a message, and none that waits to be read. */
const NOT_WRITTEN = `('reaction', 'system', 'edit', 'revoke')`;

/** Messages of the journal that one page looks at, in steps: most pages end in the first one. */
const STEPS = [200, 1_000, 4_000];

/**
 * Conversations by their last message, newest first. No row is kept of a last activity: the journal is in that order
 * already, and a message is its conversation's last where an index has no newer one. So sending and receiving cost
 * nothing more, and a page reads at most so many messages, however long the journal is.
 */
@Injectable()
export class ConversationPagesRepository {
  constructor(private readonly database: Database) {}

  /**
   * A page that looked at as many messages as it may ends there, with fewer conversations than wanted. `next`: where the
   * next page begins; null after the last one.
   */
  async page(organizationId: string, asked: ConversationFilter): Promise<ConversationPage> {
    const filter = beginningAt(asked);
    if (filter.unread) return this.unreadPage(organizationId, filter);
    const { places, next } =
      filter.to === null && filter.recipient === null
        ? await this.walk(organizationId, filter)
        : await this.ofContact(organizationId, filter);
    const conversations = await this.read(organizationId, places);
    return {
      conversations,
      next: next === null ? null : { at: new Date(next.at), messageId: next.messageId },
      looked: 1,
    };
  }

  /** No index has what waits to be read: a page looks at a few pages of all conversations. */
  private async unreadPage(organizationId: string, filter: ConversationFilter): Promise<ConversationPage> {
    const conversations: ConversationResponse[] = [];
    let cursor: Pick<ConversationFilter, 'before' | 'beforeId'> = filter;
    for (let looked = 1; ; looked++) {
      const page = await this.page(organizationId, { ...filter, ...cursor, unread: false });
      const unread = page.conversations.filter(({ unread_count: count }) => count > 0);
      const rest = filter.limit - conversations.length;
      conversations.push(...unread.slice(0, rest));
      const last = conversations.at(-1);
      if (unread.length > rest && last?.last_message) {
        return { conversations, next: { at: last.updated_at, messageId: last.last_message.id }, looked };
      }
      if (page.next === null || looked === UNREAD_PAGES) return { conversations, next: page.next, looked };
      cursor = { before: page.next.at, beforeId: page.next.messageId };
    }
  }

  /** By its id or that of one that was merged into it; null where there is none, and where the contact was erased. */
  async find(organizationId: string, id: string): Promise<ConversationResponse | null> {
    const found = await this.database.find<{ id: string; messageId: string | null }>(FIND, [organizationId, id]);
    if (found === null) return null;
    const place = { conversationId: found.id, messageId: found.messageId ?? '' };
    return (await this.read(organizationId, [place]))[0] ?? null;
  }

  private async walk(organizationId: string, filter: ConversationFilter): Promise<Places> {
    const { connectionId, limit } = filter;
    const places: Place[] = [];
    let before: unknown[] = [filter.before ?? 'infinity', filter.beforeId ?? FIRST_ID];
    let end: Place | null = null;
    for (const step of STEPS) {
      const wanted = limit + 1 - places.length;
      const { found, last, walked } = await this.database.row<{ found: Place[]; last: Place | null; walked: number }>(
        connectionId === null ? WALK : WALK_OF_CONNECTION,
        [organizationId, ...before, step, wanted, filter.since, ...(connectionId === null ? [] : [connectionId])],
      );
      places.push(...found);
      if (places.length > limit) return pageOf(places, limit);
      if (last === null || walked < step) return { places, next: null };
      end = last;
      before = [last.at, last.messageId];
    }
    return { places, next: end };
  }

  /** Few: a contact has one conversation on each connection. */
  private async ofContact(organizationId: string, filter: ConversationFilter): Promise<Places> {
    const { connectionId, to, recipient, before, beforeId, limit } = filter;
    const places = await this.database.query<Place>(OF_CONTACT, [
      organizationId,
      before ?? 'infinity',
      beforeId ?? FIRST_ID,
      limit + 1,
      connectionId,
      to === null ? null : spellingsOf(to),
      recipient,
      filter.since,
    ]);
    return pageOf(places, limit);
  }

  private async read(organizationId: string, places: readonly Omit<Place, 'at'>[]): Promise<ConversationResponse[]> {
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
          created_at: row.created_at,
          updated_at: lastMessage?.createdAt ?? row.created_at,
        },
      ];
    });
  }
}

interface ConversationPage {
  conversations: ConversationResponse[];
  next: { at: Date; messageId: string } | null;
  /** Pages of all conversations that were read for it. */
  looked: number;
}

interface Places {
  places: Place[];
  next: Place | null;
}

/** `until` is where the first page begins. */
function beginningAt(filter: ConversationFilter): ConversationFilter {
  const { before, until } = filter;
  return until === null || (before !== null && before < until) ? filter : { ...filter, before: until, beforeId: null };
}

function pageOf(found: readonly Place[], limit: number): Places {
  const places = found.slice(0, limit);
  return { places, next: found.length > limit ? (places.at(-1) ?? null) : null };
}

/** The rows whose messages are a conversation's: its own, and those of conversations that were merged into it. */
const same = (id: string): string =>
  `(select ${id} as id union all select g.id from conversation g where g.merged_into = ${id} and g.organization_id = $1) same`;

/** The newest of a conversation's messages in one direction. */
const newest = (direction: string, conditions = ''): string => `(
  select n.id, n.created_at from message n where n.conversation_id = same.id and n.direction = '${direction}'
    and n.organization_id = $1 ${conditions} order by n.created_at desc, n.id desc limit 1)`;

/** The last message of a conversation, as `id` and `created_at`. */
const lastOf = (id: string): string => `(
  select n.id, n.created_at from ${same(id)} cross join lateral (${newest('inbound')} union all ${newest('outbound')}) n
  order by n.created_at desc, n.id desc limit 1)`;

const LISTED = `(n.created_at, n.id) > (f.created_at, f.id)`;

/** Of the messages `walked` those that are their conversation's last. */
const lastAmong = (walked: string): string => `
with walked as materialized (${walked}), seen as (
  select distinct on (c.survivor) c.survivor, w.id, w.created_at
  from walked w cross join lateral (
    select coalesce(k.merged_into, k.id) as survivor from conversation k
    where k.id = w.conversation_id and k.organization_id = $1 offset 0) c
  order by c.survivor, w.created_at desc, w.id desc
), found as (
  select f.* from (select * from seen order by created_at desc, id desc offset 0) f
  where not exists (
    select 1 from ${same('f.survivor')} cross join lateral (
      ${newest('inbound', `and ${LISTED}`)} union all ${newest('outbound', `and ${LISTED}`)}) n)
  limit $5
)
select (select coalesce(json_agg(json_build_object('conversationId', survivor, 'messageId', id, 'at', created_at)
    order by created_at desc, id desc), '[]') from found) as found,
  (select json_build_object('messageId', id, 'at', created_at) from walked order by created_at, id limit 1) as last,
  (select count(*)::integer from walked) as walked`;

const journal = (conditions: string): string => `
  (select m.id, m.conversation_id, m.created_at from message m
   where ${conditions} and (m.created_at, m.id) < ($2::timestamptz, $3::uuid)
     and m.created_at >= coalesce($6::timestamptz, '-infinity')
   order by m.created_at desc, m.id desc limit $4)`;

const WALK = lastAmong(journal('m.organization_id = $1'));

const ofConnection = (direction: string): string =>
  journal(`m.connection_id = $7 and m.direction = '${direction}' and m.organization_id = $1`);
const WALK_OF_CONNECTION = lastAmong(`
  select * from (${ofConnection('inbound')} union all ${ofConnection('outbound')}) both_directions
  order by created_at desc, id desc limit $4`);

// By all ways to write the number: the one that the caller gave first, and the platform's.
const OF_CONTACT = `
select k.id as "conversationId", last.id as "messageId", last.created_at as at
from connection n cross join lateral (
  select c.id from conversation c where c.connection_id = n.id and c.phone = any($6::text[])
    and ($7::text is null or c.user_id = $7)
  union select c.id from conversation c where c.connection_id = n.id and c.wa_id = any($6::text[])
    and ($7::text is null or c.user_id = $7)
  union select c.id from conversation c where c.connection_id = n.id and c.user_id = $7 and $6::text[] is null
  union select coalesce(f.merged_into, f.id) from conversation_alias a join conversation f on f.id = a.conversation_id
    where a.connection_id = n.id and ${isOnlyFormer('a')}
      and case when $6::text[] is null then a.name = $7 else a.name = any($6) and $7::text is null end) k
cross join lateral ${lastOf('k.id')} last
where n.organization_id = $1 and ($5::uuid is null or n.id = $5)
  and (last.created_at, last.id) < ($2::timestamptz, $3::uuid) and last.created_at >= coalesce($8::timestamptz, '-infinity')
order by last.created_at desc, last.id desc limit $4`;

// An erased contact has no name left.
const FIND = `
select s.id, last.id as "messageId"
from conversation c join conversation s on s.id = coalesce(c.merged_into, c.id) and s.organization_id = $1
left join lateral ${lastOf('s.id')} last on true
where c.organization_id = $1 and c.id = $2 and coalesce(s.phone, s.wa_id, s.user_id) is not null`;

// Who marks a message as read has read all earlier ones, as the platform shows it.
const READ = `
select s.id, s.connection_id, s.phone, s.wa_id, s.user_id, s.profile_name, s.last_inbound_at, s.created_at,
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
