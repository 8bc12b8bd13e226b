import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { KeyedSlots } from '../../common/keyed-slots.js';
import { Database } from '../../infrastructure/database/database.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { LimitBook, limitReached } from '../billing/limits.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { AcceptRepository, type Accepted } from './accept/accept.repository.js';
import { BacklogGuard, type Reservation } from './accept/backlog-guard.js';
import { countedMessage, type LimitedMessage } from './accept/counted-messages.js';
import type { JournalFilter } from './dto/list-messages.query.js';
import type { JournalPlace } from './journal/journal-page.js';
import { fingerprintOf, type MessageInput } from './accept/message-input.js';
import { requireTimeAhead } from './accept/schedule.js';
import { statesThatTake } from './message/message-state.js';
import { MessagesMaintenanceRepository } from './maintenance/messages-maintenance.repository.js';
import { conversationsErrors } from '../conversations/conversations.errors.js';
import { messagesErrors } from './messages.errors.js';
import { MessagesRepository } from './messages.repository.js';
import type { DetailedMessage, LaneStatus, Message } from './messages.types.js';
import { RecipientsService } from '../conversations/windows/recipients.service.js';
import { ScheduleRepository } from './schedule/schedule.repository.js';
import { SendingService } from '../sending/sending.service.js';
import type { Waiting } from '../sending/sending.types.js';
import { newMessageOf, SendPreparation, type PreparedSend, type Sender } from './accept/send-preparation.js';
import { windowClosesAt } from '../conversations/windows/windows.js';

export interface SendResult {
  messageId: string;
  /** The key stood for this request already; nothing new was made. */
  replayed: boolean;
}

/** Looks for a message that moves from one place to another meanwhile. */
const CANCEL_ROUNDS = 5;

/** Of a workspace with limits. */
const RETRIES = { slots: 2, mostWaiting: 1_000, waitMs: 10_000 };

/** At a message that leaves the queue, and is back in it, while it is looked at. */
const LOOKS = 3;

/** Sends, reads and retries the workspace's messages. */
@Injectable()
export class MessagesService {
  private readonly turns = new KeyedSlots(RETRIES);

