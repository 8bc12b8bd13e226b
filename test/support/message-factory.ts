import { randomBytes, randomUUID } from 'node:crypto';
import { lowestIdSince, newId } from '../../src/common/ids.js';
import type { MessageStatus } from '../../src/modules/message-state/message-state.types.js';

interface Rows {
  execute(sql: string, params?: readonly unknown[]): Promise<number>;
}

export interface MessageSpec {
  /** Default: a new one, of now whatever `createdAt` is. */
  id?: string;
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
  tag?: string;
  metadata?: Record<string, string>;
  idempotencyKey?: string;
  failureCategory?: string;
  /** When it was accepted by us. Default: now, by this process's clock. */
  createdAt?: Date;
  /** For `processing`: when the claim runs out. Default: 20 s from now. */
  leaseUntil?: Date;
  /** For `queued`: when it is due. Default: since it was accepted. */
  nextAttemptAt?: Date;
}

/** Times that an outbound message has passed through once it has an outcome. */
const PASSED: Partial<Record<MessageStatus, readonly string[]>> = {
  accepted: ['accepted_at'],
  sent: ['accepted_at', 'sent_at'],
  delivered: ['accepted_at', 'sent_at', 'delivered_at'],
  read: ['accepted_at', 'sent_at', 'delivered_at', 'read_at'],
  failed: ['failed_at'],
  outcome_unknown: [],
};

const ATTEMPT: Partial<Record<MessageStatus, 'accepted' | 'rejected' | 'unknown'>> = {
  accepted: 'accepted',
  sent: 'accepted',
  delivered: 'accepted',
  read: 'accepted',
  failed: 'rejected',
  outcome_unknown: 'unknown',
};

/** An id as `newId` made it at this time. */
export function idAt(time: Date): string {
  return lowestIdSince(time).slice(0, 14) + newId().slice(14);
}

/** Writes a message in a state, with the attempt that the state needs. */
export async function insertMessage(
  rows: Rows,
  spec: MessageSpec,
): Promise<{ id: string; attemptId: string | null; metaMessageId: string | null }> {
  const status = spec.status ?? 'queued';
  const made: Made = {
    id: spec.id ?? newId(),
    createdAt: spec.createdAt ?? new Date(),
    attemptId: status === 'queued' || status === 'received' ? null : newId(),
    metaMessageId: null,
  };
  if (status === 'received' || ATTEMPT[status] === 'accepted') {
    made.metaMessageId = `wamid.${randomBytes(24).toString('base64url')}`;
  }
  const type = spec.type ?? 'text';
  const body = spec.body === undefined ? 'Hello' : spec.body;
  const content = spec.content ?? (type === 'text' ? { body, preview_url: false } : { [type]: { body } });
  await insertRow(rows, 'message', journalColumns(spec, made));
  await insertRow(rows, ...nameOf(spec, made));
  await insertRow(rows, 'message_content', { message_id: made.id, body, content: JSON.stringify(content) });
  if (status !== 'received') await insertRow(rows, 'message_state', stateColumns(spec, status, made));
  if (status === 'queued' || status === 'processing') await insertRow(rows, 'message_queue', queueColumns(spec, made));
  else if (made.attemptId !== null) await insertRow(rows, 'message_attempt', attemptColumns(spec, status, made));
  if (spec.tag !== undefined) await countInTag(rows, spec.tag, spec, status, made);
  return { id: made.id, attemptId: made.attemptId, metaMessageId: made.metaMessageId };
}

/** As the service counts messages of a tag. */
async function countInTag(
  rows: Rows,
  tag: string,
  { connection, failureCategory }: MessageSpec,
  status: MessageStatus,
  { createdAt }: Made,
): Promise<void> {
  const { id, organizationId } = connection;
  await rows.execute('insert into message_tag (organization_id, tag) values ($1, $2) on conflict do nothing', [
    organizationId,
    tag,
  ]);
  await rows.execute(
    `insert into message_tag_count (organization_id, tag, connection_id, status, failure_category, messages, first_at, last_at)
     values ($1, $2, $3, $4, $5, 1, $6, $6)`,
    [
      organizationId,
      tag,
      id,
      status === 'processing' ? 'queued' : status,
      status === 'failed' ? (failureCategory ?? 'unknown') : null,
      createdAt,
    ],
  );
}

