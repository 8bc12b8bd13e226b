import { isOnlyFormer, isUserId } from '../../conversations/contacts/recipient.types.js';
import { Injectable } from '@nestjs/common';
import { FIRST_ID, lowestIdSince } from '../../../common/ids.js';
import { BatchPlace } from '../../../infrastructure/database/batch-place.js';
import { Database } from '../../../infrastructure/database/database.js';
import type { Counts, Subject } from '../../workspaces/erasure/erasure.service.js';
import { isOwned } from '../../../infrastructure/queue/lane-owner.js';
import { boundedCount } from '../../../infrastructure/operations/backlogs.js';
import { spellingsOf } from '../../../infrastructure/whatsapp/account-number.js';
import { queueTakes } from '../../message-state/message-state.types.js';
import type { LaneStatus } from '../../message-state/message.types.js';
import { FactsService } from '../../message-state/facts.service.js';
import { HELD_BY_RECIPIENT, HELD_BY_TIME } from '../../message-state/message-row.types.js';
import { SCHEDULE_LANE } from '../schedule/schedule.repository.js';

/** One page of a contact's messages. */
export interface MessagePage {
  /** Messages that are neither queued nor in flight. */
  ids: string[];
  /** Files that came from the platform. */
  receivedFiles: string[];
  cursor: string | null;
}

interface ContactRow {
  id: string;
  phone: string | null;
  wa_id: string | null;
  user_id: string | null;
  merged_into: string | null;
  former: string[];
}

/** Further work on messages that lose their contact, in the same transaction. */
type Forget = (messageIds: readonly string[]) => Promise<Counts>;

const NOTHING_ELSE: Forget = () => Promise.resolve({});
const PAGE = 500;
const WITHDRAW_BATCH = 500;
const RESTORE_BATCH = 2_000;
const ROUNDS = 5;
const COUNT_LIMIT = 1_000_000;

/**
 * Statements on messages and contacts for operators, retention and erasure, over all workspaces or for one contact. A
 * name of a contact, in these comments, is a phone, a wa_id or a user id, present or former.
 */
@Injectable()
export class MessagesMaintenanceRepository {
  private readonly places = { contents: new BatchPlace(FIRST_ID), attempts: new BatchPlace('-infinity') };

  constructor(
    private readonly database: Database,
    private readonly facts: FactsService,
  ) {}

  /** Adds all other names and conversations of the contact who has one of the given ones. The given names are kept. */
  async identify(known: Subject): Promise<Subject> {
    const { organizationId } = known;
    const numbers = new Set(known.numbers.flatMap((number) => [number, ...spellingsOf(number)]));
    const userIds = new Set(known.userIds);
    const ids = new Set(known.conversationIds);
    for (let round = 0; round < ROUNDS; round++) {
      const before = numbers.size + userIds.size + ids.size;
      const params = [organizationId, [...numbers], [...userIds], [...ids]];
      const rows = await this.database.byIndex(() => this.database.query<ContactRow>(IDENTIFY, params));
      for (const row of rows) {
        for (const name of [row.phone, row.wa_id]) {
          if (name !== null) for (const each of spellingsOf(name)) numbers.add(each);
        }
        if (row.user_id !== null) userIds.add(row.user_id);
        for (const former of row.former) (isUserId(former) ? userIds : numbers).add(former);
        for (const id of [row.id, row.merged_into]) if (id !== null) ids.add(id);
      }
      if (numbers.size + userIds.size + ids.size === before) break;
    }
    return { organizationId, numbers: [...numbers], userIds: [...userIds], conversationIds: [...ids] };
  }

  /**
   * Counts the contact's waiting messages, with the scheduled ones, and those in flight. One statement counts both,
   * since messages move between the two.
   */
  countLane(subject: Subject): Promise<{ waiting: number; sending: number }> {
    const of = (condition: string): string => `
      select count(*) from message_queue q join connection c on c.id = q.connection_id
      where c.organization_id = $1 and q.organization_id = $1 and q.recipient = any($2) and ${condition}`;
    const sql = `select ((${of('q.held_until is null')} and q.attempt_id is null) + (${of(HELD_BY_RECIPIENT)}))::integer as waiting,
         (${of('q.held_until is null')} and q.attempt_id is not null)::integer as sending`;
    return this.database.byIndex(() => this.database.row(sql, [subject.organizationId, lanesOf(subject)]));
  }

