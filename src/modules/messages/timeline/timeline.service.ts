import { Injectable } from '@nestjs/common';
import { Audit } from '../../audit/audit.service.js';
import { Config } from '../../../infrastructure/config/config.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { MAX_MESSAGE_EVENTS } from '../../webhook/webhook.types.js';
import type { TimelineResponse } from '../dto/timeline.response.js';
import { messagesErrors } from '../messages.errors.js';
import { type MessageMarks, MessagesRepository } from '../messages.repository.js';
import type { DetailedMessage } from '../../message-state/message.types.js';
import { SendingService } from '../../sending/sending.service.js';
import { explanationOf } from './explanation.js';
import { MAX_ATTEMPTS, timelineOf } from './timeline.js';

/** Builds a message's whole history from what is stored about it. */
@Injectable()
export class TimelineService {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly sending: SendingService,
    private readonly webhook: WebhookService,
    private readonly audit: Audit,
    private readonly config: Config,
  ) {}

  /** @throws MESSAGE_NOT_FOUND (404). */
  async of(organizationId: string, id: string): Promise<TimelineResponse> {
    const message = await this.messages.findWithAttempts(organizationId, id);
    const marks = message === null ? null : await this.messages.findMarks(organizationId, id);
    if (message === null || marks === null) throw messagesErrors.MESSAGE_NOT_FOUND();
    // One after the other, so that a request holds one connection at a time.
    const events = await this.webhook.deliveriesOfMessage(organizationId, message.id);
    const waiting = message.status === 'queued' ? await this.sending.waiting(message) : null;
    const erasedAt = marks.isErased ? await this.erasedAt(organizationId, message.createdAt) : null;
    const data = timelineOf({ message, events: events.slice(-MAX_MESSAGE_EVENTS), erasedAt, ...marks });
    const explanation = explanationOf({ message, waiting, ...marks });
    const not_kept = this.notKept(message, {
      ...marks,
      isErasureDated: erasedAt !== null || message.errorCode === 'ERASED',
      hasMoreEvents: events.length > MAX_MESSAGE_EVENTS,
    });
    return { data, explanation, not_kept };
  }

  /** The audit trail does not name contacts, so the time is certain only if there was exactly one erasure since. */
  private async erasedAt(organizationId: string, since: Date): Promise<Date | null> {
    const [first, second] = await this.audit.list({ organizationId, action: 'contact.erased', since, limit: 2 });
    return first !== undefined && second === undefined ? first.occurredAt : null;
  }

  private notKept(
    { createdAt, attempts, attemptCount }: DetailedMessage,
    marks: MessageMarks & { isErasureDated: boolean; hasMoreEvents: boolean },
  ): string[] {
    const { attemptDays, webhookDays } = this.config.retention;
    const missing = attemptCount - attempts.length;
    const isBefore = (days: number): boolean => marks.now.getTime() - createdAt.getTime() > days * 86_400_000;
    return [
      missing > 0 &&
        `${missing} earlier attempt${missing === 1 ? ' is' : 's are'} not listed: the last ${MAX_ATTEMPTS} are, and those that a later one replaced are kept for ${attemptDays} days.`,
      marks.hasMoreEvents && `Only its last ${MAX_MESSAGE_EVENTS} webhook events are named.`,
      isBefore(webhookDays) && `Webhook events and their deliveries are kept for ${webhookDays} days.`,
      marks.isErased && !marks.isErasureDated && 'The contact was erased; when is not known of a single message.',
      marks.isCleared && !marks.isErased && 'Its content was removed when its retention time was over.',
    ].filter((text) => text !== false);
  }
}
