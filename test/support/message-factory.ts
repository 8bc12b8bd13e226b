import { randomBytes, randomUUID } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import type { MessageStatus } from '../../src/modules/messages/message-state.js';

interface Rows {
  execute(sql: string, params?: readonly unknown[]): Promise<number>;
}

export interface MessageSpec {
  connection: { id: string; organizationId: string; phoneNumber?: string };
  /** Default `queued`. */
  status?: MessageStatus;
  /** Digits. Default: a fixed number. */
  recipient?: string;
  conversationId?: string | null;
  type?: string;
  content?: Record<string, unknown>;
  body?: string | null;
  clientMessageId?: string | null;
  idempotencyKey?: string;
  failureCategory?: string;
  /** When it was accepted by us. Default: now, by this process's clock. */
  createdAt?: Date;
  /** For `processing`: when the claim runs out. Default: 20 s from now. */
  leaseUntil?: Date;
  /** For `queued`: when it is due. Default: `createdAt`. */
  nextAttemptAt?: Date;
}

/** Times that a message has passed through once it is in a state, in their order. */
const PASSED: Record<MessageStatus, readonly string[]> = {
  queued: ['queued_at'],
  processing: ['queued_at', 'processing_at'],
  accepted: ['queued_at', 'processing_at', 'accepted_at'],
  sent: ['queued_at', 'processing_at', 'accepted_at', 'sent_at'],
  delivered: ['queued_at', 'processing_at', 'accepted_at', 'sent_at', 'delivered_at'],
  read: ['queued_at', 'processing_at', 'accepted_at', 'sent_at', 'delivered_at', 'read_at'],
  failed: ['queued_at', 'processing_at', 'failed_at'],
  outcome_unknown: ['queued_at', 'processing_at'],
  received: [],
};

const ATTEMPT: Partial<Record<MessageStatus, 'started' | 'accepted' | 'rejected' | 'unknown'>> = {
  processing: 'started',
  accepted: 'accepted',
  sent: 'accepted',
  delivered: 'accepted',
  read: 'accepted',
  failed: 'rejected',
  outcome_unknown: 'unknown',
};

/** Writes a message and the attempt that its state needs. */
export async function insertMessage(
  rows: Rows,
  spec: MessageSpec,
): Promise<{ id: string; attemptId: string | null; metaMessageId: string | null }> {
  const status = spec.status ?? 'queued';
  const id = newId();
  const attemptStatus = ATTEMPT[status];
  const attemptId = attemptStatus === undefined ? null : newId();
  const known = attemptStatus === 'accepted' || status === 'received';
  const metaMessageId = known ? `wamid.${randomBytes(24).toString('base64url')}` : null;
  await insertRow(rows, 'message', columnsOf(spec, { id, status, attemptId, metaMessageId }));
  if (attemptId !== null) {
    await insertRow(rows, 'message_attempt', {
      id: attemptId,
      organization_id: spec.connection.organizationId,
      message_id: id,
      number: 1,
      status: attemptStatus,
      started_at: spec.createdAt ?? new Date(),
      finished_at: attemptStatus === 'started' ? null : (spec.createdAt ?? new Date()),
      http_status: attemptStatus === 'accepted' ? 200 : null,
      failure_category: status === 'failed' ? (spec.failureCategory ?? 'unknown') : null,
      meta_message_id: metaMessageId,
    });
  }
  return { id, attemptId, metaMessageId };
}

function columnsOf(
  spec: MessageSpec,
  made: { id: string; status: MessageStatus; attemptId: string | null; metaMessageId: string | null },
): Record<string, unknown> {
  const { connection } = spec;
  const { status } = made;
  const inbound = status === 'received';
  const createdAt = spec.createdAt ?? new Date();
  const type = spec.type ?? 'text';
  const body = spec.body === undefined ? 'Hello' : spec.body;
  const contact = spec.recipient ?? '15550001234';
  const own = connection.phoneNumber ?? '16505550134';
  return {
    id: made.id,
    organization_id: connection.organizationId,
    connection_id: connection.id,
    conversation_id: spec.conversationId ?? null,
    direction: inbound ? 'inbound' : 'outbound',
    type,
    recipient: inbound ? own : contact,
    sender: inbound ? contact : own,
    body,
    content: JSON.stringify(spec.content ?? (type === 'text' ? { body, preview_url: false } : { [type]: { body } })),
    client_message_id: spec.clientMessageId ?? null,
    idempotency_key: inbound ? null : (spec.idempotencyKey ?? randomUUID()),
    fingerprint: inbound ? null : randomBytes(32),
    status,
    meta_message_id: made.metaMessageId,
    failure_category: status === 'failed' ? (spec.failureCategory ?? 'unknown') : null,
    attempt_count: made.attemptId === null ? 0 : 1,
    current_attempt_id: made.attemptId,
    lease_until: status === 'processing' ? (spec.leaseUntil ?? new Date(Date.now() + 20_000)) : null,
    next_attempt_at: status === 'queued' ? (spec.nextAttemptAt ?? createdAt) : null,
    created_at: createdAt,
    ...Object.fromEntries(PASSED[status].map((column) => [column, createdAt])),
  };
}

async function insertRow(rows: Rows, table: string, values: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(values);
  const places = columns.map((_column, index) => `$${index + 1}`).join(', ');
  await rows.execute(`insert into ${table} (${columns.join(', ')}) values (${places})`, Object.values(values));
}