  /** Messages of the workspace that are in flight. */
  countBeingSent(organizationId: string): Promise<number> {
    return this.database.count(
      `select count(*)::integer as count from message_queue where lease_until is not null and organization_id = $1`,
      [organizationId],
    );
  }

  /**
   * Ends some of the messages that wait for the contact, and clears their contents. The events of their ends name no
   * contact. Returns how many ended.
   *
   * @param forget removes what other tables know about these messages, in the same transaction.
   */
  withdraw(subject: Subject, forget = NOTHING_ELSE): Promise<number> {
    return this.database.byIndex(async () => {
      const params = [subject.organizationId, lanesOf(subject), WITHDRAW_BATCH];
      const found = await this.database.query<{ id: string }>(WAITING, params);
      if (found.length === 0) return 0;
      await this.database.query(LOCK_STATES, [found.map(({ id }) => id)]);
      // Leaves out messages that were claimed meanwhile. Those locked here can no longer be claimed.
      const waiting = await this.database.query<{ id: string }>(LOCK_WAITING, [found.map(({ id }) => id)]);
      const ids = waiting.map(({ id }) => id);
      await forget(ids);
      // The contents are cleared before the events are written, so that the events name no person.
      await this.database.execute(BLANK, [subject.organizationId, ids]);
      const erased = ids.map((messageId) => ({ kind: 'erased', messageId }) as const);
      return (await this.facts.apply(erased, this.database)).filter(({ moved }) => moved).length;
    });
  }

  /** The next page of the contact's messages, oldest first. */
  async page(subject: Subject, cursor: string | null): Promise<MessagePage> {
    const [createdAt = '-infinity', id = FIRST_ID] = cursor?.split(' ') ?? [];
    const { organizationId, numbers, conversationIds, userIds } = subject;
    const params = [organizationId, createdAt, id, PAGE, [...numbers, ...userIds], conversationIds, userIds];
    return this.database.byIndex(() => this.database.row(PAGE_OF_CONTACT, params));
  }

  /**
   * Removes everything of the contact from messages, in the ambient transaction. The rows stay. Messages that a retry
   * has queued meanwhile are left out.
   *
   * @param forget like that of `withdraw`; it sees what a concurrent report has written. `blank` returns its result.
   */
  async blank(organizationId: string, ids: readonly string[], forget = NOTHING_ELSE): Promise<Counts> {
    const locked = await this.database.query<{ id: string }>(LOCK_DECIDED, [organizationId, ids]);
    const decided = locked.map(({ id }) => id);
    const forgotten = await forget(decided);
    await this.database.execute(BLANK, [organizationId, decided]);
    return forgotten;
  }

  /** How many conversations still name the contact. */
  countContacts({ organizationId, conversationIds }: Subject): Promise<number> {
    return this.database.count(
      `select count(*)::integer as count from conversation
       where organization_id = $1 and id = any($2::uuid[]) and ${NAMED}`,
      [organizationId, conversationIds],
    );
  }

  /**
   * Removes all names from the contact's conversations. Returns how many conversations had one. A contact with a user
   * id is also queued for removal from WhatsApp's contact book.
   */
  async blankContacts(subject: Subject): Promise<number> {
    await this.database.execute(
      'delete from conversation_alias where organization_id = $1 and conversation_id = any($2::uuid[])',
      [subject.organizationId, subject.conversationIds],
    );
    return this.database.execute(
      `with known as materialized (
         select distinct on (user_id) user_id, connection_id from conversation
         where organization_id = $1 and id = any($2::uuid[]) and user_id is not null order by user_id, connection_id
       ), asked as (
         insert into contact_book_removal (connection_id, user_id, organization_id)
         select connection_id, user_id, $1 from known on conflict do nothing
       )
       update conversation set phone = null, wa_id = null, user_id = null, profile_name = null, last_inbound_at = null,
         standby_at = null, handover_at = null, handover_to = null, handover_role = null, closed = false, assignee = null,
         assignee_id = null
       where organization_id = $1 and id = any($2::uuid[]) and ${NAMED}`,
      [subject.organizationId, subject.conversationIds],
    );
  }

