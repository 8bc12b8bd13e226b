import { describeError } from '../../../common/describe-error.js';
import { Injectable, Logger } from '@nestjs/common';
import { Deadline } from '../../../common/deadline.js';
import { newId } from '../../../common/ids.js';
import { retry } from '../../../common/retry.js';
import type { Claim, ClaimRequest, LanePace } from '../../../infrastructure/queue/lane-grant.js';
import type { QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { type LostClaimError, releaseLost } from '../../../infrastructure/queue/lost-claims.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { type Span, Tracing } from '../../../infrastructure/operations/tracing.js';
import { CloudApiClient, type SendMessageInput } from '../../../infrastructure/whatsapp/cloud-api-client.js';
import {
  MARKETING_UNUSABLE,
  otherEndpoint,
  PAYMENT_MISSING,
  type Endpoint,
} from '../../../infrastructure/whatsapp/graph-error.js';
import { buildMessageBody, isSendableType, type SendableType } from '../../../infrastructure/whatsapp/message-body.js';
import type { AcceptedOutcome, NotAcceptedOutcome, SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import { isTokenRefused } from '../../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { canSend, endpointOf, type SendingConnection } from '../../connections/connections.types.js';
import { OptOutsService } from '../../opt-outs/opt-outs.service.js';
import { OPTED_OUT_CODE } from '../../opt-outs/opt-outs.types.js';
import { TemplatesService } from '../../templates/templates.service.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { ContactsService } from '../../conversations/contacts/contacts.service.js';
import { FileExchange } from './file-exchange.js';
import { ownFilesIn } from '../../message-state/file-references.types.js';
import type { OutcomeRecord, Result } from '../../message-state/facts.types.js';
import {
  OutcomeRepository,
  RECORD_FOR_MS,
  recordOf,
  refusal,
  refusedByEndpoint,
  released,
} from '../outcome/outcome.repository.js';
import { ClaimRepository, type ClaimedMessage } from '../claim/claim.repository.js';

/**
 * When a claim was made (monotonic ms), until when its requests may be written, and its span where traces are recorded.
 */
interface ClaimTimes {
  claimedAt: number;
  notAfter: Deadline;
  claim?: Span | undefined;
}

export interface SendTask {
  message: ClaimedMessage;
  times: ClaimTimes;
}

/** The message was certainly not sent. It returns to the queue and is due again after `delayMs`. */
interface Later {
  kind: 'later';
  delayMs: number;
  /** The refusal by the first endpoint, where the message was to go to the second endpoint at once but did not. */
  refused?: NotAcceptedOutcome;
  /** The id of the attempt for the second endpoint, where that attempt may have been stored. */
  nextAttemptId?: string;
}

// No request is written this close to the end of the lease: the sweep may be about to set `outcome_unknown`.
const LEASE_MARGIN_MS = 1_000;
const BURST_SECONDS = 0.25;

/** The work of the queue of messages: claims them, sends each to the platform, and records its outcome. */
@Injectable()
export class MessageSender implements QueueKind<SendTask> {
  readonly name = 'send';
  readonly maxPerLane = 64;
  private readonly logger = new Logger(MessageSender.name);
  private stopping = false;

  constructor(
    private readonly claims: ClaimRepository,
    private readonly outcomes: OutcomeRepository,
    private readonly contacts: ContactsService,
    private readonly lanes: LaneRepository,
    private readonly connections: ConnectionsService,
    private readonly templates: TemplatesService,
    private readonly optOuts: OptOutsService,
    private readonly webhook: WebhookService,
    private readonly files: FileExchange,
    private readonly client: CloudApiClient,
    private readonly config: Config,
    private readonly counters: Counters,
    private readonly tracing: Tracing,
  ) {}

  /** From now on, claimed messages whose requests were not written yet return to the queue. */
  stop(): void {
    this.stopping = true;
  }

  async pace(connectionId: string): Promise<LanePace | null> {
    const connection = await this.connections.forSending(connectionId);
    if (connection === null || !canSend(connection.status)) return null;
    const ratePerSecond = connection.throughputPerSecond;
    return { ratePerSecond, burstSeconds: Math.max(BURST_SECONDS, 1 / ratePerSecond) };
  }

  async claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<Claim<SendTask>[]> {
    const { sendLeaseMs: leaseMs } = this.config.limits;
    // Read before the statement, so that this process's deadline comes before the lease ends by the database's clock.
    const claimedAt = performance.now();
    const notAfter = Deadline.in(leaseMs - LEASE_MARGIN_MS);
    const startedAt = performance.now();
    const claims = await this.claims.claim(requests, { leaseMs, withinMs });
    const claim = this.tracing.on
      ? this.tracing.together(
          'claim messages',
          claims.flatMap(({ items }) => items.map(({ traceContext }) => traceContext)),
          startedAt,
        )
      : undefined;
    this.tracing.end(claim);
    const times: ClaimTimes = { claimedAt, notAfter, claim };
    return claims.map(({ grant, items }) => ({ grant, items: items.map((message) => ({ message, times })) }));
  }

  async releaseLost(lost: LostClaimError, connectionIds: readonly string[]): Promise<void> {
    const count = await releaseLost(lost, {
      find: (attemptIds) => this.claims.findAttempts(connectionIds, attemptIds),
      release: (attempt) => this.outcomes.record(released(attempt)),
      forMs: this.config.limits.sendLeaseMs,
    });
    this.counters.increment('claims_taken_back', count);
  }

  work(task: SendTask): Promise<number | null> {
    const { id, attemptId, attemptNumber, organizationId, connectionId, type, traceContext } = task.message;
    if (!this.tracing.on || traceContext === null) return this.workOn(task);
    const span = this.tracing.start('send message', {
      parent: traceContext,
      link: task.times.claim,
      attributes: {
        'herald.message_id': id,
        'herald.message_type': type,
        'herald.attempt_id': attemptId,
        'herald.attempt': attemptNumber,
        'herald.organization_id': organizationId,
        'herald.connection_id': connectionId,
      },
    });
    return this.workOn(task, span).finally(() => this.tracing.end(span));
  }

  private async workOn(task: SendTask, span?: Span): Promise<number | null> {
    const { message } = task;
    const connection = this.stopping ? null : await this.connectionOf(message);
    if (connection === null || !canSend(connection.status)) return this.record(message, released(message));
    const sent = await this.send(task, connection, span);
    if (sent.kind === 'later') return this.releaseFor(message, sent);
    const category = sent.kind === 'accepted' ? 'none' : sent.category;
    this.counters.increment(`send_${sent.kind}`);
    this.counters.incrementBy('send_outcomes', { outcome: sent.kind, category });
    if (sent.kind !== 'accepted' && sent.platformCode === OPTED_OUT_CODE) await this.noteOptOut(message);
    const dueInMs = await this.record(
      message,
      recordOf(message, sent),
      sent.kind === 'lane_paused' ? () => this.pause(task, sent) : null,
    );
    const after = sent.kind === 'accepted' ? this.afterAccepted(task, sent) : this.afterRefusal(connection, sent);
    if (after !== null) await after;
    return dueInMs;
  }

  private async releaseFor(message: ClaimedMessage, { delayMs, refused, nextAttemptId }: Later) {
    const record = refused === undefined ? released(message, delayMs) : refusedByEndpoint(message, refused);
    const dueInMs = await this.record(message, record);
    // The refused attempt is recorded first, because its record waits for a statement that may still be storing the
    // next attempt. Only then is the next attempt released, if it exists.
    if (nextAttemptId !== undefined) await this.store(message, released({ ...message, attemptId: nextAttemptId }));
    return dueInMs;
  }

  /**
   * Returns without a promise where the connection is cached: a worker sends thousands of messages a second from few
   * numbers.
   */
  private connectionOf({ connectionId }: ClaimedMessage): SendingConnection | null | Promise<SendingConnection | null> {
    return this.connections.peekSending(connectionId) ?? this.connections.forSending(connectionId).catch(() => null);
  }

  private send(
    task: SendTask,
    connection: SendingConnection,
    span: Span | undefined,
  ): NotAcceptedOutcome | Promise<SendOutcome | Later> {
    const { type, content, contextMessageId } = task.message;
    if (!isSendableType(type)) return refusal('invalid_content', `Messages of type ${type} cannot be sent.`);
    // Every message has content when accepted, but retention may have deleted it while a retry was being stored.
    if (Object.keys(content).length === 0) {
      return refusal('invalid_content', 'What this message said was cleared when its time was over.');
    }
    if (type === 'reaction' && contextMessageId === null) {
      return refusal('invalid_content', 'The message to react to has no id at the platform.');
    }
    if (ownFilesIn(type, content).length === 0) return this.dispatch(task, type, connection, content, span);
    return this.sendWithFiles(task, type, connection, span);
  }

  /**
   * WhatsApp forgets files after a while. A message that it refuses for its file was certainly not sent: the file is
   * uploaded again, and the message is sent once more in the same attempt. If the upload takes long, the message
   * returns to the queue and the next attempt starts over. MediaTransferService limits repeated refusals of the same
   * file.
   */
  private async sendWithFiles(
    task: SendTask,
    type: SendableType,
    connection: SendingConnection,
    span: Span | undefined,
  ): Promise<SendOutcome | Later> {
    for (let round = 1; ; round++) {
      const exchanged = await this.files.exchange(connection, task.message, task.times.notAfter);
      if (exchanged.kind === 'later') return exchanged;
      if (exchanged.kind === 'refused') return exchanged.outcome;
      if (this.stopping) return { kind: 'later', delayMs: 0 };
      const outcome = await this.dispatch(task, type, connection, exchanged.content, span);
      if (outcome.kind === 'later' || outcome.kind === 'accepted' || !this.files.isRefused(outcome, exchanged.ids))
        return outcome;
      await this.files.forget(connection, exchanged.ids);
      if (round === 2) return { ...outcome, category: 'media_error' };
    }
  }

  private dispatch(
    task: SendTask,
    type: SendableType,
    connection: SendingConnection,
    content: Record<string, unknown>,
    span: Span | undefined,
  ): Promise<SendOutcome | Later> {
    return type === 'template'
      ? this.postTemplate(task, connection, content, span)
      : this.post(task, type, connection, content, span, 'messages');
  }

  /**
   * A template goes to the endpoint for its latest known category. If the platform refuses the endpoint, nothing was
   * sent: the message goes to the other endpoint within the same lease, once, as a separate attempt.
   */
  private async postTemplate(
    task: SendTask,
    connection: SendingConnection,
    content: Record<string, unknown>,
    span: Span | undefined,
  ): Promise<SendOutcome | Later> {
    const endpoint = await this.endpointFor(connection, content);
    if (endpoint === null || this.stopping) return { kind: 'later', delayMs: endpoint === null ? 1_000 : 0 };
    const outcome = await this.post(task, 'template', connection, content, span, endpoint);
    if (outcome.kind !== 'rejected') return outcome;
    if (outcome.platformCode === MARKETING_UNUSABLE) await this.logErrors(this.connections.askSoon(connection.id));
    const other = otherEndpoint(endpoint, outcome.platformCode);
    if (other === null || connection.marketingRoute === 'messages') return outcome;
    // Herald's copy of the category, or of the account's rights, is out of date.
    await this.logErrors(Promise.all([this.templates.suspect(connection), this.connections.askSoon(connection.id)]));
    if (this.stopping) return { kind: 'later', delayMs: 0, refused: outcome };
    const nextAttemptId = newId();
    if (!(await this.openNext(task, outcome, nextAttemptId)))
      return { kind: 'later', delayMs: 0, refused: outcome, nextAttemptId };
    this.counters.increment('sends_rerouted');
    return this.post(task, 'template', connection, content, span, other);
  }

  /** Null where the category could not be read. */
  private async endpointFor(connection: SendingConnection, content: Record<string, unknown>): Promise<Endpoint | null> {
    const { name, language } = content as { name: string; language: { code: string } };
    try {
      return endpointOf(connection, await this.templates.categoryOf(connection, name, language.code));
    } catch (error) {
      this.logger.warn(`connection ${connection.id}: a template's category could not be read: ${describeError(error)}`);
      return null;
    }
  }

  /** Stores the next attempt of the message. False where it is not known to be stored: then nothing may be sent. */
  private async openNext({ message, times }: SendTask, outcome: NotAcceptedOutcome, attemptId: string) {
    const refused = refusedByEndpoint(message, outcome);
    const onFailure = () => this.counters.increment('outcome_record_failed');
    const forMs = times.notAfter.msLeft;
    try {
      if (!(await retry(() => this.outcomes.openNext(refused, attemptId), { forMs, onFailure }))) return false;
    } catch (error) {
      this.logger.warn(`message ${message.id}: its next attempt could not be stored: ${describeError(error)}`);
      return false;
    }
    message.attemptId = attemptId;
    message.attemptNumber++;
    return true;
  }

  /** @param span the span of the send, where traces are recorded. */
  private post(
    { message, times }: SendTask,
    type: SendableType,
    connection: SendingConnection,
    content: Record<string, unknown>,
    span: Span | undefined,
    endpoint: Endpoint,
  ): Promise<SendOutcome> {
    const body = buildMessageBody({
      to: message.recipient,
      userId: message.recipientUserId,
      type,
      content,
      contextMessageId: message.contextMessageId,
      callbackData: `${message.id}.${message.attemptId}`,
    });
    const { phoneNumberId, token } = connection;
    const input = { phoneNumberId, endpoint, token, body, notAfter: times.notAfter };
    return span === undefined ? this.client.sendMessage(input) : this.traced(input, span);
  }

  private async traced(input: SendMessageInput, span: Span): Promise<SendOutcome> {
    const { hostname } = new URL(this.config.whatsapp.apiUrl ?? '');
    const attributes = { 'http.request.method': 'POST', 'server.address': hostname };
    const call = this.tracing.start(`POST /${input.endpoint ?? 'messages'}`, {
      kind: 'client',
      parent: span,
      attributes,
    });
    const outcome = await this.client.sendMessage(input);
    call?.setAttribute('herald.outcome', outcome.kind);
    const failure = outcome.kind === 'accepted' ? null : outcome.category;
    this.tracing.end(call, { status: outcome.httpStatus, failure });
    return outcome;
  }

  /** Work to await before another message takes this one's capacity; null for nearly every message. */
  private afterAccepted({ message, times }: SendTask, outcome: AcceptedOutcome): Promise<unknown> | null {
    const forgotten = this.lanes.succeeded(message.connectionId, times.claimedAt);
    const first = forgotten && this.logErrors(forgotten);
    const adopted = this.adopt(message, outcome);
    return this.stopping ? Promise.all([first, adopted]) : first;
  }

  private afterRefusal(connection: SendingConnection, outcome: NotAcceptedOutcome): Promise<void> | null {
    if (isTokenRefused({ code: outcome.platformCode }))
      return this.logErrors(this.connections.tokenRefused(connection));
    if (outcome.platformCode === PAYMENT_MISSING) return this.logErrors(this.connections.paymentMissing(connection));
    const isSuspect = outcome.kind === 'rejected' && outcome.category === 'template_unavailable';
    return isSuspect ? this.logErrors(this.templates.suspect(connection)) : null;
  }

  /** Runs first, so that a caller who learns of the failure cannot send another message. */
  private noteOptOut({ organizationId, connectionId, recipient, recipientUserId: userId }: ClaimedMessage) {
    const phone = userId === null ? recipient : null;
    return this.logErrors(this.optOuts.noteRefusal({ organizationId, connectionId, phone, userId }));
  }

  private pause({ message, times }: SendTask, outcome: NotAcceptedOutcome): Promise<void> {
    const reason = `${outcome.category}${outcome.platformCode === null ? '' : ` (${outcome.platformCode})`}`;
    const { claimedAt } = times;
    return this.lanes.pause(message.connectionId, reason, { claimedAt, leastMs: outcome.retryAfterMs ?? 0 });
  }

  /**
   * In Brazil, in Mexico and with usernames, WhatsApp may use another name for the contact than the one that was
   * addressed.
   */
  private adopt({ conversationId, recipient, recipientUserId }: ClaimedMessage, { waId, userId }: AcceptedOutcome) {
    const isKnown = (waId === null || waId === recipient) && (userId === null || userId === recipientUserId);
    if (conversationId === null || isKnown) return null;
    return this.logErrors(this.contacts.adopt({ conversationId, waId, userId }));
  }

  /** @returns milliseconds until the message is due again; null where it is not queued. */
  private async record(
    message: ClaimedMessage,
    record: OutcomeRecord,
    pause: (() => Promise<void>) | null = null,
  ): Promise<number | null> {
    const result = await this.store(message, record, pause);
    if (result === 'not_found') {
      this.counters.increment('outcome_not_found');
      this.logger.warn(
        `message ${message.id}: its attempt ${record.attemptId} was not found, and its outcome (${record.status}) is not recorded`,
      );
    }
    if (result === null) return null;
    const isCanceled = result === 'retry_canceled';
    if (record.status === 'queued' && !isCanceled) return record.delayMs ?? null;
    if (result === 'recorded' || isCanceled) this.webhook.wake([message.organizationId]);
    return null;
  }

  /**
   * Stores an outcome. While the database is away, the write is repeated for a minute. After that the outcome is logged
   * and given up, and this returns null: when the lease of the attempt ends, the sweep sets `outcome_unknown`.
   */
  private async store(
    message: ClaimedMessage,
    record: OutcomeRecord,
    pause: (() => Promise<void>) | null = null,
  ): Promise<Result | null> {
    // Pauses before the message is due again, or the next claim would take it. Runs once, however often the outcome is
    // retried.
    let pauseFirst = pause;
    const write = async (): Promise<Result> => {
      await pauseFirst?.();
      pauseFirst = null;
      return this.outcomes.record(record);
    };
    try {
      return await retry(write, {
        forMs: RECORD_FOR_MS,
        onFailure: () => this.counters.increment('outcome_record_failed'),
      });
    } catch (error) {
      this.logger.error(`message ${message.id}: its outcome could not be stored: ${describeError(error)}`);
      return null;
    }
  }

  private async logErrors(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.logger.warn(`after a send: ${describeError(error)}`);
    }
  }
}
