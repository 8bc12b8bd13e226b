import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { Config } from '../../platform/config/config.js';
import { Counters } from '../../platform/operations/counters.js';
import { parseWebhookBody, type WebhookPayload } from '../../platform/whatsapp/webhook-payload.js';
import { verifySignature } from '../../platform/whatsapp/webhook-signature.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import { MessageEventsService } from '../messages/message-events.service.js';
import { TemplatesService } from '../templates/templates.service.js';
import { callReportOf, inboundReportOf, statusReportOf } from './notification-reports.js';
import { NotificationsRepository, type DueNotification } from './notifications.repository.js';
import { OtpNotifications } from './otp-notifications.js';

/** Numbers by the platform's id; a number that is not ours is missing. */
type Numbers = ReadonlyMap<string | null, Connection>;

/** Tries by the sweep before a notification whose application fails is given up; they take four hours. */
const LEAST_TRIES = 8;
const FIRST = { expired: false, tries: 0 };

/**
 * Takes in what the platform calls us for. Whatever bears a good signature is stored as it came before it is applied,
 * and only then acknowledged: from there on no crash loses it.
 */
@Injectable()
export class NotificationsService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(NotificationsService.name);

  constructor(
    private readonly notifications: NotificationsRepository,
    private readonly connections: ConnectionsService,
    private readonly events: MessageEventsService,
    private readonly templates: TemplatesService,
    private readonly codes: OtpNotifications,
    private readonly config: Config,
    private readonly counters: Counters,
  ) {}

  countRefused(): void {
    this.counters.increment('notifications_refused');
  }

  /** @param signature the header `X-Hub-Signature-256`. */
  isSigned(body: Buffer, signature: string): boolean {
    return verifySignature(body, signature, this.config.whatsapp.appSecrets);
  }

  /**
   * Stores and applies a notification whose signature was verified. What can't be applied now is left to the sweep.
   *
   * @throws SERVICE_UNAVAILABLE (503) where it can't be stored.
   */
  async take(body: Buffer): Promise<void> {
    const payload = readPayload(body);
    const id = newId();
    await this.notifications.store({ id, body, state: payload === null ? 'unreadable' : 'stored' });
    this.counters.increment('notifications_stored');
    if (payload === null) this.reportUnreadable(id);
    else if (await this.tryToApply(id, payload)) void this.mark(id, 'applied');
  }

  /** Another try at a stored notification; after a day without a match, or of failures, it is given up, and counted. */
  async takeAgain({ id, body, expired, tries }: DueNotification): Promise<void> {
    const payload = readPayload(body);
    if (payload === null) {
      this.reportUnreadable(id);
      await this.mark(id, 'unreadable');
    } else if (await this.tryToApply(id, payload, { expired, tries })) {
      await this.mark(id, 'applied');
    }
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.notifications.idle();
  }

  /** True where everything in it was applied; false where it must be tried again. */
  private async tryToApply(id: string, payload: WebhookPayload, { expired, tries } = FIRST): Promise<boolean> {
    try {
      const unmatched = await this.apply(payload);
      if (unmatched === 0) return true;
      if (expired) await this.giveUp(id, unmatched);
    } catch (error) {
      this.counters.increment('notifications_apply_failed');
      // A service that was down for a day has tried it once: that is no reason yet.
      const isLast = expired && tries >= LEAST_TRIES;
      const next = isLast ? 'was given up' : 'will be tried again';
      this.logger.error(`notification ${id} is stored but could not be applied; it ${next}`, error);
      if (!isLast) return false;
      await this.mark(id, 'failed');
      this.counters.increment('notifications_failed');
    }
    return false;
  }

  /** Applies everything in a notification, and returns how much of it belongs to nothing that is known. */
  private async apply(whole: WebhookPayload): Promise<number> {
    const payload = await this.codes.apply(whole);
    const numbers = await this.numbersIn(payload);
    this.counters.increment('notifications_unknown', payload.unknown.length);
    const [statuses, messages] = await allOrFirstFault([
      this.applyStatuses(payload, numbers),
      this.applyMessages(payload, numbers),
      this.applyCalls(payload, numbers),
      this.applyManagement(payload),
    ]);
    return statuses + messages;
  }

  /** Whoever may be meant is asked about everything, in the order of the notification, and leaves alone what is not his. */
  private async applyManagement({ management }: WebhookPayload): Promise<void> {
    if (management.length === 0) return;
    await allOrFirstFault(
      [this.templates, this.connections].map(async (receiver) => {
        for (const notification of management) await receiver.applyNotification(notification);
      }),
    );
    this.counters.increment('notifications_management', management.length);
  }

  private async applyStatuses({ statuses }: WebhookPayload, numbers: Numbers): Promise<number> {
    const reports = statuses.flatMap((status) => {
      const number = numbers.get(status.phoneNumberId);
      return number === undefined ? [] : statusReportOf(status, number);
    });
    const results = await this.events.applyStatuses(reports);
    const applied = results.filter((result) => result === 'applied').length;
    this.counters.increment('notifications_statuses', applied);
    return statuses.length - applied;
  }

  private async applyMessages({ inbound }: WebhookPayload, numbers: Numbers): Promise<number> {
    const reports = inbound.flatMap((message) => {
      const number = numbers.get(message.phoneNumberId);
      return number === undefined ? [] : inboundReportOf(message, number);
    });
    const received = await this.events.receive(reports);
    this.counters.increment('notifications_messages', received.filter((result) => result.created).length);
    return inbound.length - reports.length;
  }

  /** A call opens the window as a message does; that of a number which is not ours is nobody's. */
  private async applyCalls({ calls }: WebhookPayload, numbers: Numbers): Promise<void> {
    await this.events.takeCalls(
      calls.flatMap((call) => {
        const number = numbers.get(call.phoneNumberId);
        return number === undefined ? [] : callReportOf(call, number);
      }),
    );
  }

  private async numbersIn({ statuses, inbound, calls }: WebhookPayload): Promise<Numbers> {
    const ids = new Set([...statuses, ...inbound, ...calls].flatMap(({ phoneNumberId }) => phoneNumberId ?? []));
    const numbers = new Map<string | null, Connection>();
    await Promise.all(
      [...ids].map(async (id) => {
        const connection = await this.connections.findByPhoneNumberId(id);
        if (connection !== null) numbers.set(id, connection);
      }),
    );
    return numbers;
  }

  private async giveUp(id: string, unmatched: number): Promise<void> {
    await this.mark(id, 'unmatched');
    this.counters.increment('notifications_unmatched');
    this.logger.warn(`notification ${id}: ${unmatched} of its items belong to no number or message of ours`);
  }

  private reportUnreadable(id: string): void {
    this.counters.increment('notifications_unreadable');
    this.logger.warn(`notification ${id} is stored, but it is no JSON`);
  }

  /** What is not marked is applied once more by the sweep, which changes nothing. */
  private async mark(id: string, state: Parameters<NotificationsRepository['mark']>[1]): Promise<void> {
    try {
      await this.notifications.mark(id, state);
    } catch (error) {
      this.logger.warn(`notification ${id} could not be marked as ${state}: ${String(error)}`);
    }
  }
}

/** Waits for all, so that no fault of one keeps another from being applied. */
async function allOrFirstFault<T extends readonly Promise<unknown>[]>(
  work: readonly [...T],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(work);
  return Promise.all(work) as Promise<{ [K in keyof T]: Awaited<T[K]> }>;
}

/** Null where the body is no JSON. */
function readPayload(body: Buffer): WebhookPayload | null {
  const payload = parseWebhookBody(body);
  return payload.unknown.some(({ field }) => field === 'body') ? null : payload;
}
