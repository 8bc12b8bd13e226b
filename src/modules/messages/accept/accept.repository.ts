import { Injectable } from '@nestjs/common';
import type { AppError } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { newId } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { camelColumns } from '../../../infrastructure/database/camel-columns.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { withPartitions } from '../../../infrastructure/database/partitions.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { type TraceContext, Tracing } from '../../../infrastructure/operations/tracing.js';
import { LimitBook, limitReached } from '../../billing/limits.service.js';
import { previousOf, type ReplacedRecipient } from '../../conversations/conversations.types.js';
import { recipientKey } from '../../message-state/recipient-key.types.js';
import { COUNT_COLUMNS } from '../../message-state/tag-counts.types.js';
import { type OptOutFound, optOutOf } from '../../opt-outs/opt-outs.types.js';
import { countedMessages } from './counted-messages.js';
import type { MessageInput } from './message-input.js';
import { WINDOW_MS } from '../../conversations/windows/windows.types.js';

/** A validated message that is not stored yet. */
export interface NewMessage extends MessageInput {
  id: string;
  organizationId: string;
  conversationId: string | null;
  /**
   * Set where the conversation is not known. `window`: a conversation with an open window is required; `contact`: a
   * missing conversation is created.
   */
  lookUp?: 'window' | 'contact' | null;
  /** The user id that the message is addressed to, if any. */
  recipientUserId?: string | null;
  sender: string;
  idempotencyKey: string;
  /** SHA-256 of the request's meaning (`fingerprintOf`), hexadecimal. */
  fingerprint: string;
  /** The trace of the request, where traces are recorded. */
  traceContext?: TraceContext | undefined;
}

/**
 * `inserted`: this call stored the message. `known`: the key belongs to an earlier message with this `fingerprint`. In
 * all other cases nothing was stored and the key stays free: the contact's window is not open, the contact opted out,
 * the contact gave up this number or user id and no new one is known, or (`limited`) a limit of the workspace is
 * reached.
 */
export interface Accepted {
  kind: 'inserted' | 'known' | 'window_closed' | 'opted_out' | 'replaced' | 'limited';
  messageId: string;
  fingerprint: string;
  /** The conversation whose window was looked up, if there is one. */
  conversationId?: string | null;
  lastInboundAt?: Date | null;
  optOut?: OptOutFound;
  replaced?: ReplacedRecipient;
  /** The error to answer with where a limit is reached. */
  limitError?: AppError;
}

/** Messages of one caller that are stored in one transaction. */
interface NewGroup {
  messages: readonly NewMessage[];
  requireAll: boolean;
}

/** Callers that share batches: of all workspaces without limits, or of one with limits, whose lock delays no other. */
interface Queue {
  batches: GroupCommit<NewMessage, Accepted>;
  groups: GroupCommit<NewGroup, Accepted[]>;
  /** Messages in waiting groups. */
  grouped: number;
  callers: number;
}

/** The error for a group that was required as a whole: not every message could be stored, so none was. */
export class GroupRefused extends Error {
  constructor(
    /** One result per message, in the same order. A message that is `inserted` here was rolled back. */
    readonly results: readonly Accepted[],
  ) {
    super('not all messages could be stored');
  }
}

/** A message that was not inserted, or whose conversation was looked up. Messages without such a row were inserted. */
interface StoredRow {
  id: string;
  isInserted: boolean;
  conversationId: string | null;
  lastInboundAt: Date | null;
  optOut: OptOutFound | null;
  replaced: (Omit<ReplacedRecipient, 'previous'> & { names: string[] }) | null;
}

/** Limit of the messages in all groups that wait in one queue. It is the same as the limit of a `GroupCommit`. */
const MAX_GROUPED = 2_000;
const WITHOUT_LIMITS = '';
/** A batch in flight counts as blocked after this time, in which a usual disk makes several commits. */
const OVERLAP_AFTER_MS = 25;

