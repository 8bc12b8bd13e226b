import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_MESSAGE_ID, EXAMPLE_SCHEDULED_MESSAGE_ID } from '../../../common/example-ids.js';
import { FAILURE_CATEGORY, nullable } from '../../../infrastructure/http/open-words.js';
import { MESSAGE_STATUSES } from '../../message-state/message-state.types.js';
import type { Attempt, Message } from '../../message-state/message.types.js';
import { JournalPagination, listItemOf, MessageListItem } from '../../message-state/message-list-item.response.js';
import { WAITING_REASONS, type Waiting } from '../../sending/sending.types.js';

const nullableTime = { type: 'string', format: 'date-time', nullable: true } as const;
const TIME = '2026-11-21T08:00:00.125Z';
const META_ID = 'wamid.HBgLMTU1NTAxMDAwMDEVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA';

/** Why the last attempt failed. */
export class MessageErrorResponse {
  @ApiProperty({ example: '131026' })
  code!: string;

  @ApiProperty({ example: 'Message undeliverable' })
  message!: string;
}

/** One try to hand the message to the platform. */
export class AttemptResponse {
  @ApiProperty({ type: 'integer', example: 1 })
  number!: number;

  @ApiProperty({ enum: ['started', 'accepted', 'rejected', 'deferred', 'unknown'], example: 'accepted' })
  status!: string;

  @ApiProperty({ format: 'date-time', example: TIME })
  started_at!: string;

  @ApiProperty({ ...nullableTime, example: TIME })
  finished_at!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, example: 200 })
  http_status!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, example: null })
  platform_code!: number | null;

  @ApiProperty({ type: 'string', nullable: true, example: null })
  platform_message!: string | null;

  @ApiProperty({ ...nullable(FAILURE_CATEGORY), example: null })
  failure_category!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: META_ID })
  meta_message_id!: string | null;

  /** The platform's own id of the failed call, for its support. */
  @ApiProperty({ type: 'string', nullable: true, example: null })
  trace_id!: string | null;
}

/** Why a queued message has not left yet. */
export class WaitingResponse {
  /**
   * `scheduled`: until the time that you gave it, or its tag. `tag_paused`: until its tag is resumed. `tag_pace`: its turn comes at the pace of its tag.
   * `earlier_message_to_recipient`: messages to one recipient leave in
   * order. `number_pace`: its turn comes at the pace of its number. `pair_limit` and `retry`: WhatsApp or the network
   * refused it for now. `number_paused`: so for the whole number, or every number rests after a restore.
   * `number_disconnected`: the number cannot send. `due`: as soon as a worker takes it.
   */
  @ApiProperty({ enum: WAITING_REASONS, example: 'number_pace' })
  reason!: string;

  /** When this reason ends, where that is known. */
  @ApiProperty({ ...nullableTime, example: '2026-11-21T08:00:03.750Z' })
  until!: string | null;

  /** Messages of the number that leave before it; 10000 stands for that many or more. */
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 10_000, example: 290 })
  ahead!: number;
}

/** A message with everything that is known about it. */
export class MessageResponse extends MessageListItem {
  @ApiProperty({ type: MessageErrorResponse, nullable: true })
  error!: MessageErrorResponse | null;

  @ApiProperty({ type: 'integer', minimum: 0, example: 1 })
  attempt_count!: number;

  /** When the next attempt is due, while the message is queued. */
  @ApiProperty({ ...nullableTime, example: null })
  next_attempt_at!: string | null;

  @ApiProperty({ ...nullableTime, example: TIME })
  queued_at!: string | null;

  @ApiProperty({ ...nullableTime, example: TIME })
  processing_at!: string | null;

  /** When its status became `accepted`; null where a report of WhatsApp came before the answer to the request. */
  @ApiProperty({ ...nullableTime, example: TIME })
  accepted_at!: string | null;

  /** When WhatsApp sent it; of a received message, when the customer wrote it, in whole seconds. */
  @ApiProperty({ ...nullableTime, example: '2026-11-21T08:00:01.000Z' })
  sent_at!: string | null;

