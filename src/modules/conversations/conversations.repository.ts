import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { codeOf } from '../../common/describe-error.js';
import { newId } from '../../common/ids.js';
import { camelColumns } from '../../infrastructure/database/camel-columns.js';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { insertWebhookEvents } from '../webhook/webhook.types.js';
import { isUserId } from './contacts/recipient.types.js';
import { type Adoption, type ContactObservation, previousOf, type ReplacedRecipient } from './conversations.types.js';
import { joinLanes } from '../message-state/join-lanes.service.js';
import { ownerOf, ownerSince } from './control/owner.types.js';
import {
  ContactResolver,
  type AliasChanges,
  type BookChanges,
  type ConversationRecord,
} from './contacts/contact-resolver.js';

/** A conversation that was looked up. `replaced`: set if the recipient was a former name of the contact. */
export type FoundConversation = ConversationRecord & { replaced: ReplacedRecipient | null };

/** The service window of a contact, which the contact's last message opened. */
interface Window {
  connectionId: string;
  recipient: string;
  conversationId: string;
  lastInboundAt: Date;
}

type KnownConversation = Pick<ConversationRecord, 'id' | 'connectionId' | 'organizationId'>;

/** The state that callers set on a conversation. */
export type Kept = Pick<ConversationRecord, 'closed' | 'assignee' | 'assigneeId'>;

const UNIQUE_VIOLATION = '23505';

/**
 * The table `conversation`: one row per contact and connection. Phone, wa_id and user id are the identities of a row; a
 * name of a contact, in these comments, is one of them. A former name is in `conversation_alias`.
 *
 * A transaction that changes identities holds a lock on the connection. Windows and profile names change without this
 * lock. Accepted messages create new contacts without the lock too; the unique indexes protect those rows.
 */
@Injectable()
export class ConversationsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Finds the conversation with a recipient, which is a number, in the caller's or WhatsApp's spelling, or a user id.
   * Former names of a contact are found too. Null where there is no such conversation.
   */
  async findByRecipient(connectionId: string, recipient: string): Promise<FoundConversation | null> {
    const params = [connectionId, recipient];
    const found = await this.database.find<ConversationRecord>(isUserId(recipient) ? BY_USER_ID : BY_NUMBER, params);
    if (found !== null) return { ...found, replaced: null };
    const former = await this.database.find<ConversationRecord>(BY_FORMER_NAME, params);
    if (former === null) return null;
    const { id, phone, waId, userId } = former;
    return {
      ...former,
      replaced: {
        conversationId: id,
        phone: phone ?? waId,
        userId,
        previous: previousOf(former.previous?.map(({ name }) => name) ?? []),
      },
    };
  }

  /**
   * The address of a conversation's contact: digits or a user id. Null where the workspace has no such conversation, or
   * the contact was erased.
   */
  async findAddress(organizationId: string, id: string): Promise<{ connectionId: string; recipient: string } | null> {
    return this.database.find<{ connectionId: string; recipient: string }>(ADDRESS, [organizationId, id]);
  }

  /**
   * Changes what callers may set on a conversation; undefined fields stay unchanged. Writes the event of the change in
   * the same transaction. Returns the changed row; null where there is no such conversation, or the contact was erased.
   */
  async keep(organizationId: string, id: string, kept: Partial<Kept>): Promise<ConversationRecord | null> {
    return this.database.transaction(async () => {
      const before = await this.database.find<ConversationRecord>(LOCK_ONE, [organizationId, id]);
      if (before === null) return null;
      const row = { ...before, ...keptOf(before, kept) };
      const { closed, assignee, assigneeId } = row;
      if (closed === before.closed && assignee === before.assignee && assigneeId === before.assigneeId) return before;
      // The person's id is written last, because a trigger clears the id when the text changes.
      await this.database.execute(
        'update conversation set closed = $3, assignee = $4 where organization_id = $1 and id = $2',
        [organizationId, row.id, closed, assignee],
      );
      await this.database.execute(
        `update conversation set assignee_id = $3
         where organization_id = $1 and id = $2 and assignee_id is distinct from $3`,
        [organizationId, row.id, assigneeId],
      );
      await announce([updatedEventOf(row, before, 'request')], this.database);
      return row;
    });
  }

  /**
   * When the contacts with these names last wrote. Leaves out contacts that never wrote; former names are not found.
   */
  findWindows(recipients: readonly { connectionId: string; recipient: string }[]): Promise<Window[]> {
    return this.database.query<Window & Record<string, unknown>>(WINDOWS, [
      recipients.map(({ connectionId }) => connectionId),
      recipients.map(({ recipient }) => recipient),
    ]);
  }

  /**
   * Moves waiting messages from former names of contacts to the new names. Messages were still accepted for a former
   * name by statements that began before the new name was committed. Call this after that commit.
   *
   * @param messageIds the messages that replaced the contacts' names.
   */
  async moveWaiting(messageIds: readonly string[]): Promise<void> {
    const rows = await this.database.query<{ id: string }>(
      `select distinct coalesce(c.merged_into, c.id) as id from message m join conversation c on c.id = m.conversation_id
       where m.id = any($1::uuid[])`,
      [messageIds],
    );
    await this.database.transaction(() =>
      joinLanes(
        rows.map(({ id }) => id),
        this.database,
      ),
    );
  }

  /**
   * Applies observations and adoptions in the caller's transaction. Returns the conversation of each observation. Call
   * this once per transaction: a second call would lock connections in another order.
   */
  async enterAll(
    observations: readonly ContactObservation[],
    adoptions: readonly Adoption[],
    statements: Statements,
  ): Promise<(string | null)[]> {
    const ids = adoptions.map((adoption) => adoption.conversationId);
    const rows = ids.length === 0 ? [] : await statements.query<KnownConversation>(CONNECTIONS, [ids]);
    const byId = new Map(rows.map((row) => [row.id, row]));
    const known = adoptions.flatMap((adoption) => {
      const row = byId.get(adoption.conversationId);
      return row === undefined ? [] : [{ ...row, ...adoption }];
    });
    if (observations.length + known.length === 0) return [];
    const entered = await enterContactObservations([...observations, ...known], statements);
    return entered.ids.slice(0, observations.length);
  }
}

