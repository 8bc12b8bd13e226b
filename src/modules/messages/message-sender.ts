import { describeError } from '../../common/describe-error.js';
import { Injectable, Logger } from '@nestjs/common';
import { keepTrying } from '../../common/keep-trying.js';
import type { ClaimRequest, LaneHandler, LanePace } from '../../platform/lanes/lane-handler.js';
import { LaneRepository } from '../../platform/lanes/lane.repository.js';
import { Config } from '../../platform/config/config.js';
import { Counters } from '../../platform/operations/counters.js';
import { CloudApiClient } from '../../platform/whatsapp/cloud-api-client.js';
import { buildMessageBody, isSendableType, type SendableType } from '../../platform/whatsapp/message-body.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../platform/whatsapp/outcome.js';
import { isTokenRefused } from '../../platform/whatsapp/platform-fault.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { canSend, type SendingConnection } from '../connections/connections.types.js';
import { TemplatesService } from '../templates/templates.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { ConversationsRepository } from './conversations.repository.js';
import { FileExchange } from './file-exchange.js';
import { ownFilesIn } from './file-references.js';
import { putBack, recordOf, refusal } from './outcome-record.js';
import { OutcomeRepository, type OutcomeRecord } from './outcome.repository.js';
import { SendRepository, type ClaimedMessage } from './send.repository.js';

/** A claimed message, and until when (monotonic ms) its request may still be written. */
export type SendTask = ClaimedMessage & { notAfter: number };

/** Nothing was sent; the message goes back to the queue for so long. */
interface Later {
  kind: 'later';
  delayMs: number;
}

// Nothing is written in the lease's last moments: by then the sweep may be about to call the outcome unknown.
const LEASE_MARGIN_MS = 1_000;
const BURST_SECONDS = 0.25;
const RECORD_FOR_MS = 60_000;

/** Sends claimed messages to the platform and records what came of each. */
@Injectable()
export class MessageSender implements LaneHandler<SendTask> {
  readonly name = 'send';
  readonly maxInFlightPerLane = 64;
  private readonly logger = new Logger(MessageSender.name);
  private readonly pausedLanes = new Set<string>();
  private stopping = false;

  constructor(
    private readonly sends: SendRepository,
    private readonly outcomes: OutcomeRepository,
    private readonly conversations: ConversationsRepository,
    private readonly lanes: LaneRepository,
    private readonly connections: ConnectionsService,
    private readonly templates: TemplatesService,
    private readonly webhook: WebhookService,
    private readonly files: FileExchange,
    private readonly client: CloudApiClient,
    private readonly config: Config,
    private readonly counters: Counters,
  ) {}

  /** From now on claimed messages that are not on the wire yet go back to the queue. */
  stop(): void {
    this.stopping = true;
  }

  async pace(connectionId: string): Promise<LanePace | null> {
    const connection = await this.connections.forSending(connectionId);
    if (connection === null || !canSend(connection.status)) return null;
    const ratePerSecond = connection.throughputPerSecond;
    return { ratePerSecond, burstSeconds: Math.max(BURST_SECONDS, 1 / ratePerSecond) };
  }

  async claim(request: ClaimRequest): Promise<SendTask[]> {
    const { messageTtlHours, sendLeaseMs: leaseMs } = this.config.limits;
    // Taken before the statement, so that it ends before the lease does by the database's clock.
    const notAfter = performance.now() + leaseMs - LEASE_MARGIN_MS;
    const claimed = await this.sends.claim(request.laneKey, request, { ttlHours: messageTtlHours, leaseMs });
    return claimed.map((message) => ({ ...message, notAfter }));
  }

  async work(task: SendTask): Promise<void> {
    const connection = this.stopping ? null : await this.connections.forSending(task.connectionId).catch(() => null);
    if (connection === null || !canSend(connection.status)) {
      await this.record(task, putBack(task));
      return;
    }
    const sent = await this.send(task, connection);
    if (sent.kind === 'later') await this.record(task, putBack(task, sent.delayMs));
    else await this.settle(task, connection, sent);
  }

