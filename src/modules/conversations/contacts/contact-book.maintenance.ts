import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { describeError } from '../../../common/describe-error.js';
import { mapAtOnce } from '../../../common/map-at-once.js';
import { Counters } from '../../../infrastructure/operations/counters.js';
import { Metrics } from '../../../infrastructure/operations/metrics/metrics.js';
import { inBatches, Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { CloudApiClient } from '../../../infrastructure/whatsapp/cloud-api-client.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { type ContactBookEntry, ContactBookRepository, IS_DUE, MAX_GAP_SECONDS } from './contact-book.repository.js';

const EVERY_MS = 2_000;
/** Limits of concurrent requests: entries of one workspace, and workspaces. */
const ENTRIES_AT_ONCE = 2;
const WORKSPACES_AT_ONCE = 4;
/** About a day of hourly tries; the person's data is not kept longer. */
const MAX_TRIES = 28;

/**
 * Removes erased people from the contact book that WhatsApp keeps for the business, which shows their numbers. The
 * erasure does not wait for it.
 */
@Injectable()
export class ContactBookMaintenance implements OnModuleInit {
  private readonly logger = new Logger(ContactBookMaintenance.name);

  constructor(
    private readonly repository: ContactBookRepository,
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
    private readonly sweeps: Sweeps,
    private readonly counters: Counters,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.sweeps.addInTurns({
      name: 'contact_book',
      everyMs: EVERY_MS,
      waitsFor: [{ table: 'contact_book_removal', column: 'due_at', mostAhead: `${MAX_GAP_SECONDS}` }],
      rows: [{ table: 'contact_book_removal', where: IS_DUE }],
      atOnce: WORKSPACES_AT_ONCE,
      turn: (organizationId, signal) =>
        inBatches(signal, ENTRIES_AT_ONCE, (limit) => this.removeDue(organizationId, limit)),
    });
    this.metrics.add({
      name: 'contact_book_removals_waiting',
      help: "Erased people who are still to be removed from WhatsApp's contact book.",
      collect: async () => [{ value: await this.repository.waiting() }],
    });
  }

  private async removeDue(organizationId: string, limit: number): Promise<number> {
    const due = await this.repository.takeDue(organizationId, limit);
    await mapAtOnce(due, limit, async (entry) => {
      const problem = await this.ask(entry).catch(describeError);
      const isLast = problem !== null && entry.tries >= MAX_TRIES;
      if (problem === null || isLast) await this.repository.remove(entry);
      if (problem === null) return this.counters.increment('contact_book_removed');
      this.counters.increment('contact_book_failed');
      // Without the person's name, which the log would otherwise keep.
      const next = isLast ? 'given up: remove them in WhatsApp Manager' : 'tried again later';
      this.logger.warn(
        `connection ${entry.connectionId}: an erased person could not be removed from WhatsApp's contact book (${problem}); ${next}`,
      );
    });
    return due.length;
  }

  /** Returns what went wrong, in words. */
  private async ask({ connectionId, userId }: ContactBookEntry): Promise<string | null> {
    const connection = await this.connections.forSending(connectionId);
    if (connection === null) return 'the number is gone';
    const answer = await this.client.request({
      method: 'DELETE',
      path: `/${encodeURIComponent(connection.phoneNumberId)}/contact_book`,
      token: connection.token,
      json: { messaging_product: 'whatsapp', bsuid: userId },
    });
    return answer.ok ? null : answer.message.replaceAll(userId, '…');
  }
}
