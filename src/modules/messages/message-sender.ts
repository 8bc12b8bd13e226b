import { Injectable, Logger } from '@nestjs/common';
import type { FailureCategory } from '../../common/failure-category.js';
import { deferralMs, MAX_TRIES, pairLimitMs } from '../../common/retry-schedule.js';
import type { ClaimRequest, LaneHandler, LanePace } from '../../platform/lanes/lane-handler.js';
import { LaneRepository } from '../../platform/lanes/lane.repository.js';
import { Config } from '../../platform/config/config.js';
import { Counters } from '../../platform/operations/counters.js';
import { CloudApiClient } from '../../platform/whatsapp/cloud-api-client.js';
import { buildMessageBody, isSendableType } from '../../platform/whatsapp/message-body.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../platform/whatsapp/outcome.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { canSend } from '../connections/connections.types.js';
import { ConversationsRepository } from './conversations.repository.js';
import { OutcomeRepository, type OutcomeRecord } from './outcome.repository.js';
import { LEASE_MS, SendRepository, type ClaimedMessage } from './send.repository.js';

/** A claimed message, and until when (monotonic ms) its request may still be written. */
export type SendTask = ClaimedMessage & { notAfter: number };

// Nothing is written in the lease's last moments: by then the sweep may be about to call the outcome unknown.
const LEASE_MARGIN_MS = 1_000;
const BURST_SECONDS = 0.25;
const RECORD_FOR_MS = 60_000;
/** The platform no longer takes this token (developers.facebook.com, Cloud API error codes). */
const TOKEN_REVOKED = 190;

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
    // Taken before the statement, so that it ends before the lease does by the database's clock.
    const notAfter = performance.now() + LEASE_MS - LEASE_MARGIN_MS;
    const claimed = await this.sends.claim(request.laneKey, request, this.config.limits.messageTtlHours);
    return claimed.map((message) => ({ ...message, notAfter }));
  }

  async work(task: SendTask): Promise<void> {
    const outcome = await this.send(task);
    if (outcome !== null) await this.settle(task, outcome);
  }

  private async send(task: SendTask): Promise<SendOutcome | null> {
    if (this.stopping) {
      await this.record(task, putBack(task));
      return null;
    }
    const connection = await this.connections.forSending(task.connectionId).catch(() => null);
    if (connection === null || !canSend(connection.status)) {
      await this.record(task, putBack(task));
      return null;
    }
    if (!isSendableType(task.type)) return refusal('invalid_content', `Messages of type ${task.type} cannot be sent.`);
    if (task.type === 'reaction' && task.contextMessageId === null) {
      return refusal('invalid_content', 'The message to react to has no id at the platform.');
    }
    const body = buildMessageBody({
      to: task.recipient,
      type: task.type,
      content: task.content,
      contextMessageId: task.contextMessageId,
      callbackData: task.attemptId,
    });
    return this.client.sendMessage({
      phoneNumberId: connection.phoneNumberId,
      token: connection.token,
      body,
      notAfter: task.notAfter,
    });
  }

  private async settle(task: SendTask, outcome: SendOutcome): Promise<void> {
    this.counters.increment(`send_${outcome.kind}`);
    await this.record(task, recordOf(task, outcome));
    if (outcome.kind === 'accepted') {
      if (this.pausedLanes.delete(task.connectionId)) await this.quietly(this.lanes.resume(task.connectionId));
      await this.adopt(task, outcome.waId, outcome.userId);
    } else if (outcome.kind === 'lane_paused') {
      await this.pause(task, outcome);
    }
  }

  private async pause(task: SendTask, outcome: NotAcceptedOutcome): Promise<void> {
    this.pausedLanes.add(task.connectionId);
    const reason = `${outcome.category}${outcome.platformCode === null ? '' : ` (${outcome.platformCode})`}`;
    await this.quietly(this.lanes.pause(task.connectionId, reason, outcome.retryAfterMs ?? 0));
    if (outcome.platformCode === TOKEN_REVOKED) {
      this.logger.warn(`connection ${task.connectionId}: the platform refuses its token; the number is disconnected`);
      await this.quietly(this.connections.setStatus(task.organizationId, task.connectionId, 'disconnected'));
    }
  }

  /** Brazil, Mexico and usernames: the platform may know the contact under another name than the one we used. */
  private async adopt(task: SendTask, waId: string | null, userId: string | null): Promise<void> {
    if (task.conversationId === null || ((waId === null || waId === task.recipient) && userId === null)) return;
    await this.quietly(this.conversations.adopt(task.conversationId, { waId, userId }));
  }

  /** An outcome is never dropped for a database that is away: it is tried again for a minute, then the lease decides. */
  private async record(task: SendTask, record: OutcomeRecord): Promise<void> {
    const until = performance.now() + RECORD_FOR_MS;
    for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 2_000)) {
      try {
        await this.outcomes.record(record);
        return;
      } catch (error) {
        this.counters.increment('outcome_record_failed');
        if (performance.now() + delayMs > until) {
          this.logger.error(`message ${task.id}: its outcome could not be stored: ${describe(error)}`);
          return;
        }
      }
      await new Promise((resolve) => {
        setTimeout(resolve, delayMs);
      });
    }
  }

  private async quietly(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.logger.warn(`after a send: ${describe(error)}`);
    }
  }
}

