import { Injectable } from '@nestjs/common';
import { camelColumns } from '../../infrastructure/database/camel-columns.js';
import { Database } from '../../infrastructure/database/database.js';
import { changesTo } from '../message-state/message-changes.types.js';
import {
  HELD_BY_TIME,
  attemptOf,
  messageJoins,
  MESSAGE_SELECT,
  messageOf,
  type AttemptRow,
  type MessageRow,
} from '../message-state/message-row.types.js';
import {
  type JournalPlace,
  type JournalQuery,
  MAX_SCANNED,
  type NamedContact,
  namedAtWhatsApp,
  pageOf,
  scanEndOf,
} from './journal/journal-page.js';
import { MessageRetryEntity } from './entities/message-retry.entity.js';
import type { OutboundStatus } from '../message-state/message-state.types.js';
import type { DetailedMessage, Message, MessageAct } from '../message-state/message.types.js';
import { FactsService } from '../message-state/facts.service.js';

/**
 * What marking a message as read needs. `metaMessageId` is null for a sent message, and where the contact was erased.
 */
type ReadableMessage = Pick<Message, 'id' | 'connectionId' | 'direction' | 'metaMessageId' | 'readAt'>;

export interface MessageMarks {
  /** The time that the caller gave; null for a message that was to be sent at once. */
  sendAt: Date | null;
  /** Retries, cancels, deletions and warnings, oldest first: at most the latest hundred. */
  acts: MessageAct[];
  /** The edits and revokes by the message's author, newest first: at most the latest hundred. */
  changes: { type: 'edit' | 'revoke'; at: Date }[];
  /** The content was removed by retention. */
  isCleared: boolean;
  /** All that named the contact was erased. */
  isErased: boolean;
  now: Date;
}

/** A `MessageAct` as read from JSON, where times are text. */
type ActRow = Omit<MessageAct, 'at' | 'queuedAt' | 'failedAt'> & {
  at: string;
  queuedAt: string | null;
  failedAt: string | null;
};

function actOf({ at, queuedAt, failedAt, ...row }: ActRow): MessageAct {
  const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text));
  return { ...row, at: new Date(at), queuedAt: timeOf(queuedAt), failedAt: timeOf(failedAt) };
}

const ATTEMPT_SHOWN = `number, status, started_at, finished_at, http_status, platform_code, platform_message,
  failure_category, meta_message_id, trace_id`;

/** See `MessagesRepository.barred`. */
export type Barred = 'erased' | 'accepted' | 'unknown';

export interface LastFailure {
  messageId: string;
  category: string;
  at: Date;
}

/** Reads messages and the journal (the messages of a workspace, newest first), and queues retries. */
@Injectable()
export class MessagesRepository {
  constructor(
    private readonly database: Database,
    private readonly facts: FactsService,
  ) {}

  async findById(organizationId: string, id: string): Promise<Message | null> {
    return (await this.findByIds(organizationId, [id]))[0] ?? null;
  }

  /** Those of these messages that belong to the workspace. */
  async findByIds(organizationId: string, ids: readonly string[]): Promise<Message[]> {
    const rows = await this.database.query<MessageRow>(
      `select ${MESSAGE_SELECT} from message m ${messageJoins()} where m.organization_id = $1 and m.id = any($2::uuid[])`,
      [organizationId, ids],
    );
    return rows.map(messageOf);
  }

  /**
   * A message with its send attempts, oldest first, at most the last hundred; null where the workspace has none. One
   * statement reads both, so that message and attempts agree even while the message changes.
   */
  async findWithAttempts(organizationId: string, id: string): Promise<DetailedMessage | null> {
    const row = await this.database.find<MessageRow & { attempts: AttemptRow[] }>(
      `select ${MESSAGE_SELECT}, (
         select coalesce(json_agg(a order by a.number), '[]') from (
           select ${camelColumns('a', ATTEMPT_SHOWN)}
           from message_attempt_view a where a.message_id = m.id and a.organization_id = m.organization_id
           order by a.number desc limit 100) as a) as attempts
       from message m ${messageJoins()} where m.organization_id = $1 and m.id = $2`,
      [organizationId, id],
    );
    return row && { ...messageOf(row), attempts: row.attempts.map(attemptOf) };
  }