  /**
   * Removes contents of messages from before this time, or attempts that were replaced before this time. Returns how
   * many. Contents of waiting messages stay. Contents are found by the messages' ids, which have the time of the host
   * that created them. A content that is newer by the database's clock stays.
   */
  remove(what: keyof typeof REMOVE, before: Date, limit: number): Promise<number> {
    const params = what === 'contents' ? [lowestIdSince(before), before] : [before];
    return this.places[what].run(this.database, REMOVE[what], limit, params);
  }

  /** Whether a message in this range of ids waits, is held or is in flight: its content is still needed. */
  async isAnyInQueue(from: string, below: string): Promise<boolean> {
    const sql = 'select from message_queue where message_id >= $1 and message_id < $2 limit 1';
    return (await this.database.byIndex(() => this.database.find(sql, [from, below]))) !== null;
  }

  /** When the newest message in the queue was queued. Reads all of `message_queue`. */
  async newestQueued(): Promise<Date | null> {
    const found = 'select max(queued_at) as newest from message_queue';
    return (await this.database.row<{ newest: Date | null }>(found)).newest;
  }

  /** Counts messages of a restored backup that may have been sent after the backup was made; up to a million. */
  countUncertain(before: Date): Promise<number> {
    return this.database.count(
      `select count(*)::integer as count from (
         select 1 from message_queue q where ${IS_DOUBTFUL} limit ${COUNT_LIMIT}) as counted`,
      [before],
    );
  }

  /**
   * Sets the messages that `countUncertain` counts to `outcome_unknown`, and closes their attempts, in the ambient
   * transaction. Returns how many.
   */
  async markUncertain(before: Date): Promise<number> {
    let marked = 0;
    for (let after = FIRST_ID; ;) {
      const found = await this.database.query<{ id: string }>(DOUBTFUL, [before, after, RESTORE_BATCH]);
      const last = found.at(-1);
      if (last === undefined) return marked;
      const restored = found.map(
        ({ id }) => ({ kind: 'restored', messageId: id, before: before.getTime() * 1_000 }) as const,
      );
      marked += (await this.facts.apply(restored, this.database)).filter(({ moved }) => moved).length;
      after = last.id;
    }
  }

  /** Reads all of `message_queue`: a second per million rows. */
  lanes(): Promise<LaneStatus[]> {
    return this.database.query<LaneStatus>(LANES);
  }

  /** Scheduled and paused messages, counted up to 100,000. */
  scheduled(): Promise<number> {
    const held = boundedCount(`from message_queue q where ${HELD_BY_TIME}`);
    return this.database.byIndex(() => this.database.count(`select ${held} as count`));
  }

  /** Messages that wait and messages in flight, each counted up to 100,000. */
  depth(): Promise<{ queued: number; processing: number }> {
    const count = (condition: string): string => boundedCount(`from message_queue where ${condition}`);
    return this.database.byIndex(() =>
      this.database.row(
        `select ${count('held_until is null and (attempt_id is null)')} as queued,
           ${count('lease_until is not null')} as processing`,
      ),
    );
  }

  /** Messages with an unknown outcome, each number counted up to 1,000. */
  unknown(): Promise<number> {
    return this.database.count(UNKNOWN);
  }

  /**
   * The seconds since the oldest due message became due; 0: none is due. Of queued messages, only those of numbers that
   * can send are considered. Never scans a backlog.
   */
  async oldestDueSeconds(): Promise<number> {
    return (await this.database.row<{ seconds: number }>(OLDEST_DUE)).seconds;
  }
}

/** The values of `message_queue.recipient` under which messages to the contact wait. */
function lanesOf({ numbers, userIds }: Subject): string[] {
  return [...numbers, ...userIds];
}

const NAMED = `(phone is not null or wa_id is not null or user_id is not null or profile_name is not null)`;

// The conversations of a contact, found by names $2 and $3 and by ids $4, also by those of conversations that they were
// merged into. For each connection of the workspace, the unique indexes are read.
const IDENTIFY = `
with found as (
  select c.* from connection n join conversation c on c.connection_id = n.id and c.phone = any($2)
  where n.organization_id = $1
  union
  select c.* from connection n join conversation c on c.connection_id = n.id and c.wa_id = any($2)
  where n.organization_id = $1
  union
  select c.* from connection n join conversation c on c.connection_id = n.id and c.user_id = any($3)
  where n.organization_id = $1
  union
  select c.* from conversation c where c.organization_id = $1 and c.id = any($4::uuid[])
  union
  select c.* from conversation c where c.organization_id = $1 and c.merged_into = any($4::uuid[])
  union
  select c.* from connection n join conversation_alias a on a.connection_id = n.id and a.name = any($2 || $3) and ${isOnlyFormer('a')}
  join conversation c on c.id = a.conversation_id where n.organization_id = $1
)
select id, phone, wa_id, user_id, merged_into,
  array(select a.name from conversation_alias a where a.conversation_id = found.id and ${isOnlyFormer('a')}) as former
from found where organization_id = $1`;