function recordOf(task: SendTask, outcome: SendOutcome): OutcomeRecord {
  if (outcome.kind === 'accepted') {
    return {
      ...emptyRecord(task),
      status: 'accepted',
      attemptStatus: 'accepted',
      metaMessageId: outcome.metaMessageId,
      httpStatus: outcome.httpStatus,
    };
  }
  const record: OutcomeRecord = {
    ...emptyRecord(task),
    httpStatus: outcome.httpStatus,
    platformCode: outcome.platformCode,
    platformMessage: outcome.platformMessage,
    category: outcome.category,
    traceId: outcome.traceId,
  };
  switch (outcome.kind) {
    case 'rejected':
      return { ...record, status: 'failed', attemptStatus: 'rejected' };
    case 'unknown':
      return { ...record, status: 'outcome_unknown', attemptStatus: 'unknown' };
    case 'lane_paused':
      return { ...record, status: 'queued', attemptStatus: 'deferred', delayMs: 0 };
    case 'deferred':
    case 'recipient_deferred': {
      const tries = task.tries + 1;
      if (tries >= MAX_TRIES) return { ...record, status: 'failed', attemptStatus: 'rejected' };
      const delayMs =
        outcome.kind === 'recipient_deferred' ? pairLimitMs(task.tries) : deferralMs(tries, Math.random());
      const asked = Math.max(delayMs, outcome.retryAfterMs ?? 0);
      return { ...record, status: 'queued', attemptStatus: 'deferred', delayMs: asked, countTry: true };
    }
  }
}

/** Claimed, but surely not written: back to the queue, and the try does not count. */
function putBack(task: SendTask): OutcomeRecord {
  return { ...emptyRecord(task), status: 'queued', attemptStatus: 'deferred' };
}

function emptyRecord(task: SendTask): OutcomeRecord {
  return {
    attemptId: task.attemptId,
    messageId: task.id,
    status: 'queued',
    attemptStatus: 'deferred',
    metaMessageId: null,
    httpStatus: null,
    platformCode: null,
    platformMessage: null,
    category: null,
    traceId: null,
    delayMs: 0,
    countTry: false,
  };
}

function refusal(category: FailureCategory, message: string): NotAcceptedOutcome {
  return {
    kind: 'rejected',
    httpStatus: null,
    platformCode: null,
    platformMessage: message,
    category,
    traceId: null,
    retryAfterMs: null,
    written: false,
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