  /** Further facts that a timeline needs; null where the workspace has no such message. */
  async findMarks(organizationId: string, id: string): Promise<MessageMarks | null> {
    // Unless it was erased, a message that the API sent has the fingerprint of its request, and any other has
    // WhatsApp's id.
    const marks = await this.database.find<
      Omit<MessageMarks, 'acts' | 'changes'> & { acts: ActRow[]; changes: { type: 'edit' | 'revoke'; at: string }[] }
    >(
      `select m.send_at as "sendAt", c.message_id is null as "isCleared", clock_timestamp() as now,
         case when m.direction = 'inbound' or m.source is not null then m.meta_message_id is null
           else m.fingerprint = '' end as "isErased",
         (select coalesce(json_agg(a order by a.at), '[]') from (
           select ${camelColumns('a', 'at, act, api_key_id, queued_at, failed_at, failure_category, error_code')}
           from message_act a where a.message_id = m.id order by a.at desc limit 100) as a) as acts,
         (select coalesce(json_agg(l), '[]') from ${changesTo('m')}) as changes
       from message m left join message_content c on c.message_id = m.id where m.organization_id = $1 and m.id = $2`,
      [organizationId, id],
    );
    return (
      marks && {
        ...marks,
        acts: marks.acts.map(actOf),
        changes: marks.changes.map(({ type, at }) => ({ type, at: new Date(at) })),
      }
    );
  }

  /** The oldest message that a page of the journal may read; null: no limit. */
  async scanEnd(query: JournalQuery): Promise<JournalPlace | null> {
    const contacts = await this.contactsOf(query);
    const params: unknown[] = [query.organizationId, MAX_SCANNED - 1];
    const end = scanEndOf(query, contacts, (value) => `$${params.push(value)}`);
    if (end === null) return null;
    const row = await this.database.find<{ id: string; created_at: Date | string }>(end, params);
    return row && { id: row.id, createdAt: new Date(row.created_at) };
  }

  /** One page of the journal, newest first. */
  async page(query: JournalQuery): Promise<Message[]> {
    const contacts = await this.contactsOf(query);
    const params: unknown[] = [query.organizationId, query.limit];
    const found = pageOf(query, contacts, (value) => `$${params.push(value)}`);
    if (found === null) return [];
    const rows = await this.database.query<MessageRow>(
      `select ${MESSAGE_SELECT} from ${found} ${messageJoins(query.status)} order by m.created_at desc, m.id desc`,
      params,
    );
    return rows.map(messageOf);
  }

  /**
   * Whether a message can be replied to: it belongs to the workspace and the contact's conversation, and has not
   * failed.
   */
  async canBeAnswered(organizationId: string, id: string, conversationId: string | null): Promise<boolean> {
    const found = await this.database.find(
      `select from message_view m left join conversation c on c.id = m.conversation_id
       where m.organization_id = $1 and m.id = $2 and m.status <> 'failed'
         and coalesce(c.merged_into, m.conversation_id) = coalesce((select merged_into from conversation where id = $3), $3)`,
      [organizationId, id, conversationId],
    );
    return found !== null;
  }

  /** The newest failed message in a conversation; null where none failed, or a later one was delivered or read. */
  async lastFailure(organizationId: string, conversationId: string): Promise<LastFailure | null> {
    return this.database.find<LastFailure>(LAST_FAILURE, [organizationId, conversationId]);
  }

  /**
   * Queues messages of one workspace again, behind the waiting messages of their recipients. The former attempts stay.
   *
   * @param retries `body`: the text that lists show, since a template's text may have changed.
   * @param apiKeyId the key of the request; absent for an action on a tag.
   * @returns the ids of the queued messages, in the given order. A message is left out if its status is not in `from`.
   */
  async retry(
    organizationId: string,
    retries: readonly { messageId: string; body: string | null }[],
    from: readonly OutboundStatus[],
    apiKeyId?: string,
  ): Promise<string[]> {
    const applied = await this.database.byIndex(() =>
      this.facts.apply(
        retries.map((each) => ({ kind: 'retry', from, apiKeyId, ...each })),
        this.database,
        { organizationId },
      ),
    );
    return retries.flatMap(({ messageId }, index) => (applied[index]?.result === 'recorded' ? [messageId] : []));
  }

