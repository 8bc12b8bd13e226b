import { Injectable } from '@nestjs/common';
import { Counters } from '../../platform/operations/counters.js';
import type { StatusNotification, WebhookPayload } from '../../platform/whatsapp/webhook-payload.types.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { OtpReportsService } from '../otp/otp-reports.service.js';

/** Hands what the platform tells of the number that sends codes to the codes. */
@Injectable()
export class OtpNotifications {
  constructor(
    private readonly reports: OtpReportsService,
    private readonly connections: ConnectionsService,
    private readonly counters: Counters,
  ) {}

  /**
   * Applies what belongs to codes and returns the rest. A status that names no code stays in it, and so does what was
   * written to a number that is a workspace's too; what users write to ours in answer to a code goes nowhere.
   */
  async apply(payload: WebhookPayload): Promise<WebhookPayload> {
    const senders = await this.sendersIn(payload);
    if (senders.size === 0) return payload;
    const left = await Promise.all(
      payload.statuses.map(async (status) => ((await this.isApplied(status, senders)) ? [] : [status])),
    );
    const ours = await this.withoutWorkspace(senders);
    return {
      ...payload,
      statuses: left.flat(),
      inbound: payload.inbound.filter(({ phoneNumberId }) => !ours.has(phoneNumberId)),
    };
  }

  private async isApplied(status: StatusNotification, senders: ReadonlySet<string>): Promise<boolean> {
    if (status.phoneNumberId === null || !senders.has(status.phoneNumberId)) return false;
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

  private sendersIn({ statuses, inbound }: WebhookPayload): Promise<ReadonlySet<string>> {
    const ids = new Set([...statuses, ...inbound].flatMap(({ phoneNumberId }) => phoneNumberId ?? []));
    return thoseOf(ids, (id) => this.reports.isSender(id));
  }

  private withoutWorkspace(senders: ReadonlySet<string>): Promise<ReadonlySet<string | null>> {
    return thoseOf(senders, async (id) => (await this.connections.findByPhoneNumberId(id)) === null);
  }
}

async function thoseOf(ids: ReadonlySet<string>, test: (id: string) => Promise<boolean>): Promise<ReadonlySet<string>> {
  const passed = await Promise.all([...ids].map(async (id) => ((await test(id)) ? [id] : [])));
  return new Set(passed.flat());
}