  @ApiProperty({ ...nullableTime, example: '2026-11-21T08:00:02.000Z' })
  delivered_at!: string | null;

  @ApiProperty({ ...nullableTime, example: null })
  read_at!: string | null;

  @ApiProperty({ ...nullableTime, example: null })
  failed_at!: string | null;

  /** Only while the message is queued, in the answer of GET /messages/{id}. */
  @ApiProperty({ type: WaitingResponse, required: false })
  waiting?: WaitingResponse;

  /**
   * With `waiting`: when it leaves, by the queue as it stands and the pace of the number; null where that can't be known,
   * or 10,000 messages or more are ahead.
   */
  @ApiProperty({ ...nullableTime, required: false, example: '2026-11-21T08:00:03.750Z' })
  estimated_send_at?: string | null;

  /** With `waiting`: when the message is given up (`failed`, category `expired`) if it has not left by then. */
  @ApiProperty({ format: 'date-time', required: false, example: '2026-11-22T08:00:00.125Z' })
  expires_at?: string;

  /** The send attempts, oldest first. Only in the answer of GET /messages/{id}. */
  @ApiProperty({ type: [AttemptResponse], required: false })
  attempts?: AttemptResponse[];
}

export class QueuedMessage {
  /** The message's id: follow it with GET /messages/{id}. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_MESSAGE_ID })
  id!: string;

  @ApiProperty({ enum: ['queued'], example: 'queued' })
  status!: 'queued';
}

export class QueuedMessageResponse {
  data!: QueuedMessage;
}

/** What `messages:write` alone learns of a canceled message. */
export class CanceledMessage {
  @ApiProperty({ type: 'string', format: 'uuid', example: EXAMPLE_SCHEDULED_MESSAGE_ID })
  id!: string;

  @ApiProperty({ enum: MESSAGE_STATUSES, example: 'failed' })
  status!: string;
}

export class CanceledMessageResponse {
  @ApiProperty({ type: CanceledMessage })
  data!: CanceledMessage;
}

export class SingleMessageResponse {
  data!: MessageResponse;
}

export class JournalResponse {
  data!: MessageListItem[];

  pagination!: JournalPagination;
}

export function responseOf(message: Message & { attempts?: Attempt[]; waiting?: Waiting | null }): MessageResponse {
  const response: MessageResponse = {
    ...listItemOf(message),
    error: errorOf(message),
    attempt_count: message.attemptCount,
    next_attempt_at: time(message.nextAttemptAt),
    queued_at: time(message.queuedAt),
    processing_at: time(message.processingAt),
    accepted_at: time(message.acceptedAt),
    sent_at: time(message.sentAt),
    delivered_at: time(message.deliveredAt),
    read_at: time(message.readAt),
    failed_at: time(message.failedAt),
  };
  if (message.waiting) {
    const { reason, until, ahead, estimatedSendAt, expiresAt } = message.waiting;
    response.waiting = { reason, until: time(until), ahead };
    response.estimated_send_at = time(estimatedSendAt);
    response.expires_at = expiresAt.toISOString();
  }
  if (message.attempts !== undefined) response.attempts = message.attempts.map(attemptResponseOf);
  return response;
}

function attemptResponseOf(attempt: Attempt): AttemptResponse {
  return {
    number: attempt.number,
    status: attempt.status,
    started_at: attempt.startedAt.toISOString(),
    finished_at: time(attempt.finishedAt),
    http_status: attempt.httpStatus,
    platform_code: attempt.platformCode,
    platform_message: attempt.platformMessage,
    failure_category: attempt.failureCategory,
    meta_message_id: attempt.metaMessageId,
    trace_id: attempt.traceId,
  };
}

function errorOf(message: Message): MessageErrorResponse | null {
  if (message.errorCode === null && message.errorMessage === null) return null;
  return { code: message.errorCode ?? 'UNKNOWN', message: message.errorMessage ?? '' };
}

function time(value: Date | null): string | null {
  return value?.toISOString() ?? null;
}