interface KeyRow {
  organizationId: string;
  key: string;
  messageId: string;
  fingerprint: string;
}

/** Makes accepted messages durable. One statement serves many callers. */
@Injectable()
export class AcceptRepository {
  /** The queues by workspace. The queue of a workspace with limits is removed with its last caller. */
  private readonly queues = new Map<string, Queue>();

  constructor(
    private readonly database: Database,
    private readonly tracing: Tracing,
    private readonly config: Config,
  ) {}

  /**
   * Stores a message. Resolves once this message, or the earlier message with the same key, is durable.
   *
   * @param limited whether the workspace has limits; they are checked and counted in the same transaction.
   * @throws SERVICE_UNAVAILABLE (503) when the queue of waiting callers is full or the commit's outcome is unknown.
   */
  async accept(message: NewMessage, limited = false): Promise<Accepted> {
    return this.inQueue(message.organizationId, limited, async ({ batches }) => {
      const accepted = await batches.submit(message, false, this.tracing.current);
      const again = readdressed(message, accepted);
      return again === null ? accepted : ofFormerName(await batches.submit(again, false, this.tracing.current));
    });
  }

  /**
   * Stores messages with different keys in one transaction. Messages to one recipient are sent in the order given.
   *
   * @param requireAll either all messages are stored, or none.
   * @returns one result per message, in the same order.
   * @throws GroupRefused where all are required and one is neither new nor known from the same fingerprint;
   * SERVICE_UNAVAILABLE (503) like `accept`.
   */
  async acceptTogether(messages: readonly NewMessage[], requireAll: boolean, limited = false): Promise<Accepted[]> {
    return this.inQueue(messages[0]?.organizationId ?? '', limited, async (queue) => {
      if (queue.grouped + messages.length > MAX_GROUPED) {
        throw commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: 'accept_group: too many waiting' });
      }
      queue.grouped += messages.length;
      try {
        return await this.acceptGroup(queue.groups, { messages, requireAll });
      } finally {
        queue.grouped -= messages.length;
      }
    });
  }

  private async acceptGroup(groups: Queue['groups'], { messages, requireAll }: NewGroup): Promise<Accepted[]> {
    const submit = (some: readonly NewMessage[]) =>
      groups.submit({ requireAll, messages: some }, false, this.tracing.current);
    let results: readonly Accepted[];
    try {
      results = await submit(messages);
    } catch (error) {
      if (!(error instanceof GroupRefused)) throw error;
      const again = messages.map((message, index) => readdressed(message, error.results[index]));
      if (again.every((message) => message === null)) throw error;
      const all = await submit(messages.map((message, index) => again[index] ?? message));
      return all.map((result, index) => (again[index] ? ofFormerName(result) : result));
    }
    const again = new Map(
      messages.flatMap((message, index) => {
        const next = readdressed(message, results[index]);
        return next === null ? [] : [[index, next] as const];
      }),
    );
    if (again.size === 0) return [...results];
    const later = (await submit([...again.values()])).map(ofFormerName).values();
    return results.map((result, index) => (again.has(index) ? (later.next().value ?? result) : result));
  }

  /** Resolves when no caller waits. */
  async idle(): Promise<void> {
    await Promise.all([...this.queues.values()].flatMap(({ batches, groups }) => [batches.idle(), groups.idle()]));
  }

  /** The messages that have these keys, by key. Unused keys are left out. */
  async findByKeys(organizationId: string, idempotencyKeys: readonly string[]): Promise<Map<string, Accepted>> {
    const rows = await this.database.query<KeyRow>(
      `select ${KEY_COLUMNS} from idempotency_key k join message m on m.id = k.message_id
       where k.organization_id = $1 and k.key = any($2::uuid[])`,
      [organizationId, idempotencyKeys],
    );
    return new Map(rows.map(({ key, messageId, fingerprint }) => [key, { kind: 'known', messageId, fingerprint }]));
  }

  private async inQueue<T>(organizationId: string, limited: boolean, work: (queue: Queue) => Promise<T>): Promise<T> {
    const key = limited ? organizationId : WITHOUT_LIMITS;
    const queue = this.queues.get(key) ?? this.newQueue(limited);
    this.queues.set(key, queue);
    queue.callers++;
    try {
      return await withPartitions(this.database, 'message_content', 'month', () => work(queue));
    } finally {
      if (--queue.callers === 0 && limited) this.queues.delete(key);
    }
  }

  /** A workspace with limits has one batch in flight: a second would hold a connection while it waits for the lock. */
  private newQueue(limited: boolean): Queue {
    const { database, tracing } = this;
    const commit = (messages: readonly NewMessage[], statements: Statements): Promise<Accepted[]> =>
      limited ? this.commitLimited(messages, statements) : this.commit(messages, statements);
    const single = limited
      ? { name: 'accept_limited', maxInFlight: 1 }
      : { name: 'accept', transactional: false, overlapAfterMs: OVERLAP_AFTER_MS };
    return {
      batches: new GroupCommit(database, { ...single, maxBatch: 250, tracing, commit }),
      groups: new GroupCommit(database, {
        name: 'accept_group',
        // A group is rolled back as a whole, so it shares its transaction with no other.
        maxBatch: 1,
        ...(limited && { maxInFlight: 1 }),
        tracing,
        commit: (groups, statements) =>
          Promise.all(
            groups.map(async ({ messages, requireAll }) =>
              asGroup(messages, requireAll, await commit(messages, statements)),
            ),
          ),
      }),
      grouped: 0,
      callers: 0,
    };
  }

  /**
   * Stores messages like `commit`, for workspaces with limits: locks their limits first. A message that is not stored,
   * and one with a repeated key, takes nothing from the limits: the next messages get it.
   */
  private async commitLimited(messages: readonly NewMessage[], statements: Statements): Promise<Accepted[]> {
    let open = await countedMessages(messages, statements);
    const book = await LimitBook.open(open, statements);
    const results = new Map<string, Accepted>();
    for (;;) {
      const { fit, over } = book.split(open);
      open = over;
      if (fit.length === 0) break;
      const made = await this.commit(fit, statements);
      fit.forEach((message, index) => {
        const result = made[index] as Accepted;
        results.set(message.id, result);
        if (result.kind === 'inserted') book.take(message);
      });
      if (over.length === 0) break;
    }
    const known = open.length === 0 ? new Map<string, KeyRow>() : await this.readKnown(open, statements);
    for (const message of open) {
      const { id, organizationId, idempotencyKey, fingerprint } = message;
      const first = known.get(keyOf(organizationId, idempotencyKey));
      const state = book.refusalOf(message);
      if (first === undefined && state === null) throw new Error('a message without room met no limit');
      results.set(
        id,
        first === undefined
          ? { kind: 'limited', messageId: id, fingerprint, ...(state && { limitError: limitReached(state) }) }
          : { kind: 'known', messageId: first.messageId, fingerprint: first.fingerprint },
      );
    }
    await book.write();
    return messages.map(({ id }) => results.get(id) as Accepted);
  }

  private async commit(messages: readonly NewMessage[], statements: Statements): Promise<Accepted[]> {
    // One row per key, in the order of the index, so that batches with common keys never deadlock. Ids ascend, so
    // messages enter the queue in the order in which they were created.
    const sorted = [...messages].sort(inKeyOrder);
    const rows = sorted.filter((message, index) => {
      const before = sorted[index - 1];
      return before === undefined || inKeyOrder(before, message) !== 0;
    });
    const found = await this.insert(rows, statements);
    if (found.length === 0 && rows.length === messages.length) return messages.map((message) => resultOf(message));
    const byKey = new Map(rows.map((row) => [keyOf(row.organizationId, row.idempotencyKey), row]));
    const stored = new Map(found.map((row) => [row.id, row]));
    const missing = rows.filter(({ id }) => stored.get(id)?.isInserted === false);
    const known = missing.length === 0 ? new Map<string, KeyRow>() : await this.readKnown(missing, statements);
    // Another transaction created the contact meanwhile: a new statement sees it.
    const passed = missing.filter(
      (message) =>
        message.lookUp === 'contact' &&
        stored.get(message.id)?.optOut === null &&
        stored.get(message.id)?.replaced === null &&
        stored.get(message.id)?.conversationId === null &&
        !known.has(keyOf(message.organizationId, message.idempotencyKey)),
    );
    const again = passed.length === 0 ? [] : await this.commit(passed, statements);
    const later = new Map(passed.map(({ id }, index) => [id, again[index]]));
    return messages.map((message) => {
      const key = keyOf(message.organizationId, message.idempotencyKey);
      const first = byKey.get(key) ?? message;
      const result = later.get(first.id) ?? resultOf(first, stored.get(first.id), known.get(key));
      return result.kind === 'inserted' && first !== message ? { ...result, kind: 'known' } : result;
    });
  }

  private insert(rows: NewMessage[], statements: Statements): Promise<StoredRow[]> {
    const statement = rows.some(({ tag }) => tag !== undefined) ? INSERT_TAGGED : INSERT_MESSAGES;
    return statements.query<StoredRow>(statement, [
      JSON.stringify(withNewConversations(rows)),
      this.config.limits.messageTtlHours,
    ]);
  }

  /** A separate statement, because the snapshot of the INSERT does not include the row that it conflicted with. */
  private async readKnown(rows: NewMessage[], statements: Statements): Promise<Map<string, KeyRow>> {
    const found = await statements.query<KeyRow>(
      `select ${KEY_COLUMNS} from unnest($1::uuid[], $2::uuid[]) as asked (organization_id, key)
       join idempotency_key k using (organization_id, key) join message m on m.id = k.message_id`,
      [rows.map((row) => row.organizationId), rows.map((row) => row.idempotencyKey)],
    );
    return new Map(found.map((row) => [keyOf(row.organizationId, row.key), row]));
  }
}