  constructor(
    private readonly accepts: AcceptRepository,
    private readonly messages: MessagesRepository,
    private readonly preparation: SendPreparation,
    private readonly recipients: RecipientsService,
    private readonly backlog: BacklogGuard,
    private readonly sending: SendingService,
    private readonly connections: ConnectionsService,
    private readonly schedule: ScheduleRepository,
    private readonly webhook: WebhookService,
    private readonly maintenance: MessagesMaintenanceRepository,
    private readonly database: Database,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Takes a message: durable and queued when this resolves.
   *
   * @param idempotencyKey a UUID; one key makes one message and never expires.
   * @throws IDEMPOTENCY_KEY_REUSED (409), and where the key is still free BACKLOG_LIMIT_REACHED, SPEND_LIMIT_REACHED (402), WORKSPACE_LIMIT_REACHED (429), RECIPIENT_OPTED_OUT, RECIPIENT_LIMIT_REACHED (422) and what `SendPreparation.prepare` refuses.
   */
  async send(sender: Sender, idempotencyKey: string, input: MessageInput): Promise<SendResult> {
    const fingerprint = fingerprintOf(input);
    const key = idempotencyKey.toLowerCase();
    let prepared: PreparedSend;
    let reserved: Reservation;
    try {
      requireTimeAhead(input.sendAt);
      prepared = await this.preparation.prepare(sender, input);
      reserved = this.backlog.check(sender.organizationId, input.sendAt === undefined ? 'queued' : 'scheduled');
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // A refusal that arose after the first request of a key must not reach its repeat, or its caller sends again.
      const known = (await this.accepts.findByKeys(sender.organizationId, [key])).get(key);
      if (known === undefined) throw error;
      return replay(known, fingerprint);
    }
    const { connection } = prepared;
    const accepted = await this.accepts.accept(
      newMessageOf(input, prepared, { idempotencyKey: key, fingerprint }, this.tracing.currentContext),
      sender.limited,
    );
    if (accepted.kind !== 'inserted') this.backlog.giveBack(reserved, 1);
    if (accepted.limitError !== undefined) throw accepted.limitError;
    if (accepted.optOut !== undefined) throw messagesErrors.RECIPIENT_OPTED_OUT(accepted.optOut);
    if (accepted.replaced !== undefined) throw messagesErrors.RECIPIENT_REPLACED(accepted.replaced.previous);
    if (accepted.kind === 'window_closed') {
      throw conversationsErrors.SERVICE_WINDOW_CLOSED({ expiredAt: windowClosesAt(accepted.lastInboundAt ?? null) });
    }
    if (accepted.kind === 'known') return replay(accepted, fingerprint);
    const { lastInboundAt, conversationId: foundId } = accepted;
    if (foundId && lastInboundAt) this.recipients.remember(connection.id, input.recipient, foundId, lastInboundAt);
    if (input.sendAt === undefined) this.sending.wake(connection.id);
    return { messageId: accepted.messageId, replayed: false };
  }

  /**
   * One message, and while it is queued why it waits. One statement, and only for a queued message another.
   *
   * @throws MESSAGE_NOT_FOUND (404).
   */
  async getById(organizationId: string, id: string): Promise<DetailedMessage & { waiting: Waiting | null }> {
    for (let look = 1; ; look++) {
      const message = await this.messages.findWithAttempts(organizationId, id);
      if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
      const waiting = message.status === 'queued' ? await this.sending.waiting(message) : null;
      // It may have left the queue between the two statements: then it is another message by now.
      if (message.status !== 'queued' || waiting !== null || look === LOOKS) return { ...message, waiting };
    }
  }

  /**
   * One page of the journal, newest first. `next`: behind which message the next one begins, null after the last one. A
   * page that looked at as many messages as it may ends there, with fewer than wanted.
   *
   * @throws CONNECTION_NOT_FOUND (404) for a connection of no or another workspace.
   */
  async list(
    organizationId: string,
    filter: JournalFilter,
  ): Promise<{ messages: Message[]; next: JournalPlace | null }> {
    if (filter.connectionId !== undefined) await this.connections.getById(organizationId, filter.connectionId);
    const query = { ...filter, organizationId, limit: filter.limit + 1 };
    const end = await this.messages.scanEnd(query);
    const found = await this.messages.page({ ...query, downTo: end ?? undefined });
    const messages = found.slice(0, filter.limit);
    return { messages, next: found.length > filter.limit ? (messages.at(-1) ?? null) : end };
  }

  /**
   * Queues a failed message again; with the confirmation also one whose outcome is unknown.
   *
   * @param idempotencyKey optional; a repeat of the same key answers the message as it is and queues nothing.
   * @throws MESSAGE_NOT_FOUND (404), IDEMPOTENCY_KEY_REUSED, MESSAGE_NOT_RETRYABLE, OUTCOME_UNKNOWN_NOT_CONFIRMED (409),
   * SUBSCRIPTION_REQUIRED (402), and what `send` refuses for state, as 409.
   */
  async retry(
    sender: Sender,
    id: string,
    options: { confirmOutcomeUnknown: boolean; idempotencyKey: string | null },
  ): Promise<{ message: Message; replayed: boolean }> {
    const { organizationId } = sender;
    const key = options.idempotencyKey?.toLowerCase() ?? null;
    const known = await this.isRepeat(organizationId, key, id);
    if (!known) await this.preparation.requirePayment(sender);
    const message = await this.messages.findById(organizationId, id);
    if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
    // Asked once more, for another request with this key may have queued the message while this one looked.
    if (known || (await this.isRepeat(organizationId, key, id))) return { message, replayed: true };
    if (isOfApp(message)) throw messagesErrors.MESSAGE_NOT_RETRYABLE({ status: message.status, isOfApp: true });
    const from = statesThatTake(options.confirmOutcomeUnknown ? 'retry_confirmed' : 'retry');
    if (!from.some((status) => status === message.status)) throw notRetryable(message.status);
    // No kind of message is without content; only retention leaves it so.
    const isCleared = Object.keys(message.content).length === 0;
    if (isCleared) throw messagesErrors.MESSAGE_NOT_RETRYABLE({ status: message.status, cleared: true });
    const { body, templateCategory = null } = await this.preparation.prepareAgain(organizationId, message);

    const queued = await this.inTurn(sender, async () => {
      if (key !== null && !(await this.messages.insertRetry(organizationId, key, id))) return null;
      const moved = await this.messages.retry(organizationId, id, from, body, sender.apiKeyId);
      if (!moved) throw notRetryable((await this.messages.findById(organizationId, id))?.status ?? message.status);
      if (sender.limited) {
        const recipient = message.recipientUserId ?? message.recipient ?? '';
        const { connectionId } = message;
        await this.reserveAgain({ id, organizationId, connectionId, recipient, templateCategory });
      }
      // As the retry left it: a worker may take it as soon as it is committed.
      return this.messages.findById(organizationId, id);
    });
    if (queued !== null) {
      this.sending.wake(message.connectionId);
      return { message: queued, replayed: false };
    }
    // Another request with the same key was faster: it has queued the message, or claimed the key for another one.
    if (!(await this.isRepeat(organizationId, key, id))) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
    return { message: (await this.messages.findById(organizationId, id)) ?? message, replayed: true };
  }

  /**
   * Takes back a message that was not taken for sending yet, scheduled or queued. Repeatable.
   *
   * @throws MESSAGE_NOT_FOUND (404), MESSAGE_NOT_CANCELABLE (409), SERVICE_UNAVAILABLE (503) where claims are blocked: what
   * waits may have been sent.
   */
  async cancel(
    { organizationId, apiKeyId }: { organizationId: string; apiKeyId: string },
    id: string,
  ): Promise<Message> {
    for (let round = 0; round < CANCEL_ROUNDS; round++) {
      const isCanceled = await this.schedule.cancel(organizationId, id, apiKeyId);
      const message = await this.messages.findById(organizationId, id);
      if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
      if (isCanceled) {
        this.webhook.wake([organizationId]);
        // It may have stood before others.
        this.sending.wake(message.connectionId);
      }
      if (isCanceled || message.failureCategory === 'canceled') return message;
      if (message.status !== 'queued') {
        throw messagesErrors.MESSAGE_NOT_CANCELABLE({ status: message.status, isOfApp: isOfApp(message) });
      }
      // It was put back or released meanwhile, which a new statement sees.
    }
    throw commonErrors.SERVICE_UNAVAILABLE(undefined);
  }

  /** For operators: every lane with queued messages or requests in flight, the busiest first. */
  lanes(): Promise<LaneStatus[]> {
    return this.maintenance.lanes();
  }

  /** Messages in `outcome_unknown`, of all numbers together; of each number up to 1,000. */
  unknown(): Promise<number> {
    return this.maintenance.unknown();
  }

  /**
   * In the retry's transaction, which has moved the message.
   *
   * @throws SPEND_LIMIT_REACHED (402), WORKSPACE_LIMIT_REACHED (429), RECIPIENT_LIMIT_REACHED (409).
   */
  private async reserveAgain(retried: LimitedMessage): Promise<void> {
    const message = await countedMessage(retried, this.database);
    const book = await LimitBook.open([message], this.database);
    const state = book.refusalOf(message);
    if (state !== null) {
      const error = limitReached(state);
      throw error.kind === 'unprocessable' ? error.withKind('conflict') : error;
    }
    book.take(message);
    await book.write();
  }

  /** In a transaction, which waits for the lock of a workspace with limits: few retries of one do so at once. */
  private async inTurn<T>({ limited, organizationId }: Sender, work: () => Promise<T>): Promise<T> {
    if (!limited) return this.database.transaction(work);
    if (!(await this.turns.enter(organizationId))) throw commonErrors.SERVICE_UNAVAILABLE(undefined);
    try {
      return await this.database.transaction(work);
    } finally {
      this.turns.leave(organizationId);
    }
  }

  private async isRepeat(organizationId: string, key: string | null, messageId: string): Promise<boolean> {
    const known = key === null ? null : await this.messages.findRetry(organizationId, key);
    if (known !== null && known !== messageId) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
    return known !== null;
  }
}

function replay(known: Accepted, fingerprint: string): SendResult {
  if (known.fingerprint !== fingerprint) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
  return { messageId: known.messageId, replayed: true };
}

/** Sent in the WhatsApp Business app. */
function isOfApp({ direction, source }: Message): boolean {
  return direction === 'outbound' && source !== 'api';
}

function notRetryable(status: string): AppError {
  return status === 'outcome_unknown'
    ? messagesErrors.OUTCOME_UNKNOWN_NOT_CONFIRMED({ status })
    : messagesErrors.MESSAGE_NOT_RETRYABLE({ status });
}