interface Made {
  id: string;
  createdAt: Date;
  attemptId: string | null;
  metaMessageId: string | null;
}

const contactOf = (spec: MessageSpec): string => spec.recipient ?? '15550001234';

function journalColumns(spec: MessageSpec, made: Made): Record<string, unknown> {
  const inbound = spec.status === 'received';
  const contact = contactOf(spec);
  const own = spec.connection.phoneNumber ?? '16505550134';
  return {
    id: made.id,
    organization_id: spec.connection.organizationId,
    connection_id: spec.connection.id,
    conversation_id: spec.conversationId ?? null,
    direction: inbound ? 'inbound' : 'outbound',
    type: spec.type ?? 'text',
    recipient: inbound ? own : contact,
    sender: inbound ? contact : own,
    client_message_id: spec.clientMessageId ?? null,
    tag: spec.tag ?? null,
    metadata: spec.metadata ? JSON.stringify(spec.metadata) : null,
    fingerprint: inbound ? null : randomBytes(32),
    meta_message_id: inbound ? made.metaMessageId : null,
    created_at: made.createdAt,
  };
}

/** What stays unique of it, and its table. */
function nameOf({ connection, status, idempotencyKey }: MessageSpec, made: Made): [string, Record<string, unknown>] {
  return status === 'received'
    ? ['platform_message', { connection_id: connection.id, meta_message_id: made.metaMessageId, message_id: made.id }]
    : [
        'idempotency_key',
        {
          organization_id: connection.organizationId,
          key: idempotencyKey ?? randomUUID(),
          message_id: made.id,
        },
      ];
}

function queueColumns(spec: MessageSpec, made: Made): Record<string, unknown> {
  const claimed = made.attemptId !== null;
  return {
    connection_id: spec.connection.id,
    created_at: made.createdAt,
    message_id: made.id,
    organization_id: spec.connection.organizationId,
    conversation_id: spec.conversationId ?? null,
    recipient: contactOf(spec),
    queued_at: made.createdAt,
    due_at: claimed ? null : (spec.nextAttemptAt ?? made.createdAt),
    expires_at: new Date(made.createdAt.getTime() + 86_400_000),
    claimed_at: claimed ? made.createdAt : null,
    lease_until: claimed ? (spec.leaseUntil ?? new Date(Date.now() + 20_000)) : null,
    attempt_id: made.attemptId,
    attempt_number: claimed ? 1 : 0,
  };
}

function stateColumns(spec: MessageSpec, status: MessageStatus, made: Made): Record<string, unknown> {
  const own = {
    message_id: made.id,
    organization_id: spec.connection.organizationId,
    connection_id: spec.connection.id,
    conversation_id: spec.conversationId ?? null,
    created_at: made.createdAt,
    queued_at: made.createdAt,
  };
  if (status === 'queued' || status === 'processing') return own;
  return {
    ...own,
    status,
    processing_at: made.createdAt,
    meta_message_id: made.metaMessageId,
    failure_category: status === 'failed' ? (spec.failureCategory ?? 'unknown') : null,
    attempt_id: made.attemptId,
    attempt_number: 1,
    attempt_count: 1,
    expires_at: status === 'outcome_unknown' ? new Date(made.createdAt.getTime() + 86_400_000) : null,
    ...Object.fromEntries((PASSED[status] ?? []).map((column) => [column, made.createdAt])),
  };
}

function attemptColumns(spec: MessageSpec, status: MessageStatus, made: Made): Record<string, unknown> {
  return {
    message_id: made.id,
    id: made.attemptId,
    organization_id: spec.connection.organizationId,
    number: 1,
    started_at: made.createdAt,
    answer: ATTEMPT[status],
    answered_at: made.createdAt,
    http_status: ATTEMPT[status] === 'accepted' ? 200 : null,
    category: status === 'failed' ? (spec.failureCategory ?? 'unknown') : null,
    meta_message_id: made.metaMessageId,
  };
}

async function insertRow(rows: Rows, table: string, values: Record<string, unknown>): Promise<void> {
  const columns = Object.keys(values);
  const places = columns.map((_column, index) => `$${index + 1}`).join(', ');
  await rows.execute(`insert into ${table} (${columns.join(', ')}) values (${places})`, Object.values(values));
}
