import { Injectable } from '@nestjs/common';
import { systemClock } from '../../common/clock.js';
import { FIRST_ID } from '../../common/ids.js';
import { isObject } from '../../common/json.js';
import { Database } from '../../infrastructure/database/database.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { type HistoryPart, readHistory } from '../../infrastructure/whatsapp/webhook-app.js';
import { parseWebhookBody } from '../../infrastructure/whatsapp/webhook-payload.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import { MessageReportsService } from '../messages/reports/message-reports.service.js';
import { historyErrors } from './inbound.errors.js';
import { InboundRepository } from './inbound.repository.js';

/** Messages of one transaction. */
const BATCH = 200;

export interface HistoryImport {
  /** Kept notifications with a history of the number. */
  notifications: number;
  /** Messages in them, repeats included. */
  found: number;
  imported: number;
  unreadable: number;
  /** Per cent of the history that the platform has handed over; null where it did not say. */
  progress: number | null;
  /** The business does not share its history. */
  declined: boolean;
  /** The last notification that was read, where the time was over before all were; null: all were read. */
  next: string | null;
}

/** Which part of an import. */
export interface ImportPart {
  /** Behind this notification, which is `next` of the part before. */
  after?: string;
  /** No further notification is begun once so long has passed. */
  budgetMs?: number;
}

/**
 * Imports the history of the WhatsApp Business app into the journal, from the notifications that are kept. A message
 * that is there already stays as it is, so an import may be repeated, or broken off.
 */
@Injectable()
export class HistoryImportService {
  constructor(
    private readonly notifications: InboundRepository,
    private readonly connections: ConnectionsService,
    private readonly reports: MessageReportsService,
    private readonly client: CloudApiClient,
    private readonly database: Database,
  ) {}

  /**
   * Asks the platform for the history of a number, which comes by notifications within minutes. It answers once, within
   * 24 hours after the number was connected.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409), HISTORY_REFUSED (422, 502).
   */
  async request(organizationId: string, id: string): Promise<void> {
    const connection = await this.connections.sendable(organizationId, id);
    const answer = await this.client.request({
      method: 'POST',
      path: `/${encodeURIComponent(connection.phoneNumberId)}/smb_app_data`,
      token: connection.token,
      json: { messaging_product: 'whatsapp', sync_type: 'history' },
    });
    if (answer.ok) return;
    const refused = historyErrors.HISTORY_REFUSED({ reason: answer.message });
    throw answer.kind === 'rejected' ? refused : refused.withKind('platform_unavailable');
  }

  /**
   * Imports what the platform has handed over, all of it where nothing else is said.
   *
   * @throws CONNECTION_NOT_FOUND (404).
   */
  async run(organizationId: string, id: string, part: ImportPart = {}): Promise<HistoryImport> {
    const { after: start = FIRST_ID, budgetMs = Infinity } = part;
    const endsAt = systemClock.monotonic() + budgetMs;
    const connection = await this.connections.getById(organizationId, id);
    const sum: HistoryImport = {
      notifications: 0,
      found: 0,
      imported: 0,
      unreadable: 0,
      progress: null,
      declined: false,
      next: null,
    };
    for (let after = start; ;) {
      if (after !== start && systemClock.monotonic() >= endsAt) return { ...sum, next: after };
      const next = await this.notifications.nextHistory(connection.phoneNumberId, after);
      if (next === null) return sum;
      after = next.id;
      for (const part of partsOf(next.body, connection)) await this.importPart(part, connection, sum);
      sum.notifications += 1;
    }
  }

  private async importPart(part: HistoryPart, connection: Connection, sum: HistoryImport): Promise<void> {
    const { messages, progress, isDeclined, unreadable } = part;
    const { id: connectionId, organizationId, phoneNumber: businessNumber } = connection;
    sum.found += messages.length;
    sum.unreadable += unreadable;
    sum.declined ||= isDeclined;
    if (progress !== null) sum.progress = Math.max(progress, sum.progress ?? 0);
    const past = messages.map((message) => ({
      ...message,
      connectionId,
      organizationId,
      businessNumber,
      source: 'history' as const,
    }));
    for (let start = 0; start < past.length; start += BATCH) {
      const batch = past.slice(start, start + BATCH);
      sum.imported += await this.database.transaction(() => this.reports.importHistory(batch, this.database));
    }
  }
}

function partsOf(body: Buffer, { phoneNumberId }: Connection): HistoryPart[] {
  return parseWebhookBody(body).management.flatMap((change) =>
    change.field === 'history' && change.phoneNumberId === phoneNumberId && isObject(change.value)
      ? [readHistory(change.value)]
      : [],
  );
}