/** @throws GroupRefused where all are required and one is not. */
function asGroup(messages: readonly NewMessage[], requireAll: boolean, results: Accepted[]): Accepted[] {
  const isKept = ({ kind, fingerprint }: Accepted, index: number): boolean =>
    kind === 'inserted' || (kind === 'known' && fingerprint === messages[index]?.fingerprint);
  if (requireAll && !results.every(isKept)) throw new GroupRefused(results);
  return results;
}

/** Adds an id for a conversation that may have to be created: the same id for all messages to one contact. */
function withNewConversations(messages: readonly NewMessage[]): object[] {
  const ids = new Map<string, string>();
  return messages.map((message) => {
    if (message.lookUp !== 'contact') return message;
    const contact = `${message.connectionId}/${message.recipient}`;
    const newConversationId = ids.get(contact) ?? newId();
    ids.set(contact, newConversationId);
    return { ...message, newConversationId };
  });
}

/** @param stored undefined where the message was inserted and no conversation was looked up. */
function resultOf(message: NewMessage, stored?: StoredRow, known?: KeyRow): Accepted {
  const { id: messageId, fingerprint } = message;
  if (stored === undefined) return { kind: 'inserted', messageId, fingerprint };
  if (stored.isInserted) {
    const { conversationId, lastInboundAt } = stored;
    const lookedUp = message.lookUp === 'window' ? { conversationId, lastInboundAt } : {};
    return { kind: 'inserted', messageId, fingerprint, ...lookedUp };
  }
  if (known !== undefined) {
    // The key can be this message's own: if a batch runs out of time after its INSERT, it is tried again.
    const { messageId: first } = known;
    return { kind: first === messageId ? 'inserted' : 'known', messageId: first, fingerprint: known.fingerprint };
  }
  if (stored.optOut !== null) return { kind: 'opted_out', messageId, fingerprint, optOut: stored.optOut };
  if (stored.replaced !== null) {
    const { names, ...replaced } = stored.replaced;
    return { kind: 'replaced', messageId, fingerprint, replaced: { ...replaced, previous: previousOf(names) } };
  }
  if (message.lookUp !== 'window') throw new Error('a key that conflicted has no row');
  return { kind: 'window_closed', messageId, fingerprint, lastInboundAt: stored.lastInboundAt };
}