  private async send(task: SendTask, connection: SendingConnection): Promise<SendOutcome | Later> {
    if (!isSendableType(task.type)) return refusal('invalid_content', `Messages of type ${task.type} cannot be sent.`);
    if (task.type === 'reaction' && task.contextMessageId === null) {
      return refusal('invalid_content', 'The message to react to has no id at the platform.');
    }
    if (ownFilesIn(task.type, task.content).length === 0) return this.post(task, task.type, connection, task.content);
    return this.sendWithFiles(task, task.type, connection);
  }

  /**
   * The platform forgets files after a while: a message that it refuses for its file was surely not sent, and goes once
   * more, with the file uploaded again. Once only.
   */
  private async sendWithFiles(
    task: SendTask,
    type: SendableType,
    connection: SendingConnection,
  ): Promise<SendOutcome | Later> {
    for (let round = 1; ; round++) {
      const exchanged = await this.files.exchange(connection, task);
      if (exchanged.kind === 'later') return exchanged;
      if (exchanged.kind === 'refused') return exchanged.outcome;
      if (this.stopping) return { kind: 'later', delayMs: 0 };
      const outcome = await this.post(task, type, connection, exchanged.content);
      if (outcome.kind === 'accepted' || !this.files.isRefused(outcome, exchanged.ids)) return outcome;
      await this.files.forget(connection, exchanged.ids);
      if (round === 2) return { ...outcome, category: 'media_error' };
    }
  }

  private post(
    task: SendTask,
    type: SendableType,
    connection: SendingConnection,
    content: Record<string, unknown>,
  ): Promise<SendOutcome> {
    const body = buildMessageBody({
      to: task.recipient,
      type,
      content,
      contextMessageId: task.contextMessageId,
      callbackData: task.attemptId,
    });
    const { phoneNumberId, token } = connection;
    return this.client.sendMessage({ phoneNumberId, token, body, notAfter: task.notAfter });
  }

  private async settle(task: SendTask, connection: SendingConnection, outcome: SendOutcome): Promise<void> {
    this.counters.increment(`send_${outcome.kind}`);
    const category = outcome.kind === 'accepted' ? 'none' : outcome.category;
    this.counters.incrementBy('send_outcomes', { outcome: outcome.kind, category });
    await this.record(task, recordOf(task, outcome));
    if (outcome.kind === 'accepted') {
      if (this.pausedLanes.delete(task.connectionId)) await this.quietly(this.lanes.resume(task.connectionId));
      await this.adopt(task, outcome.waId, outcome.userId);
    } else if (outcome.kind === 'lane_paused') {
      await this.pause(connection, outcome);
    } else if (outcome.kind === 'rejected' && outcome.category === 'template_unavailable') {
      await this.quietly(this.templates.suspect(connection));
    }
  }

  private async pause(connection: SendingConnection, outcome: NotAcceptedOutcome): Promise<void> {
    this.pausedLanes.add(connection.id);
    const reason = `${outcome.category}${outcome.platformCode === null ? '' : ` (${outcome.platformCode})`}`;
    await this.quietly(this.lanes.pause(connection.id, reason, outcome.retryAfterMs ?? 0));
    if (isTokenRefused({ code: outcome.platformCode })) await this.quietly(this.connections.tokenRefused(connection));
  }

  /** Brazil, Mexico and usernames: the platform may know the contact under another name than the one we used. */
  private async adopt(task: SendTask, waId: string | null, userId: string | null): Promise<void> {
    if (task.conversationId === null || ((waId === null || waId === task.recipient) && userId === null)) return;
    await this.quietly(this.conversations.adopt(task.conversationId, { waId, userId }));
  }

  /** An outcome is never dropped for a database that is away: it is tried again for a minute, then the lease decides. */
  private async record(task: SendTask, record: OutcomeRecord): Promise<void> {
    try {
      const moved = await keepTrying(() => this.outcomes.record(record), {
        forMs: RECORD_FOR_MS,
        onFailure: () => this.counters.increment('outcome_record_failed'),
      });
      if (moved && record.status !== 'queued') this.webhook.wake([task.organizationId]);
    } catch (error) {
      this.logger.error(`message ${task.id}: its outcome could not be stored: ${describeError(error)}`);
    }
  }

  private async quietly(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.logger.warn(`after a send: ${describeError(error)}`);
    }
  }
}
