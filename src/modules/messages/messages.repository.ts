import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { numberOfConversation } from './conversation-register.js';
import {
  attemptOf,
  MESSAGE_JOINS,
  MESSAGE_SELECT,
  messageOf,
  type AttemptRow,
  type MessageRow,
} from './message-row.js';
import type { MessageStatus, OutboundStatus } from './message-state.js';
import type { Attempt, Message } from './messages.types.js';

export interface RetryCommand {
  organizationId: string;
  messageId: string;
  /** States from which the retry may start. */
  from: readonly OutboundStatus[];
  /** What lists show of it: the text of a template may have changed. */
  body: string | null;
}

/** Reads of single messages, and the retry. The journal's pages are in `JournalRepository`. */
@Injectable()
export class MessagesRepository {
  constructor(private readonly database: Database) {}

  async findById(organizationId: string, id: string): Promise<Message | null> {
    const rows = await this.database.query<MessageRow>(
      `select ${MESSAGE_SELECT} from message m ${MESSAGE_JOINS} where m.organization_id = $1 and m.id = $2`,
      [organizationId, id],
    );
    return rows[0] === undefined ? null : messageOf(rows[0]);
  }

  /**
   * A message with its send attempts, oldest first, at most the last hundred; null where the workspace has none. One
   * statement, so that the two agree even while the message moves.
   */
  async findWithAttempts(organizationId: string, id: string): Promise<(Message & { attempts: Attempt[] }) | null> {
    const rows = await this.database.query<MessageRow & { attempts: AttemptRow[] }>(
      `select ${MESSAGE_SELECT}, (
         select coalesce(json_agg(a order by a.number), '[]') from (
           select number, status, started_at, finished_at, http_status, platform_code, platform_message,
             failure_category, meta_message_id, trace_id
           from message_attempt where message_id = m.id and organization_id = m.organization_id
           order by number desc limit 100) as a) as attempts
       from message m ${MESSAGE_JOINS} where m.organization_id = $1 and m.id = $2`,
      [organizationId, id],
    );
    const row = rows[0];
    return row === undefined ? null : { ...messageOf(row), attempts: row.attempts.map(attemptOf) };
  }

  /**
   * A message that may be answered: of the workspace and the contact's conversation, and not failed. Null where there
   * is none.
   */
  async findReplyTarget(
    organizationId: string,
    id: string,
    conversationId: string,
  ): Promise<{ id: string; status: MessageStatus } | null> {
    const rows = await this.database.query<{ id: string; status: MessageStatus }>(
      `select m.id, m.status from message m left join conversation c on c.id = m.conversation_id
       where m.organization_id = $1 and m.id = $2 and m.status <> 'failed'
         and coalesce(c.merged_into, m.conversation_id) = coalesce((select merged_into from conversation where id = $3), $3)`,
      [organizationId, id, conversationId],
    );
    return rows[0] ?? null;
  }

  /**
   * Queues a message again, behind what its recipient has waiting; the attempts keep the history. False where it is
   * in none of the given states (any more).
   */
  async retry(command: RetryCommand): Promise<boolean> {
    const changed = await this.database.execute(
      `update message set status = 'queued', seq = default, queued_at = clock_timestamp(),
         next_attempt_at = clock_timestamp(), lease_until = null, tries = 0, processing_at = null, accepted_at = null,
         sent_at = null, delivered_at = null, read_at = null, failed_at = null, failure_category = null,
         error_code = null, error_message = null, body = $4,
         recipient = case when recipient_user_id is null then recipient
           else coalesce(${numberOfConversation('conversation_id', 'message.organization_id')}, recipient) end
       where organization_id = $1 and id = $2 and direction = 'outbound' and status = any($3)`,
      [command.organizationId, command.messageId, command.from, command.body],
    );
    return changed > 0;
  }

  /** The message that a retry's key stands for; null where the key is free. */
  async findRetry(organizationId: string, idempotencyKey: string): Promise<string | null> {
    const rows = await this.database.query<{ message_id: string }>(
      'select message_id from message_retry where organization_id = $1 and idempotency_key = $2',
      [organizationId, idempotencyKey],
    );
    return rows[0]?.message_id ?? null;
  }

  /** Claims a retry's key; false where it was taken. Inside the retry's transaction. */
  async insertRetry(organizationId: string, idempotencyKey: string, messageId: string): Promise<boolean> {
    const inserted = await this.database.execute(
      `insert into message_retry (organization_id, idempotency_key, message_id) values ($1, $2, $3)
       on conflict do nothing`,
      [organizationId, idempotencyKey, messageId],
    );
    return inserted > 0;
  }

  /** Counts a workspace's queued messages, up to `limit`. */
  async countQueued(organizationId: string, limit: number): Promise<number> {
    const rows = await this.database.query<{ count: number }>(
      `select count(*)::integer as count from (
         select 1 from connection k cross join lateral (
           select 1 from message m where m.connection_id = k.id and m.status = 'queued' limit $2) as one
         where k.organization_id = $1 limit $2) as queued`,
      [organizationId, limit],
    );
    return rows[0]?.count ?? 0;
  }
}
