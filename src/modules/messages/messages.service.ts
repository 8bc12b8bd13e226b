import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { isUuid, timeOfId } from '../../common/ids.js';
import { databaseClock } from '../../common/clock.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import { AcceptRepository, type Accepted } from './accept/accept.repository.js';
import { BacklogGuard, kindsOf, type Reservation } from './accept/backlog-guard.js';
import type { JournalFilter } from './dto/list-messages.query.js';
import type { JournalPlace } from './journal/journal-page.js';
import { fingerprintOf, type MessageInput, readMessageInput } from './accept/message-input.js';
import { keyOfMinute, MINUTE_MS, minuteOf } from './accept/key-of-minute.js';
import { requireTimeAhead } from './accept/schedule.js';
import { MessagesMaintenanceRepository } from './maintenance/messages-maintenance.repository.js';
import { messagesErrors } from './messages.errors.js';
import { MessagesRepository } from './messages.repository.js';
import { type DetailedMessage, isOfApp, type LaneStatus, type Message } from '../message-state/message.types.js';
import { RecipientsService, windowClosed } from '../conversations/windows/recipients.service.js';
import { FactsService } from '../message-state/facts.service.js';
import { statusOf } from '../message-state/facts.types.js';
import { SendingService } from '../sending/sending.service.js';
import type { Waiting } from '../sending/sending.types.js';
import { newMessageOf, SendPreparation, type PreparedSend, type Sender } from './accept/send-preparation.js';

export interface SendResult {
  messageId: string;
  /** The key was used for this request before; nothing new was stored. */
  replayed: boolean;
}

/** Sends, reads and cancels the workspace's messages. */
@Injectable()
export class MessagesService {
  constructor(
    private readonly accepts: AcceptRepository,
    private readonly messages: MessagesRepository,
    private readonly preparation: SendPreparation,
    private readonly recipients: RecipientsService,
    private readonly backlog: BacklogGuard,
    private readonly sending: SendingService,
    private readonly connections: ConnectionsService,
    private readonly facts: FactsService,
    private readonly webhook: WebhookService,
    private readonly maintenance: MessagesMaintenanceRepository,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Accepts a message: it is durable and queued when this resolves.
   *
   * @param idempotencyKey a UUID; one key stands for one message and never expires.
   * @throws IDEMPOTENCY_KEY_REUSED (409), and where the key is still free BACKLOG_LIMIT_REACHED, SPEND_LIMIT_REACHED
   * (402), WORKSPACE_LIMIT_REACHED (429), RECIPIENT_OPTED_OUT, RECIPIENT_LIMIT_REACHED (422) and what
   * `SendPreparation.prepare` refuses.
   */
  async send(sender: Sender, idempotencyKey: string, request: MessageInput): Promise<SendResult> {
    const fingerprint = fingerprintOf(request);
    const key = idempotencyKey.toLowerCase();
    let input = request;
    let prepared: PreparedSend;
    let reserved: Reservation;
    try {
      requireTimeAhead(input.sendAt);
      if (request.inConversationId !== undefined) {
        input = await this.preparation.addressed(sender.organizationId, request);
      }
      prepared = await this.preparation.prepare(sender, input);
      reserved = this.backlog.check(sender.organizationId, kindsOf(input));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      // Runs before all checks: a repeated key gets its first answer, even if the request would be refused now.
      // Otherwise the caller would send again.
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
      throw windowClosed(accepted.lastInboundAt ?? null);
    }
    if (accepted.kind === 'known') return replay(accepted, fingerprint);
    const { lastInboundAt, conversationId: foundId } = accepted;
    if (foundId && lastInboundAt) this.recipients.remember(connection.id, input.recipient, foundId, lastInboundAt);
    if (input.sendAt === undefined) this.sending.wake(connection.id);
    return { messageId: accepted.messageId, replayed: false };
  }

  /**
   * Like `send`, for the unparsed body of POST /messages. Without a key, equal requests within a minute are one
   * message.
   *
   * @throws VALIDATION_FAILED (422), and what `send` throws.
   */
  async sendBody(sender: Sender, idempotencyKey: string | null, body: unknown): Promise<SendResult> {
    const input = readMessageInput(body);
    if (idempotencyKey !== null) return this.send(sender, idempotencyKey, input);
    const fingerprint = fingerprintOf(input);
    const now = databaseClock.now();
    // An equal request of the last minute has the key of this minute or of the previous one.
    const before = keyOfMinute(fingerprint, minuteOf(now) - 1);
    const known = (await this.accepts.findByKeys(sender.organizationId, [before])).get(before);
    if (known !== undefined && now - timeOfId(known.messageId) < MINUTE_MS) return replay(known, fingerprint);
    return this.send(sender, keyOfMinute(fingerprint, minuteOf(now)), input);
  }

  /** The id of a message of the number, given by its id or by WhatsApp's; null where the number has no such message. */
  async idOf({ organizationId, id: connectionId }: Connection, name: string): Promise<string | null> {
    return isUuid(name) ? name.toLowerCase() : this.messages.findIdAtPlatform(organizationId, connectionId, name);
  }

  /**
   * One message, and why it waits while it is queued. The reason takes a second statement, for queued messages only.
   *
   * @throws MESSAGE_NOT_FOUND (404).
   */
  async getById(organizationId: string, id: string): Promise<DetailedMessage & { waiting: Waiting | null }> {
    const message = await this.messages.findWithAttempts(organizationId, id);
    if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
    const waiting = message.status === 'queued' ? await this.sending.waiting(message) : null;
    if (message.status !== 'queued' || waiting !== null) return { ...message, waiting };
    // The message has left the queue since.
    return { ...((await this.messages.findWithAttempts(organizationId, id)) ?? message), waiting };
  }

  /**
   * One page of the journal, newest first. `next`: the message after which the next page begins; null on the last page.
   * A page ends early when it has read as many messages as it may.
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
   * Cancels a message that no worker has claimed yet, scheduled or queued. Repeatable.
   *
   * @throws MESSAGE_NOT_FOUND (404), MESSAGE_NOT_CANCELABLE (409), SERVICE_UNAVAILABLE (503) where claims are blocked,
   * because waiting messages may have been sent.
   */
  async cancel(
    { organizationId, apiKeyId }: { organizationId: string; apiKeyId: string },
    id: string,
  ): Promise<Message> {
    const [applied] = await this.facts.applyNow([{ kind: 'canceled', messageId: id, apiKeyId }], { organizationId });
    const message = await this.messages.findById(organizationId, id);
    if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
    if (applied?.moved === true) {
      this.webhook.wake([organizationId]);
      // The message may have been the first of its recipient: the next one is due now.
      this.sending.wake(message.connectionId);
      return message;
    }
    if (message.failureCategory === 'canceled') return message;
    // The status under the lock.
    const status = applied?.message ? statusOf(applied.message) : message.status;
    if (status === 'queued') throw commonErrors.SERVICE_UNAVAILABLE(undefined);
    throw messagesErrors.MESSAGE_NOT_CANCELABLE({ status, isOfApp: isOfApp(message) });
  }

  /** For operators: every lane with queued messages or messages in flight, the busiest first. */
  lanes(): Promise<LaneStatus[]> {
    return this.maintenance.lanes();
  }

  /** Messages in `outcome_unknown`, summed over all numbers; each number counts up to 1,000. */
  unknown(): Promise<number> {
    return this.maintenance.unknown();
  }
}

function replay(known: Accepted, fingerprint: string): SendResult {
  if (known.fingerprint !== fingerprint) throw messagesErrors.IDEMPOTENCY_KEY_REUSED();
  return { messageId: known.messageId, replayed: true };
}