/** The message, addressed to the contact's new phone or user id. Null where there is none, or it is not known. */
function readdressed(message: NewMessage, accepted: Accepted | undefined): NewMessage | null {
  if (accepted?.replaced === undefined) return null;
  const { phone, userId } = accepted.replaced;
  const recipient = phone ?? userId;
  if (recipient === null) return null;
  const toUserId = phone === null || (message.recipientUserId ?? null) !== null ? userId : null;
  return { ...message, recipient: toUserId ?? recipient, recipientUserId: toUserId };
}

/** The result without its conversation: callers would remember it for a recipient that no contact has now. */
function ofFormerName(accepted: Accepted): Accepted {
  return { ...accepted, conversationId: null };
}

function inKeyOrder(a: NewMessage, b: NewMessage): number {
  return compare(a.organizationId, b.organizationId) || compare(a.idempotencyKey, b.idempotencyKey);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function keyOf(organizationId: string, idempotencyKey: string): string {
  return `${organizationId}/${idempotencyKey}`;
}

const KEY_COLUMNS = `${camelColumns('k', 'organization_id, key, message_id')}, encode(m.fingerprint, 'hex') as fingerprint`;

/** SQL: the conversation with the message's recipient, found as `ConversationsRepository.findByRecipient` does. */
const FOUND = `case when i."recipientUserId" is null then coalesce(
    (select c.id from conversation c where c.connection_id = i."connectionId" and c.phone = i.recipient),
    (select c.id from conversation c where c.connection_id = i."connectionId" and c.wa_id = i.recipient))
  else (select c.id from conversation c where c.connection_id = i."connectionId" and c.user_id = i."recipientUserId") end`;

const OPT_OUT = optOutOf({
  organizationId: 'i."organizationId"',
  connectionId: 'i."connectionId"',
  recipient: 'i.recipient',
  conversationId: 'f.found_id',
  isMarketing: `i."templateCategory" = 'MARKETING'`,
});

/** SQL: the contact who formerly had the message's phone or user id. Read only where no contact has it now. */
const REPLACED = `case when f.found_id is null and i."lookUp" is not null then (
    select json_build_object('conversationId', c.id, 'phone', coalesce(c.phone, c.wa_id), 'userId', c.user_id,
      'names', (select json_agg(distinct n.name) from conversation g join conversation_alias n on n.conversation_id = g.id
        where c.id in (g.id, g.merged_into)))
    from conversation_alias a join conversation k on k.id = a.conversation_id
    join conversation c on c.id = coalesce(k.merged_into, k.id)
    where a.connection_id = i."connectionId" and a.name = coalesce(i."recipientUserId", i.recipient)
    order by a.replaced_at desc limit 1) end`;

/**
 * SQL: stores messages. $1: the messages as JSON, with the fields of `NewMessage` and an id for a conversation that may
 * be created; $2: the time to live in hours of messages without one. Conversations are created before keys, both in the
 * order of their indexes, so batches never deadlock. A message is new if its key is new.
 */
const insertMessages = (more: string): string => `
with given as materialized (
  select i.*, now.at, f.found_id, ${REPLACED} as replaced, ${OPT_OUT} as opt_out
  from json_to_recordset($1) as i (id uuid, "organizationId" uuid, "connectionId" uuid, "conversationId" uuid,
    "lookUp" text, "newConversationId" uuid, type text, recipient text, "recipientUserId" text, sender text, body text,
    content jsonb, "clientMessageId" text, tag text, metadata jsonb, "replyToMessageId" uuid, "mediaObjectId" uuid, "idempotencyKey" uuid,
    fingerprint text, "sendAt" timestamptz, "ttlSeconds" integer, "traceContext" text, "templateCategory" text)
  cross join (select clock_timestamp() as at) as now
  cross join lateral (select case when i."lookUp" is null then i."conversationId" else ${FOUND} end as found_id) as f
), made as (
  insert into conversation (id, organization_id, connection_id, phone, user_id)
  select distinct on ("connectionId", recipient) "newConversationId", "organizationId", "connectionId",
    case when "recipientUserId" is null then recipient end, "recipientUserId"
  from given where found_id is null and "lookUp" = 'contact' and opt_out is null and replaced is null
  order by "connectionId", recipient
  on conflict do nothing
  returning id
), accepted as materialized (
  select g.*, ${recipientKey('g', '"recipientUserId"', 'found_id', '"organizationId"')} as recipient_key,
    coalesce(g.found_id, case when g."newConversationId" in (select id from made) then g."newConversationId" end)
      as conversation_id,
    case when g."lookUp" = 'window' then (select c.last_inbound_at from conversation c where c.id = g.found_id) end
      as last_inbound_at
  from given g
), keyed as (
  insert into idempotency_key (organization_id, key, message_id)
  select "organizationId", "idempotencyKey", id from accepted
  where opt_out is null and replaced is null and case "lookUp" when 'window' then last_inbound_at > at - interval '${WINDOW_MS} ms'
    when 'contact' then conversation_id is not null else true end
  on conflict do nothing
  returning message_id as id
), fresh as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient,
    recipient_user_id, sender, client_message_id, tag, metadata, reply_to_message_id, media_object_id, fingerprint,
    send_at, ttl_seconds, trace_context, created_at)
  select id, "organizationId", "connectionId", conversation_id, 'outbound', type, recipient_key, "recipientUserId", sender,
    "clientMessageId", tag, metadata, "replyToMessageId", "mediaObjectId", decode(fingerprint, 'hex'),
    "sendAt", "ttlSeconds", decode("traceContext", 'hex'), date_trunc('milliseconds', at)
  from accepted join keyed using (id)
  returning id, created_at
), contents as (
  insert into message_content (message_id, body, content)
  select id, body, content from accepted join fresh using (id)
), stated as (
  insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, queued_at)
  select id, "organizationId", "connectionId", conversation_id, created_at, at from accepted join fresh using (id) order by id
), waiting as (
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient, queued_at,
    held_until, scheduled_for, tag, expires_at)
  select "connectionId", created_at, id, "organizationId", conversation_id, recipient_key,
    case when "sendAt" is null then at else created_at end, "sendAt", "sendAt", tag,
    coalesce("sendAt", at) + coalesce(make_interval(secs => "ttlSeconds"), make_interval(hours => $2::integer))
  from accepted join fresh using (id)
  order by id
)${more}
select a.id, f.id is not null as "isInserted", case when a."lookUp" is not null then a.conversation_id end
  as "conversationId", a.last_inbound_at as "lastInboundAt", a.opt_out as "optOut", a.replaced
from accepted a left join fresh f using (id)
where f.id is null or a."lookUp" is not null`;

export const INSERT_MESSAGES: Prepared = { name: 'message_accept', text: insertMessages('') };

// For messages with a tag. Statements that create the same new tag wait for each other; existing tags cause no wait.
export const INSERT_TAGGED: Prepared = {
  name: 'message_accept_tagged',
  text: insertMessages(`, tagged as (
  insert into message_tag (organization_id, tag)
  select distinct "organizationId", tag from accepted join fresh using (id) where tag is not null order by "organizationId", tag
  on conflict do nothing
), counted as (
  insert into message_tag_count (${COUNT_COLUMNS}, last_scheduled_for, first_at)
  select "organizationId", tag, "connectionId", 'queued', null, count(*), count("sendAt"), max(at), max("sendAt"), min(created_at)
  from accepted join fresh using (id) where tag is not null group by 1, 2, 3
)`),
};