/**
 * Applies observations inside the caller's transaction. A transaction that changes the identities of rows holds a lock
 * on the connection; windows and profile names change without it. A window never opens later than the database's time.
 * A change of owner is announced.
 *
 * @returns each observation's conversation id (null where it names no contact), and the rows as they are now.
 * @throws an error that repeats the whole transaction where a conversation was merged or created meanwhile.
 */
export async function enterContactObservations(
  observations: readonly ContactObservation[],
  statements: Statements,
): Promise<{ ids: (string | null)[]; book: ContactResolver }> {
  const keys = JSON.stringify(observations);
  const rows = await statements.query<ConversationRecord>(READ, [keys]);
  let read = enterAll(observations, rows);
  let changes = read.book.changes();
  const { replaced, restored } = read.book.aliasChanges();
  const others = replaced.length + restored.length;
  if (changes.created.length + changes.merged.length + changes.identified.length + others > 0) {
    read = enterAll(observations, await lockAndRead(observations, keys, rows, statements));
    changes = read.book.changes();
    await writeIdentities(changes, read.book.aliasChanges(), statements).catch((error: unknown) => {
      throw codeOf(error) === UNIQUE_VIOLATION ? new ConversationMovedError() : error;
    });
    await announce(
      [
        ...read.book.ownerChanges().map(controlEventOf),
        ...read.book.keptChanges().map(({ row, before }) => updatedEventOf(row, before, 'message')),
      ],
      statements,
    );
  }
  const { touched } = changes;
  if (touched.length === 0) return read;
  const written = await statements.query<{ id: string; isReopened: boolean }>(TOUCH, [JSON.stringify(touched)]);
  if (written.length < touched.length) throw new ConversationMovedError();
  const reopened = new Set(written.filter(({ isReopened }) => isReopened).map(({ id }) => id));
  await announce(
    touched.filter(({ id }) => reopened.has(id)).map((row) => updatedEventOf(row, { ...row, closed: true }, 'message')),
    statements,
  );
  return read;
}

/**
 * Reads rows locked against other transactions until this one ends, since windows change without the connection's lock.
 */