// SQL: removes everything of a contact from messages. WhatsApp's message ids contain the number, so they are removed
// too, and no message is found by them any more. A used key stays, since keys never expire, but the fingerprint of its
// request is removed.
const blankJournal = (
  of: string,
  id: string,
): string => `update message m set client_message_id = null, metadata = null,
    meta_message_id = null, original_meta_id = null, conversation_id = null, recipient_user_id = null,
    fingerprint = case when m.fingerprint is not null then '\\x'::bytea end,
    recipient = case when m.direction = 'inbound' then m.recipient end,
    sender = case when m.direction = 'outbound' then m.sender end
  from ${of} where m.id = ${of}.${id} and m.organization_id = $1`;

const blankAttempts = (of: string, id: string): string => `update message_attempt a set text = null, failed_text = null,
    meta_message_id = null, trace_id = null
  from ${of} where a.message_id = ${of}.${id} and a.organization_id = $1`;

const waitingOf = (condition: string): string => `
  select q.message_id from message_queue q join connection c on c.id = q.connection_id
  where c.organization_id = $1 and q.organization_id = $1 and q.recipient = any($2) and ${condition}
    and ${queueTakes('erased')}
  limit $3`;

const WAITING = `
select message_id as id from (
  (${waitingOf('q.held_until is null')}) union all (${waitingOf(HELD_BY_RECIPIENT)})) as found order by message_id`;

const LOCK_STATES = 'select from message_state where message_id = any($1::uuid[]) order by message_id for update';

const LOCK_WAITING = `
select q.message_id as id from message_queue q where q.message_id = any($1::uuid[]) and ${queueTakes('erased')}
order by q.message_id for update of q skip locked`;

/**
 * SQL: up to $4 messages that come after the one of the time $2 and the id $3, oldest first. This is the order of the
 * index that serves the condition.
 */
const nextOf = (names: string, condition: string): string => `
  select m.* from unnest(${names}) as named (name) cross join lateral (
    select m.id, m.created_at, m.direction, m.media_object_id, m.source from message m
    where m.organization_id = $1 and ${condition} and (m.created_at, m.id) > ($2::timestamptz, $3::uuid)
    order by m.created_at, m.id limit $4) as m`;

// A page of a contact's messages, found by number, user id and conversation. A message in a group has no conversation,
// but its author's user id.
const PAGE_OF_CONTACT = `
with page as materialized (
  select * from (
    ${[
      nextOf('$6::uuid[]', "m.conversation_id = named.name and m.direction = 'outbound'"),
      nextOf('$6::uuid[]', "m.conversation_id = named.name and m.direction = 'inbound'"),
      nextOf('$5::text[]', "m.recipient = named.name and m.direction = 'outbound'"),
      nextOf('$5::text[]', "m.sender = named.name and m.direction = 'inbound'"),
    ].join('\n    union')}
    union
    select m.id, m.created_at, m.direction, m.media_object_id, m.source
    from message_content c join message m on m.id = c.message_id
    where c.inbound_context -> 'sender' ->> 'user_id' = any($7::text[]) and m.organization_id = $1
      and (m.created_at, m.id) > ($2::timestamptz, $3::uuid)) as found
  order by created_at, id limit $4
), hit as (
  select * from page
  where not exists (select from message_queue q where q.message_id = page.id)
)
select array(select id from hit) as ids,
  array(select media_object_id from hit where (direction = 'inbound' or source is not null) and media_object_id is not null) as "receivedFiles",
  case when (select count(*) from page) = $4 then (
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || ' ' || id
    from page order by created_at desc, id desc limit 1) end as cursor`;

const LOCK_DECIDED = `
with decided as materialized (
  select message_id as id from message_state
  where organization_id = $1 and message_id = any($2::uuid[]) and status <> 'queued' order by message_id for update
)
select id from decided
union all
select id from message where organization_id = $1 and id = any($2::uuid[]) and direction = 'inbound'`;

