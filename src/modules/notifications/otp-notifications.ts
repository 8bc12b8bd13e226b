import { Injectable } from '@nestjs/common';
import { Counters } from '../../platform/operations/counters.js';
import type { StatusNotification, WebhookPayload } from '../../platform/whatsapp/webhook-payload.types.js';
import { OtpReportsService } from '../otp/otp-reports.service.js';

/** Hands what the platform tells of the number that sends codes to the codes. */
@Injectable()
export class OtpNotifications {
  constructor(
    private readonly reports: OtpReportsService,
    private readonly counters: Counters,
  ) {}

  /**
   * Applies what belongs to codes and returns the rest. A status that names no code stays in it, for a number may serve
   * a workspace as well; what users write to the number in answer to a code goes nowhere.
   */
  async apply(payload: WebhookPayload): Promise<WebhookPayload> {
    const senders = await this.sendersIn(payload);
    if (senders.size === 0) return payload;
    const left = await Promise.all(
      payload.statuses.map(async (status) => ((await this.isApplied(status, senders)) ? [] : [status])),
    );
    return {
      ...payload,
      statuses: left.flat(),
      inbound: payload.inbound.filter(({ phoneNumberId }) => !senders.has(phoneNumberId)),
    };
  }

  private async isApplied(status: StatusNotification, senders: ReadonlySet<string | null>): Promise<boolean> {
    if (!senders.has(status.phoneNumberId)) return false;
    const applied = await this.reports.apply({
      status: status.status,
      metaMessageId: status.metaMessageId,
      callbackData: status.callbackData,
      occurredAt: status.timestamp,
      error: status.error,
    });
    if (applied) this.counters.increment('notifications_otp');
    return applied;
  }

  private async sendersIn({ statuses, inbound }: WebhookPayload): Promise<ReadonlySet<string | null>> {
    const ids = new Set([...statuses, ...inbound].flatMap(({ phoneNumberId }) => phoneNumberId ?? []));
    const known = await Promise.all([...ids].map(async (id) => ((await this.reports.isSender(id)) ? [id] : [])));
    return new Set(known.flat());
  }
}