  /**
   * Locks the states of messages, in the ambient transaction, and returns their statuses by id.
   *
   * @param free messages that another transaction has locked are left out.
   */
  async lock(organizationId: string, ids: readonly string[], free: boolean): Promise<Map<string, OutboundStatus>> {
    const rows = await this.database.query<{ id: string; status: OutboundStatus }>(
      `select message_id as id, status from message_state where organization_id = $1 and message_id = any($2::uuid[])
       order by message_id for update${free ? ' skip locked' : ''}`,
      [organizationId, ids],
    );
    return new Map(rows.map(({ id, status }) => [id, status]));
  }

  /**
   * Finds, for locked messages, a reason that may forbid a retry. `erased`: the contact was erased; `accepted`:
   * WhatsApp has accepted an attempt of which no failure is known; `unknown`: it is unknown whether WhatsApp has
   * accepted one. Messages without such a reason are left out.
   */
  async barred(organizationId: string, ids: readonly string[]): Promise<Map<string, Barred>> {
    const rows = await this.database.query<{ id: string; why: Barred }>(BARRED, [organizationId, ids]);
    return new Map(rows.map(({ id, why }) => [id, why]));
  }

  /** The message that a retry's key belongs to; null where the key is unused. */
  async findRetry(organizationId: string, idempotencyKey: string): Promise<string | null> {
    return (await this.retries.findOneBy({ organizationId, idempotencyKey }))?.messageId ?? null;
  }

  /** Stores a retry's key, in the retry's transaction. Returns false where the key is in use. */
  async insertRetry(organizationId: string, idempotencyKey: string, messageId: string): Promise<boolean> {
    const insert = this.retries.createQueryBuilder().insert().values({ organizationId, idempotencyKey, messageId });
    const { raw } = await insert.orIgnore().returning('message_id').execute();
    return (raw as unknown[]).length > 0;
  }

  /** The id of the number's message with this WhatsApp id; null where there is none. */
  async findIdAtPlatform(organizationId: string, connectionId: string, metaMessageId: string): Promise<string | null> {
    const params: unknown[] = [organizationId, connectionId];
    const named = namedAtWhatsApp(metaMessageId, (value) => `$${params.push(value)}`);
    const row = await this.database.find<{ id: string }>(
      `select m.id from ${named} m where m.connection_id = $2 limit 1`,
      params,
    );
    return row?.id ?? null;
  }

  /** The fields that marking a message as read needs; null where the workspace has no such message. */
  async findForReading(organizationId: string, id: string): Promise<ReadableMessage | null> {
    return this.database.find<ReadableMessage>(
      `select ${camelColumns('m', 'id, connection_id, direction')}, r.read_at as "readAt",
         case when m.direction = 'inbound' then m.meta_message_id end as "metaMessageId"
       from message m left join message_read r on r.message_id = m.id and r.organization_id = m.organization_id
       where m.organization_id = $1 and m.id = $2`,
      [organizationId, id],
    );
  }

  /** Records that WhatsApp marked a message as read. Returns the time of the first such record. */
  async markRead(organizationId: string, id: string): Promise<Date> {
    const { readAt } = await this.database.row<{ readAt: Date }>(
      `insert into message_read (organization_id, message_id) values ($1, $2)
       on conflict (message_id) do update set read_at = message_read.read_at returning read_at as "readAt"`,
      [organizationId, id],
    );
    return readAt;
  }

  /** Counts a workspace's queued messages, up to `limit`. */
  countQueued(organizationId: string, limit: number): Promise<number> {
    return this.database.byIndex(() => this.database.count(COUNT_QUEUED, [organizationId, limit]));
  }

  /** Counts a workspace's scheduled and paused messages, up to `limit`. */
  countScheduled(organizationId: string, limit: number): Promise<number> {
    return this.database.count(
      `select count(*)::integer as count from (
         select 1 from connection k cross join lateral (
           select 1 from message_queue q where q.connection_id = k.id and ${HELD_BY_TIME}
           order by q.connection_id, q.held_until limit $2) as one
         where k.organization_id = $1 limit $2) as scheduled`,
      [organizationId, limit],
    );
  }

