import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { isObject } from '../../common/json.js';
import { Database } from '../../infrastructure/database/database.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { type HistoryPart, readHistory } from '../../infrastructure/whatsapp/webhook-app.js';
import { parseWebhookBody } from '../../infrastructure/whatsapp/webhook-payload.js';
import { ConnectionsService } from '../connections/connections.service.js';
import type { Connection } from '../connections/connections.types.js';
import { MessageReportsService } from '../messages/reports/message-reports.service.js';
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
}

/**
 * Imports the history of the WhatsApp Business app into the journal, from the notifications that are kept. A message that
 * is there already stays as it is, so an import may be repeated, or broken off.
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
   * Asks the platform for the history of a number, which comes by notifications within minutes. It answers once, within 24
   * hours after the number was connected.
   *
   * @throws CONNECTION_NOT_FOUND (404); Error where the platform refuses it, or does not answer.
   */
  async request(organizationId: string, id: string): Promise<void> {
    const connection = await this.connections.sendable(organizationId, id);
    const answer = await this.client.request({
      method: 'POST',
      path: `/${encodeURIComponent(connection.phoneNumberId)}/smb_app_data`,
      token: connection.token,
      json: { messaging_product: 'whatsapp', sync_type: 'history' },
    });
    if (!answer.ok) throw new Error(`WhatsApp does not hand the history over: ${answer.message}`);
  }

  /**
   * @param onProgress called after each notification.
   * @throws CONNECTION_NOT_FOUND (404).
   */
  async run(
    organizationId: string,
    id: string,
    onProgress: (sum: HistoryImport) => void = () => undefined,
  ): Promise<HistoryImport> {
    const connection = await this.connections.getById(organizationId, id);
    const sum: HistoryImport = {
      notifications: 0,
      found: 0,
      imported: 0,
      unreadable: 0,
      progress: null,
      declined: false,
    };
    for (let after = FIRST_ID; ;) {
      const next = await this.notifications.nextHistory(connection.phoneNumberId, after);
      if (next === null) return sum;
      after = next.id;
      for (const part of partsOf(next.body, connection)) await this.importPart(part, connection, sum);
      sum.notifications += 1;
      onProgress(sum);
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