const BLANK = `
with own as materialized (
  select id from unnest($2::uuid[]) as given (id)
), stated as (
  update message_state s set error_message = null, meta_message_id = null, conversation_id = null
  from own where s.message_id = own.id
), attempts as (
  ${blankAttempts('own', 'id')}
), unsaid as (
  delete from message_content c using own where c.message_id = own.id and c.message_id = any($2::uuid[])
), unnamed as (
  delete from platform_message p using own join message m on m.id = own.id
  where p.connection_id = m.connection_id and p.meta_message_id = m.meta_message_id
)
${blankJournal('own', 'id')}`;

export const REMOVE = {
  contents: `
    delete from message_content where message_id > $1 and message_id < $3 and message_id = any(array(
      select c.message_id from message_content c
      where c.message_id > $1 and c.message_id < $3
        and coalesce((select m.created_at < $4 from message m where m.id = c.message_id), true)
        and not exists (select from message_queue q where q.message_id = c.message_id)
      order by c.message_id limit $2))
    returning message_id::text as place`,
  attempts: `
    delete from message_attempt where ctid = any(array(
      select ctid from message_attempt
      where replaced_at >= $1::timestamptz and replaced_at < $3 order by replaced_at limit $2 for update skip locked))
    returning replaced_at as place`,
};

// A message scheduled for a later time had not been sent by then.
const IS_DOUBTFUL = `${queueTakes('restored')} and coalesce(q.scheduled_for, q.queued_at) < $1`;

// The next batch in the order of ids. It begins after the last batch, since the dead rows of earlier batches stay until
// the commit.
const DOUBTFUL = `
select message_id as id from message_queue q where ${IS_DOUBTFUL} and message_id > $2 order by message_id limit $3`;

// Finds the oldest due message of each number, from the low-water mark of the number's lane on. A scheduled message
// counts too if its time has come and it was not released.
const OLDEST_DUE = `
select greatest(max(extract(epoch from clock_timestamp() - least(queued.due_at, scheduled.held_until))), 0)::float8 as seconds
from connection c
left join lateral (
  select q.due_at from message_queue q
  where c.status in ('connected', 'restricted') and q.connection_id = c.id
    and q.due_at >= coalesce((select low_at from lane where key = c.id::text), '-infinity')
    and q.due_at <= statement_timestamp()
  order by q.connection_id, q.due_at limit 1) as queued on true
left join lateral (
  select q.held_until from message_queue q
  where q.connection_id = c.id and ${HELD_BY_TIME}
    and q.held_until >= coalesce((select low_at from lane where key = '${SCHEDULE_LANE}' || c.id), '-infinity')
    and q.held_until <= statement_timestamp()
  order by q.connection_id, q.held_until limit 1) as scheduled on true`;

const UNKNOWN = `
select coalesce(sum(counted.messages), 0)::integer as count
from connection as c
cross join lateral (
  select count(*) as messages from (
    select 1 from message_state where organization_id = c.organization_id and connection_id = c.id
      and attention = 'outcome_unknown' limit 1000) as found) as counted`;

const LANES = `
with waiting as (
  select connection_id, count(*) filter (where attempt_id is null and held_until is null)::integer as queued,
    count(held_until)::integer as scheduled,
    count(*) filter (where due_at <= clock_timestamp())::integer as due,
    min(due_at) filter (where due_at <= clock_timestamp()) as oldest,
    count(*) filter (where attempt_id is not null)::integer as in_flight
  from (
    select connection_id, attempt_id, held_until,
      case when attempt_id is null and held_until is null then coalesce(due_at, queued_at) end as due_at
    from message_queue) as q
  group by connection_id
)
select c.id as "connectionId", c.organization_id as "organizationId", c.phone_number as "phoneNumber", c.status,
  waiting.queued, waiting.scheduled, waiting.due, waiting.in_flight as "inFlight", waiting.oldest as "oldestDueAt",
  round(extract(epoch from clock_timestamp() - waiting.oldest) * 1000)::double precision as "oldestDueMs",
  case when lane.paused_until > clock_timestamp() then lane.paused_until end as "pausedUntil",
  case when lane.paused_until > clock_timestamp() then lane.pause_reason end as "pauseReason",
  ${isOwned('lane')} as "isDrained"
from waiting
join connection c on c.id = waiting.connection_id
left join lane on lane.key = c.id::text
order by due desc, queued desc, scheduled desc, c.id`;