  /**
   * The conversations that the filters select, with those merged into them; null where the query has no such filter.
   */
  private async contactsOf(query: JournalQuery): Promise<NamedContact[] | null> {
    const { organizationId, conversationId, recipient, connectionId } = query;
    const named: NamedContact[][] = [];
    if (conversationId !== undefined) named.push(await this.contacts('c.id = $2', [organizationId, conversationId]));
    if (recipient !== undefined) {
      const ofWorkspace = 'c.connection_id in (select id from connection where organization_id = $1)';
      named.push(await this.contacts(`${ofWorkspace} and c.user_id = $2`, [organizationId, recipient]));
    }
    const [first, second] = named;
    if (first === undefined) return null;
    return first
      .filter(({ id }) => second === undefined || second.some((other) => other.id === id))
      .filter(({ connectionId: ofContact }) => connectionId === undefined || ofContact === connectionId);
  }

  private contacts(condition: string, params: readonly unknown[]): Promise<NamedContact[]> {
    const columns = camelColumns('n', 'id, connection_id, phone, wa_id, user_id');
    return this.database.query<NamedContact>(
      `select same.* from conversation c cross join lateral (
         select ${columns} from conversation n where n.id = coalesce(c.merged_into, c.id)
         union select ${columns} from conversation n where n.merged_into = coalesce(c.merged_into, c.id)) as same
       where c.organization_id = $1 and ${condition}`,
      params,
    );
  }

  private get retries() {
    return this.database.repository(MessageRetryEntity);
  }
}

// Starts from the recipients with a due message or one in flight, and counts the messages that wait for each. So no
// removed rows are read.
const COUNT_QUEUED = `
with on_wire as materialized (
  select q.connection_id, q.recipient from message_queue q
  where q.lease_until is not null and q.lease_until > statement_timestamp() order by q.lease_until limit $2
)
select count(*)::integer as count from (
  select 1 from connection k left join lane l on l.key = k.id::text cross join lateral (
    select recipient from (
      (select q.recipient from message_queue q
       where q.connection_id = k.id and q.due_at >= coalesce(l.low_at, '-infinity')
       order by q.connection_id, q.due_at limit $2)
      union all
      select w.recipient from on_wire w where w.connection_id = k.id) as every
    group by recipient limit $2) as turn
  cross join lateral (
    select 1 from message_queue q
    where q.connection_id = k.id and q.recipient = turn.recipient and q.held_until is null and (q.attempt_id is null)
    order by q.connection_id, q.recipient, (q.attempt_id is null), q.seq limit $2) as one
  where k.organization_id = $1 limit $2) as queued`;

/** Limit of the later messages of a conversation that are searched for a delivered or read one. */
const LATER = 100;

// $1 workspace, $2 conversation. Uses message_state_conversation: reads a few rows, however long the conversation is.
const LAST_FAILURE = `
with failure as (
  select message_id, created_at, failure_category, failed_at from message_state
  where organization_id = $1 and conversation_id = $2 and attention = 'failed'
  order by created_at desc, message_id desc limit 1
)
select message_id as "messageId", failure_category as category, failed_at as at from failure f
where failed_at is not null and failure_category is not null and not exists (
  select from (
    select m.id from message m where m.conversation_id = $2 and m.direction = 'outbound' and m.created_at > f.created_at
    order by m.created_at desc, m.id desc limit ${LATER}) as later
  join message_state s on s.message_id = later.id and s.organization_id = $1 and s.status in ('delivered', 'read'))`;

const BARRED = `
select m.id, case when m.recipient is null then 'erased' when known.accepted then 'accepted' else 'unknown' end as why
from message m cross join lateral (
  select bool_or((a.answer = 'accepted' or a.taken_at is not null) and a.answer is distinct from 'rejected') as accepted,
    bool_or(coalesce(a.answer, 'unknown') = 'unknown' and a.taken_at is null) as unknown
  from message_attempt a where a.message_id = m.id and a.failed_at is null) as known
where m.organization_id = $1 and m.id = any($2::uuid[]) and (m.recipient is null or known.accepted or known.unknown)`;