async function lockAndRead(
  observations: readonly ContactObservation[],
  keys: string,
  firstRead: readonly ConversationRecord[],
  statements: Statements,
): Promise<ConversationRecord[]> {
  await statements.query(LOCK_CONNECTIONS, [observations.map((observation) => observation.connectionId)]);
  const locked = new Set<string>();
  let found = firstRead.map((row) => row.id);
  for (;;) {
    const unlocked = found.filter((id) => !locked.has(id));
    if (unlocked.length > 0) {
      await statements.query('select 1 from conversation where id = any($1) order by id for no key update', [unlocked]);
      for (const id of unlocked) locked.add(id);
    }
    const rows = await statements.query<ConversationRecord>(READ, [keys]);
    if (rows.every((row) => locked.has(row.id))) return rows;
    found = rows.map((row) => row.id);
  }
}

async function writeIdentities(changes: BookChanges, aliases: AliasChanges, statements: Statements): Promise<void> {
  if (changes.merged.length > 0) await statements.query(MERGE, [JSON.stringify(changes.merged)]);
  if (changes.released.length > 0) {
    await statements.query('update conversation set phone = null, wa_id = null, user_id = null where id = any($1)', [
      changes.released,
    ]);
  }
  if (changes.identified.length > 0) await statements.query(IDENTIFY, [JSON.stringify(changes.identified)]);
  if (changes.created.length > 0) await statements.query(CREATE, [JSON.stringify(changes.created)]);
  const { replaced, restored } = aliases;
  if (restored.length > 0) await statements.query(RESTORE, [JSON.stringify(restored)]);
  if (replaced.length > 0) await statements.query(REPLACE, [JSON.stringify(replaced)]);
  const known = changes.identified.filter(({ userId, phone, waId }) => userId !== null && (phone ?? waId) !== null);
  const joined = new Set([...known.map(({ id }) => id), ...replaced.map(({ conversationId }) => conversationId)]);
  if (joined.size > 0) await joinLanes([...joined], statements);
}

async function announce(events: readonly object[], statements: Statements): Promise<void> {
  if (events.length > 0) await statements.query(ANNOUNCE, [JSON.stringify(events)]);
}

/** A new text without a person clears the person; a new person without a text clears the text. */
function keptOf(before: Kept, { closed = before.closed, assignee, assigneeId }: Partial<Kept>): Kept {
  if (assigneeId === undefined) {
    const isSame = assignee === undefined || assignee === before.assignee;
    return { closed, assignee: isSame ? before.assignee : assignee, assigneeId: isSame ? before.assigneeId : null };
  }
  if (assignee !== undefined) return { closed, assignee, assigneeId };
  return { closed, assignee: before.assigneeId === assigneeId ? before.assignee : null, assigneeId };
}

/** The fields about the conversation in each of its events. */
function subjectOf(row: ConversationRecord): object {
  return {
    conversation_id: row.id,
    connection_id: row.connectionId,
    contact: { phone: row.waId ?? row.phone, user_id: row.userId, name: row.profileName },
  };
}

/** The event `conversation.updated`. */
function updatedEventOf(row: ConversationRecord, before: Kept, cause: 'request' | 'message'): object {
  const at = databaseClock.date();
  return {
    type: 'conversation.updated',
    organizationId: row.organizationId,
    connectionId: row.connectionId,
    at,
    data: {
      ...subjectOf(row),
      closed: row.closed,
      assignee: row.assignee,
      assignee_id: row.assigneeId,
      previous_closed: before.closed,
      previous_assignee: before.assignee,
      previous_assignee_id: before.assigneeId,
      cause,
      occurred_at: at.toISOString(),
    },
  };
}

/** The event `conversation.control.updated`. */
function controlEventOf({ row, before, said }: ReturnType<ContactResolver['ownerChanges']>[number]): object {
  const { owner, role } = ownerOf(row);
  const was = before === null ? null : ownerOf(before);
  const by = said?.at === row.handoverAt ? said : null;
  const at = ownerSince(row) ?? databaseClock.date();
  return {
    type: 'conversation.control.updated',
    organizationId: row.organizationId,
    connectionId: row.connectionId,
    at,
    data: {
      ...subjectOf(row),
      owner,
      owner_role: role,
      previous_owner: was?.owner ?? 'unknown',
      previous_owner_role: was?.role ?? null,
      note: by?.note ?? null,
      context: by?.context ?? null,
      occurred_at: at.toISOString(),
    },
  };
}

/** Has the code of a serialization failure, so that the transaction is repeated and finds the present row. */
class ConversationMovedError extends Error {
  readonly code = '40001';

  constructor() {
    super('a conversation was merged into another one, or made, meanwhile');
  }
}

