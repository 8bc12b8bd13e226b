import { Processor } from '@nestjs/bullmq';
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../../common/app-error.js';
import { describeError } from '../../../common/describe-error.js';
import type { FailureCategory } from '../../../common/failure-category.js';
import { mapAtOnce } from '../../../common/map-at-once.js';
import { retry } from '../../../common/retry.js';
import type { ClaimRequest, LanePace, Claim } from '../../../infrastructure/queue/lane-grant.js';
import { QUEUE_WORKER_OPTIONS, QueueParts, QueueProcessor } from '../../../infrastructure/queue/queue-processor.js';
import { claimEach, type QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { SendPreparation } from '../accept/send-preparation.js';
import type { Message } from '../../message-state/message.types.js';
import { SendingService } from '../../sending/sending.service.js';
import { ScheduleRepository, type Decision, type DueMessage } from './schedule.repository.js';

export const SCHEDULE_QUEUE = 'schedule';

/**
 * Numbers whose messages are checked at the same time, and checks per number; each check makes a few queries at most.
 */
const MAX_IN_FLIGHT = 32;
const AT_ONCE = 4;
/** Releases need no pace: the queue has one. */
const PACE: LanePace = { ratePerSecond: 1_000, burstSeconds: 1 };
const RECORD_FOR_MS = 60_000;
/** Seconds until a message is checked again where WhatsApp did not answer. */
const AGAIN_SECONDS = 15;

/**
 * The failure category of a refusal at release. Errors without a category do not concern the message, which is checked
 * again later.
 */
const CATEGORY_OF: Readonly<Record<string, FailureCategory>> = {
  SUBSCRIPTION_REQUIRED: 'account_restricted',
  CONNECTION_NOT_FOUND: 'sender_not_ready',
  CONNECTION_NOT_READY: 'sender_not_ready',
  SERVICE_WINDOW_CLOSED: 'service_window_closed',
  TEMPLATE_NOT_FOUND: 'template_unavailable',
  TEMPLATE_NOT_APPROVED: 'template_unavailable',
  TEMPLATE_PARAMETERS_MISMATCH: 'invalid_content',
  RECIPIENT_NEEDS_PHONE: 'invalid_recipient',
  RECIPIENT_OPTED_OUT: 'opted_out',
  MEDIA_NOT_FOUND: 'media_error',
  MEDIA_TYPE_MISMATCH: 'media_error',
  VALIDATION_FAILED: 'invalid_content',
};

const EXPIRED = {
  category: 'expired',
  code: 'EXPIRED',
  message: 'The message stayed in the queue for too long.',
} as const;

/** Checks and releases due messages of one number at a time, so that no other number waits for its checks. */
@Injectable()
export class ScheduledMessages implements QueueKind<DueMessage[]> {
  readonly name = SCHEDULE_QUEUE;
  /** One batch of a number at a time, so that its messages keep their order. */
  readonly maxPerLane = 1;
  private readonly logger = new Logger(ScheduledMessages.name);
  private stopping = false;

  constructor(
    private readonly schedule: ScheduleRepository,
    private readonly preparation: SendPreparation,
    private readonly sending: SendingService,
    private readonly webhook: WebhookService,
  ) {}

  /** Undecided messages stay scheduled. */
  stop(): void {
    this.stopping = true;
  }

  pace(): Promise<LanePace> {
    return Promise.resolve(PACE);
  }

  claim(requests: readonly ClaimRequest[], withinMs?: number): Promise<(Claim<DueMessage[]> | Error)[]> {
    return claimEach(requests, (request) => this.schedule.claim(request, withinMs));
  }

  async work(due: DueMessage[]): Promise<number | null> {
    const decisions: Decision[] = [];
    const unknown: string[] = [];
    // Checked once for all messages of the workspace.
    let paid: Promise<void> | undefined;
    const pay = (organizationId: string) =>
      (paid ??= this.preparation.requirePayment({ organizationId, apiPaidUntil: null }));
    const prepare = this.preparation.prepareAgain(due.map(({ message }) => message));
    await mapAtOnce(due, AT_ONCE, async (each) => {
      if (this.stopping) return;
      const decision = await this.decide(each, pay, prepare);
      if (decision !== null) decisions.push(decision);
      else unknown.push(each.message.id);
    });
    try {
      await retry(() => this.record(decisions, unknown), { forMs: RECORD_FOR_MS, onFailure: () => undefined });
    } catch (error) {
      this.logger.error(`${due.length} messages are due and could not be released: ${describeError(error)}`);
    }
    return unknown.length > 0 ? AGAIN_SECONDS * 1_000 : null;
  }

  /** Repeatable: messages that were already released or deferred are left out. */
  private async record(decisions: readonly Decision[], unknown: readonly string[]): Promise<void> {
    if (unknown.length > 0) await this.schedule.postpone(unknown, AGAIN_SECONDS);
    if (decisions.length === 0) return;
    const released = await this.schedule.release(decisions);
    for (const id of new Set(released.filter(({ isQueued }) => isQueued).map(({ connectionId }) => connectionId))) {
      this.sending.wake(id);
    }
    const failed = released.filter(({ isQueued }) => !isQueued).map(({ organizationId }) => organizationId);
    if (failed.length > 0) this.webhook.wake(new Set(failed));
  }

  /** Null where the check could not be made. */
  private async decide(
    { message, isExpired }: DueMessage,
    pay: (organizationId: string) => Promise<void>,
    prepare: (message: Message) => Promise<{ body: string | null }>,
  ): Promise<Decision | null> {
    const { id: messageId, organizationId } = message;
    if (isExpired) return { messageId, refusal: EXPIRED, body: null };
    try {
      await pay(organizationId);
      const { body } = await prepare(message);
      return { messageId, refusal: null, body };
    } catch (error) {
      const category = error instanceof AppError ? CATEGORY_OF[error.code] : undefined;
      if (category !== undefined && error instanceof AppError) {
        return { messageId, refusal: { category, code: error.code, message: error.message }, body: null };
      }
      this.logger.warn(`message ${messageId} is due and could not be checked: ${describeError(error)}`);
      return null;
    }
  }
}

/**
 * The steps of a message with `send_at`:
 *
 * 1. Its row of `message_queue` is held until its time (`held_until`). Until then no claim and no other sweep reads it.
 * 2. When it is due, a worker takes its number's lane and finds up to a hundred due messages of the number.
 * 3. Each is checked like at acceptance. In one statement, accepted messages join their recipients' order, and refused
 *    ones fail. Messages that could not be checked are due again in 15 s.
 */
@Processor(SCHEDULE_QUEUE, QUEUE_WORKER_OPTIONS)
export class ScheduleProcessor extends QueueProcessor<DueMessage[]> {
  constructor(schedule: ScheduleRepository, kind: ScheduledMessages, parts: QueueParts) {
    super(
      {
        kind,
        maxInFlight: MAX_IN_FLIGHT,
        dueLanes: schedule.dueLanes,
        // The time that a caller gave stays as it is, even if the clock is set.
        waitsFor: [],
        leftAtStop: (count) =>
          `due messages of ${count} numbers were being checked when Herald stopped; they stay scheduled`,
      },
      parts,
    );
  }
}
