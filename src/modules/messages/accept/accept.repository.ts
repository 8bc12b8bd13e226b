import { Injectable } from '@nestjs/common';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { laneRecipient } from '../contacts/contact-writer.js';

/** A validated message that waits to become durable. */
export interface NewMessage {
  id: string;
  organizationId: string;
  connectionId: string;
  conversationId: string | null;
  type: string;
  /** Digits without `+`, or the user id. */
  recipient: string;
  /** Where it is addressed to one. */
  recipientUserId?: string | null;
  sender: string;
  body: string | null;
  content: Record<string, unknown>;
  clientMessageId: string | null;
  replyToMessageId: string | null;
  mediaObjectId: string | null;
  idempotencyKey: string;
  /** SHA-256 of the request's meaning, hexadecimal. */
  fingerprint: string;
}

/** `inserted`: this call made the message. `known`: the key had one already, made from `fingerprint`. */
export interface Accepted {
  kind: 'inserted' | 'known';
  messageId: string;
  fingerprint: string;
}

interface KeyRow {
  id: string;
  organization_id: string;
  idempotency_key: string;
  fingerprint: string;
}

/** Makes accepted messages durable, many callers in one statement. */
@Injectable()
export class AcceptRepository {
  private readonly batches: GroupCommit<NewMessage, Accepted>;

  constructor(private readonly database: Database) {
    this.batches = new GroupCommit(database, {
      name: 'accept',
      maxBatch: 250,
      transactional: false,
      commit: (messages, statements) => this.commit(messages, statements),
    });
  }

  /**
   * Resolves once the message, or the one that its key already has, is durable.
   *
   * @throws SERVICE_UNAVAILABLE (503) when the queue of waiting callers is full or the commit's outcome is unknown.
   */
  accept(message: NewMessage): Promise<Accepted> {
    return this.batches.submit(message);
  }

  /** Resolves when no caller waits. */
  idle(): Promise<void> {
    return this.batches.idle();
  }

  /** What a key already stands for; null where it is free. */
  async findByKey(organizationId: string, idempotencyKey: string): Promise<Accepted | null> {
    const rows = await this.database.query<{ id: string; fingerprint: string }>(
      `select id, encode(fingerprint, 'hex') as fingerprint from message
       where organization_id = $1 and idempotency_key = $2`,
      [organizationId, idempotencyKey],
    );
    const row = rows[0];
    return row === undefined ? null : { kind: 'known', messageId: row.id, fingerprint: row.fingerprint };
  }

  private async commit(messages: NewMessage[], statements: Statements): Promise<Accepted[]> {
    // One row a key, in the order of the index: two batches that share keys then never wait for each other in a ring.
    const byKey = new Map<string, NewMessage>();
    for (const message of messages) {
      const key = keyOf(message.organizationId, message.idempotencyKey);
      if (!byKey.has(key)) byKey.set(key, message);
    }
    const rows = [...byKey.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, message]) => message);
    const inserted = new Set(
      (await statements.query<{ id: string }>(INSERT_MESSAGES, [JSON.stringify(rows)])).map((row) => row.id),
    );
    const missing = rows.filter((row) => !inserted.has(row.id));
    const known = missing.length === 0 ? new Map<string, KeyRow>() : await this.readKnown(missing, statements);
    return messages.map((message) => {
      const key = keyOf(message.organizationId, message.idempotencyKey);
      const first = byKey.get(key);
      if (first !== undefined && inserted.has(first.id)) {
        const kind = first === message ? 'inserted' : 'known';
        return { kind, messageId: first.id, fingerprint: first.fingerprint };
      }
      const row = known.get(key);
      if (row === undefined) throw new Error('a key that conflicted has no row');
      // Its own where a batch is tried again that ran out of time after its INSERT.
      const kind = row.id === message.id ? 'inserted' : 'known';
      return { kind, messageId: row.id, fingerprint: row.fingerprint };
    });
  }

  /** A statement of its own: the INSERT's snapshot does not show the row that it conflicted with. */
  private async readKnown(rows: NewMessage[], statements: Statements): Promise<Map<string, KeyRow>> {
    const found = await statements.query<KeyRow>(
      `select m.id, m.organization_id, m.idempotency_key, encode(m.fingerprint, 'hex') as fingerprint
       from unnest($1::uuid[], $2::uuid[]) as k (organization_id, idempotency_key)
       join message m on m.organization_id = k.organization_id and m.idempotency_key = k.idempotency_key`,
      [rows.map((row) => row.organizationId), rows.map((row) => row.idempotencyKey)],
    );
    return new Map(found.map((row) => [keyOf(row.organization_id, row.idempotency_key), row]));
  }
}

function keyOf(organizationId: string, idempotencyKey: string): string {
  return `${organizationId}/${idempotencyKey}`;
}

/**
 * One parameter: the messages as JSON, with the names of `NewMessage`. The place in the recipient's order is taken after
 * the time, which the low-water marks of the lanes count on.
 */
export const INSERT_MESSAGES: Prepared = {
  name: 'message_accept',
  text: `
with accepted as materialized (
  select i.*, now.at, ${laneRecipient('i', '"recipientUserId"', '"conversationId"', '"organizationId"')} as lane
  from json_to_recordset($1) as i (id uuid, "organizationId" uuid, "connectionId" uuid, "conversationId" uuid, type text,
    recipient text, "recipientUserId" text, sender text, body text, content jsonb, "clientMessageId" text,
    "replyToMessageId" uuid, "mediaObjectId" uuid, "idempotencyKey" uuid, fingerprint text)
  cross join (select clock_timestamp() as at) as now
), fresh as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient,
    recipient_user_id, sender, client_message_id, reply_to_message_id, media_object_id, idempotency_key, fingerprint,
    created_at)
  select id, "organizationId", "connectionId", "conversationId", 'outbound', type, lane, "recipientUserId", sender,
    "clientMessageId", "replyToMessageId", "mediaObjectId", "idempotencyKey", decode(fingerprint, 'hex'),
    date_trunc('milliseconds', at)
  from accepted
  on conflict (organization_id, idempotency_key) where idempotency_key is not null do nothing
  returning id, created_at
), contents as (
  insert into message_content (message_id, body, content)
  select id, body, content from accepted join fresh using (id)
), waiting as (
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
    queued_at)
  select "connectionId", created_at, id, "organizationId", "conversationId", lane, at from accepted join fresh using (id)
)
select id from fresh`,
};
