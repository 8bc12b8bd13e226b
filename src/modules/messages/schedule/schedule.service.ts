import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { AppError } from '../../../common/app-error.js';
import { describeError } from '../../../common/describe-error.js';
import type { FailureCategory } from '../../../common/failure-category.js';
import { mapAtOnce } from '../../../common/map-at-once.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Sweeps } from '../../../infrastructure/lanes/sweeps.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import type { OptOutsFound } from '../../opt-outs/opt-outs.types.js';
import { SendPreparation } from '../accept/send-preparation.js';
import { SendingService } from '../../sending/sending.service.js';
import { ScheduleRepository, type Decision, type DueMessage } from './schedule.repository.js';

const BATCH = 500;
/** Checks beside each other; each asks the database a few things at most. */
const AT_ONCE = 8;
/** What could not be checked, because WhatsApp did not answer, is looked at again after so long. */
const AGAIN_SECONDS = 15;

/** What a refusal at release is called. What is not here is no answer about the message, which is looked at again. */
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

/**
 * Releases scheduled messages when they are due: each is checked as at acceptance and joins its recipient's order, or
 * fails. Until then no claim and no other sweep reads them.
 */
@Injectable()
export class ScheduleService implements OnModuleInit {
  private readonly logger = new Logger(ScheduleService.name);

  constructor(
    private readonly schedule: ScheduleRepository,
    private readonly preparation: SendPreparation,
    private readonly sending: SendingService,
    private readonly webhook: WebhookService,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    const { schedule } = this;
    this.sweeps.add({
      name: 'send_schedule',
      everyMs: 1_000,
      get hasWork() {
        return schedule.hasDue();
      },
      run: (signal) => this.releaseDue(signal),
    });
  }

  /** Releases what is due, page by page, until one finds nothing; returns how many. */
  private async releaseDue(signal: AbortSignal): Promise<number> {
    let total = 0;
    while (!signal.aborted) {
      const due = await this.schedule.findDue(BATCH, this.config.limits.messageTtlHours);
      if (due === null) break;
      if (due.length > 0) await this.release(due);
      total += due.length;
    }
    return total;
  }

  private async release(due: readonly DueMessage[]): Promise<void> {
    const decisions: Decision[] = [];
    const unknown: string[] = [];
    // Asked once for all messages of a workspace.
    const paid = new Map<string, Promise<void>>();
    const optOuts = await this.preparation.optOutsOf(due.map(({ message }) => message));
    const checked = due.map((each, index) => ({ ...each, optOuts: optOuts[index] }));
    await mapAtOnce(checked, AT_ONCE, async (each) => {
      const decision = await this.decide(each, paid);
      if (decision !== null) decisions.push(decision);
      else unknown.push(each.message.id);
    });
    if (unknown.length > 0) await this.schedule.postpone(unknown, AGAIN_SECONDS);
    if (decisions.length === 0) return;
    const released = await this.schedule.release(decisions, this.config.limits.messageTtlHours);
    for (const id of new Set(released.filter(({ isQueued }) => isQueued).map(({ connectionId }) => connectionId))) {
      this.sending.wake(id);
    }
    const failed = released.filter(({ isQueued }) => !isQueued).map(({ organizationId }) => organizationId);
    if (failed.length > 0) this.webhook.wake(new Set(failed));
  }

  /** Null where it could not be found out. */
  private async decide(
    { message, isExpired, optOuts }: DueMessage & { optOuts: OptOutsFound | undefined },
    paid: Map<string, Promise<void>>,
  ): Promise<Decision | null> {
    const { id: messageId, organizationId } = message;
    if (isExpired) return { messageId, refusal: EXPIRED, body: null };
    try {
      const payment =
        paid.get(organizationId) ?? this.preparation.requirePayment({ organizationId, apiPaidUntil: null });
      paid.set(organizationId, payment);
      await payment;
      const { body } = await this.preparation.prepareAgain(organizationId, message, optOuts);
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
