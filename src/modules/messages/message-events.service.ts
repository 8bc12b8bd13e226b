import { Injectable } from '@nestjs/common';
import { MediaTransferService } from '../media/media-transfer.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { ConversationsRepository } from './conversations.repository.js';
import { InboundRepository, type ReceivedMessage } from './inbound.repository.js';
import type { CallReport, InboundReport, StatusReport, StatusReportResult } from './messages.types.js';
import { StatusReportsRepository, type AppliedReport } from './status-reports.repository.js';

/** A recipient may be a group; only numbers name a contact. */
const NUMBER = /^[0-9]{5,20}$/;

/** Takes in what the platform tells about messages. Everything here may be told twice, late and in any order. */
@Injectable()
export class MessageEventsService {
  constructor(
    private readonly statuses: StatusReportsRepository,
    private readonly inbound: InboundRepository,
    private readonly conversations: ConversationsRepository,
    private readonly webhook: WebhookService,
    private readonly files: MediaTransferService,
  ) {}

  /**
   * Applies reports about sent messages; durable when this resolves. One result a report, in the same order.
   *
   * @throws the first fault where a report could not be applied; the others are applied nevertheless.
   */
  applyStatuses(reports: readonly StatusReport[]): Promise<StatusReportResult[]> {
    return allOrFirstFault(reports.map((report) => this.applyStatus(report)));
  }

  /**
   * Stores customers' messages, each exactly once, and opens the windows that they open.
   *
   * @throws the first fault where a message could not be stored; the others are stored nevertheless.
   */
  receive(reports: readonly InboundReport[]): Promise<ReceivedMessage[]> {
    return allOrFirstFault(reports.map((report) => this.receiveOne(report)));
  }

  /** Opens the windows of customers who called, as their messages do. */
  async takeCalls(calls: readonly CallReport[]): Promise<void> {
    await allOrFirstFault(
      calls.map(({ connectionId, organizationId, from, userId, profileName, occurredAt }) =>
        this.conversations.see({
          connectionId,
          organizationId,
          waId: from,
          userId,
          profileName,
          inboundAt: occurredAt ?? new Date(),
        }),
      ),
    );
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await Promise.all([this.statuses.idle(), this.inbound.idle(), this.conversations.idle()]);
  }

  private async receiveOne(report: InboundReport): Promise<ReceivedMessage> {
    const received = await this.inbound.receive(report);
    if (received.created) {
      this.webhook.wake([report.organizationId]);
      if (received.hasFile) this.files.wakeFetch([report.connectionId]);
    }
    return received;
  }

  private async applyStatus(report: StatusReport): Promise<StatusReportResult> {
    const applied = await this.statuses.apply(report);
    if (applied === null) return 'unmatched';
    if (applied.moved) this.webhook.wake([applied.organizationId]);
    await this.adoptRecipient(report, applied);
    return 'applied';
  }

  private async adoptRecipient(report: StatusReport, applied: AppliedReport): Promise<void> {
    const { recipientId, recipientUserId } = report;
    const waId =
      recipientId !== null && NUMBER.test(recipientId) && recipientId !== applied.recipient ? recipientId : null;
    if (applied.conversationId === null || (waId === null && recipientUserId === null)) return;
    await this.conversations.adopt(applied.conversationId, { waId, userId: recipientUserId });
  }
}

/** Waits for all, so that nobody's fault leaves work of the others behind unseen. */
async function allOrFirstFault<T>(work: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