function enterAll(
  observations: readonly ContactObservation[],
  rows: readonly ConversationRecord[],
): { ids: (string | null)[]; book: ContactResolver } {
  const book = new ContactResolver(rows, newId);
  const found = observations.map((observation) => book.see(observation));
  return { ids: found.map((entry) => entry?.id() ?? null), book };
}

/** SELECT list for conversations of the relation `c`. */
const COLUMNS = camelColumns(
  'c',
  `id, organization_id, connection_id, phone, wa_id, user_id, profile_name, last_inbound_at, merged_into, created_at,
    standby_at, handover_at, handover_to, handover_role, closed, assignee, assignee_id`,
);

const BY_NUMBER = `
select ${COLUMNS}, 1 as preference from conversation c where c.connection_id = $1 and c.phone = $2
union all
select ${COLUMNS}, 2 from conversation c where c.connection_id = $1 and c.wa_id = $2
order by preference limit 1`;

const BY_USER_ID = `select ${COLUMNS} from conversation c where c.connection_id = $1 and c.user_id = $2`;

const WINDOWS = `
select r.connection_id as "connectionId", r.recipient, found.id as "conversationId", found.last_inbound_at as "lastInboundAt"
from unnest($1::uuid[], $2::text[]) as r (connection_id, recipient) cross join lateral (
  select c.id, c.last_inbound_at, 1 as preference from conversation c
  where c.connection_id = r.connection_id and c.phone = r.recipient
  union all
  select c.id, c.last_inbound_at, 2 from conversation c where c.connection_id = r.connection_id and c.wa_id = r.recipient
  union all
  select c.id, c.last_inbound_at, 3 from conversation c where c.connection_id = r.connection_id and c.user_id = r.recipient
  order by preference limit 1) as found
where found.last_inbound_at is not null`;

const ADDRESS = `
select s.connection_id as "connectionId", coalesce(s.phone, s.wa_id, s.user_id) as recipient
from conversation c join conversation s on s.id = coalesce(c.merged_into, c.id) and s.organization_id = $1
where c.organization_id = $1 and c.id = $2 and coalesce(s.phone, s.wa_id, s.user_id) is not null`;

const LOCK_ONE = `
select ${COLUMNS} from conversation c
where c.organization_id = $1 and coalesce(c.phone, c.wa_id, c.user_id) is not null
  and c.id = (select coalesce(k.merged_into, k.id) from conversation k where k.organization_id = $1 and k.id = $2)
for no key update of c`;

const CONNECTIONS = `
select id, connection_id as "connectionId", organization_id as "organizationId" from conversation
where id = any($1::uuid[])`;

const ROW = `${COLUMNS}, (
    select jsonb_agg(jsonb_build_object('name', a.name, 'at', (extract(epoch from a.replaced_at) * 1000)::float8) order by a.name)
    from conversation_alias a where a.conversation_id = c.id
      or a.conversation_id in (select g.id from conversation g where g.merged_into = c.id)) as previous`;

const BY_FORMER_NAME = `
select ${ROW} from conversation_alias f join conversation k on k.id = f.conversation_id
join conversation c on c.id = coalesce(k.merged_into, k.id)
where f.connection_id = $1 and f.name = $2 order by f.replaced_at desc limit 1`;

// The rows that have, or had, one of the identities; also the conversations that are given by id, and those that they
// were merged into.
const READ = `
with observation as (
  select * from json_to_recordset($1) as s ("connectionId" uuid, "conversationId" uuid, phone text, "waId" text,
    "userId" text, replacement json)
), number as (
  select "connectionId", phone as value from observation where phone is not null
  union select "connectionId", "waId" from observation where "waId" is not null
  union select "connectionId", replacement ->> 'waId' from observation where replacement ->> 'waId' is not null
), user_id as (
  select "connectionId", "userId" as value from observation where "userId" is not null
  union select "connectionId", replacement ->> 'userId' from observation where replacement ->> 'userId' is not null
), name as (
  select * from number union all select * from user_id
)
select ${ROW}
from number n join conversation c on c.connection_id = n."connectionId" and c.phone = n.value
union
select ${ROW}
from number n join conversation c on c.connection_id = n."connectionId" and c.wa_id = n.value
union
select ${ROW}
from user_id n join conversation c on c.connection_id = n."connectionId" and c.user_id = n.value
union
select ${ROW}
from observation s join conversation k on k.id = s."conversationId" join conversation c on c.id in (k.id, k.merged_into)
union
select ${ROW}
from name n join conversation_alias a on a.connection_id = n."connectionId" and a.name = n.value
join conversation k on k.id = a.conversation_id join conversation c on c.id in (k.id, k.merged_into)`;

const RESTORE = `
delete from conversation_alias a using json_to_recordset($1) as r ("conversationId" uuid, name text)
where a.name = r.name and a.conversation_id in (
  select c.id from conversation c where r."conversationId" in (c.id, c.merged_into))`;

const REPLACE = `
insert into conversation_alias (organization_id, connection_id, conversation_id, name, replaced_at)
select "organizationId", "connectionId", "conversationId", name, at
from json_to_recordset($1) as r ("organizationId" uuid, "connectionId" uuid, "conversationId" uuid, name text, at timestamptz)
on conflict (connection_id, name, conversation_id) do update set replaced_at = greatest(conversation_alias.replaced_at,
  excluded.replaced_at)`;

// Every transaction locks connections in the same order, so that two batches never deadlock. The first number of a lock
// is the class of these locks.
const LOCK_CONNECTIONS = `
select pg_advisory_xact_lock(720411, lock) from (
  select distinct hashtext(id::text) as lock from unnest($1::uuid[]) as id order by lock) as ordered`;

const MERGE = `
update conversation c set merged_into = m."into"
from json_to_recordset($1) as m (id uuid, "into" uuid)
where c.id = m.id or c.merged_into = m.id`;

const RECORD = `(id uuid, "organizationId" uuid, "connectionId" uuid, phone text, "waId" text, "userId" text,
  "profileName" text, "lastInboundAt" timestamptz, "standbyAt" timestamptz, "handoverAt" timestamptz, "handoverTo" text,
  "handoverRole" text, closed boolean, assignee text, "assigneeId" uuid, wrote boolean)`;

// LEAST ignores nulls: without the CASE a row without a window would get one.
const notLater = (column: string): string =>
  `case when r."${column}" is not null then least(r."${column}", clock_timestamp()) end`;
const WINDOW = notLater('lastInboundAt');

const IDENTIFY = `
update conversation c set phone = r.phone, wa_id = r."waId", user_id = r."userId", profile_name = r."profileName",
  last_inbound_at = greatest(c.last_inbound_at, ${WINDOW}), standby_at = ${notLater('standbyAt')},
  handover_at = ${notLater('handoverAt')}, handover_to = r."handoverTo", handover_role = r."handoverRole",
  closed = r.closed, assignee = r.assignee, assignee_id = r."assigneeId"
from json_to_recordset($1) as r ${RECORD}
where c.id = r.id and c.organization_id = r."organizationId"`;

const CREATE = `
insert into conversation (id, organization_id, connection_id, phone, wa_id, user_id, profile_name, last_inbound_at,
  standby_at, handover_at, handover_to, handover_role)
select r.id, r."organizationId", r."connectionId", r.phone, r."waId", r."userId", r."profileName", ${WINDOW},
  ${notLater('standbyAt')}, ${notLater('handoverAt')}, r."handoverTo", r."handoverRole"
from json_to_recordset($1) as r ${RECORD}
order by r."connectionId", r.phone`;

// In a row with routing, a message may change the owner, which needs the row's lock: see `isRouted`. A row closed since
// it was read is still opened.
const TOUCH = `
with locked as (
  select c.id, c.closed from conversation c join json_to_recordset($1) as r (id uuid) on r.id = c.id
  where c.merged_into is null and c.standby_at is null and c.handover_at is null order by c.id for no key update of c
)
update conversation c set profile_name = r."profileName",
  last_inbound_at = greatest(c.last_inbound_at, ${WINDOW}), closed = locked.closed and r.wrote is not true
from json_to_recordset($1) as r ${RECORD} join locked on locked.id = r.id
where c.id = r.id
returning c.id, locked.closed and r.wrote is true as "isReopened"`;

const ANNOUNCE = `
with ${insertWebhookEvents(`(
  select e."organizationId" as organization_id, e.type as event_type,
    e.at as occurred_at, null::bytea as trace_context, array[e."connectionId"] as connection_ids, e.data as event_data
  from json_to_recordset($1) as e (type text, "organizationId" uuid, "connectionId" uuid, at timestamptz, data jsonb))`)}
select 1`;
