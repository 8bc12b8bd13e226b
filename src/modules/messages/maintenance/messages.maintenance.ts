import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PgNotifier } from '../../../infrastructure/database/pg-notifier.js';
import { FIRST_ID } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Database } from '../../../infrastructure/database/database.js';
import {
  addCounts,
  type Counts,
  Erasure,
  type ErasureBatch,
  type Subject,
} from '../../workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../../workspaces/erasure/workspace-erasure.service.js';
import { Restoration } from '../../../infrastructure/queue/restoration.js';
import { Retention } from '../../../infrastructure/queue/retention.js';
import { Backlogs } from '../../../infrastructure/operations/backlogs.js';
import { Metrics } from '../../../infrastructure/operations/metrics/metrics.js';
import { MediaService } from '../../media/media.service.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { CONTACTS } from '../../conversations/windows/recipients.service.js';
import { MessagesMaintenanceRepository } from './messages-maintenance.repository.js';

/**
 * Work for operators rather than callers: erasure of contacts, retention, messages of a restored backup, and metrics of
 * the lanes.
 */
@Injectable()
export class MessagesMaintenance implements OnModuleInit {
  constructor(
    private readonly repository: MessagesMaintenanceRepository,
    private readonly media: MediaService,
    private readonly webhook: WebhookService,
    private readonly database: Database,
    private readonly config: Config,
    private readonly invalidation: PgNotifier,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
    private readonly retention: Retention,
    private readonly restoration: Restoration,
    private readonly backlogs: Backlogs,
    private readonly metrics: Metrics,
  ) {}

  async onModuleInit(): Promise<void> {
    this.addErasure();
    this.addGauges();
    // Only the operator who confirms the database lets these messages be sent, perhaps a second time.
    this.restoration.add({
      name: 'messages',
      newest: () => this.repository.newestQueued(),
      count: (before) => this.repository.countUncertain(before),
      mark: (before) => this.repository.markUncertain(before),
    });
    await this.addRetention();
  }

  /** The rows of an erased contact stay, for statistics and idempotency keys, and identify no person. */
  private addErasure(): void {
    this.erasure.identifyWith((known) => this.repository.identify(known));
    this.erasure.add({
      name: 'waiting messages',
      turn: 'first',
      batch: (subject, _cursor, erase) => this.waiting(subject, erase),
      busy: (subject) => this.busy(subject),
    });
    this.workspaces.add({ busy: (organizationId) => this.busyWorkspace(organizationId) });
    this.erasure.add({ name: 'messages', batch: (subject, cursor, erase) => this.messages(subject, cursor, erase) });
    this.erasure.add({
      name: 'contacts',
      turn: 'last',
      batch: (subject, _cursor, erase) => this.names(subject, erase),
    });
  }

  /** Removes the content of old messages; the journal keeps their rows and statuses. */
  private async addRetention(): Promise<void> {
    const { messageContentDays, attemptDays } = this.config.retention;
    // Before the rows of the month that is only partly old. In a usual installation the month is empty by then.
    await this.retention.addPartitioned({
      table: 'message_content',
      period: 'month',
      days: messageContentDays,
      isCounted: true,
      isNeeded: ({ from, below }) => this.repository.isAnyInQueue(from ?? FIRST_ID, below),
    });
    for (const [what, name, days] of [
      ['contents', 'message contents', messageContentDays],
      ['attempts', 'attempts', attemptDays],
    ] as const) {
      const clear = (before: Date, limit: number) => this.repository.remove(what, before, limit);
      this.retention.add({ name, days, isCounted: what === 'contents', clear });
    }
  }

  private addGauges(): void {
    this.backlogs.add('messages', async () => {
      const { queued, processing } = await this.repository.depth();
      return { waiting: queued, inFlight: processing, oldestDueSeconds: await this.repository.oldestDueSeconds() };
    });
    this.metrics.add({
      name: 'messages_waiting',
      help: 'Messages queued and being sent; counted up to 100000.',
      labelNames: ['status'],
      collect: async () => {
        const { queued, processing } = await this.repository.depth();
        return [
          { labels: { status: 'queued' }, value: queued },
          { labels: { status: 'processing' }, value: processing },
        ];
      },
    });
    this.metrics.add({
      name: 'messages_scheduled',
      help: 'Messages that are to go later, which are none of those queued; counted up to 100000.',
      collect: async () => [{ value: await this.repository.scheduled() }],
    });
    this.metrics.add({
      name: 'messages_oldest_due_seconds',
      help: 'Age of the oldest due message, of numbers that can send; 0: none is due.',
      collect: async () => [{ value: await this.repository.oldestDueSeconds() }],
    });
  }

  private async busy(subject: Subject): Promise<string | null> {
    const { waiting, sending } = await this.repository.countLane(subject);
    if (sending > 0) return `${sending} message${sending === 1 ? ' is' : 's are'} being sent to the contact`;
    return waiting === 0 ? null : `${waiting} message${waiting === 1 ? ' waits' : 's wait'} for the contact again`;
  }

  private async busyWorkspace(organizationId: string): Promise<string | null> {
    const sending = await this.repository.countBeingSent(organizationId);
    return sending === 0 ? null : `${sending} message${sending === 1 ? ' is' : 's are'} being sent`;
  }

  /** Canceled: a person who is to be erased gets no message afterwards. */
  private async waiting(subject: Subject, erase: boolean): Promise<ErasureBatch> {
    if (!erase) {
      return { found: { cancelled_messages: (await this.repository.countLane(subject)).waiting }, cursor: null };
    }
    const { organizationId } = subject;
    const cancelled = await this.repository.withdraw(subject, (messageIds) =>
      this.erasure.ofMessages(organizationId, { messageIds, fileIds: [] }, true),
    );
    if (cancelled > 0) this.webhook.wake([organizationId]);
    return { found: { cancelled_messages: cancelled }, cursor: cancelled > 0 ? 'more' : null };
  }

  private async messages(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const { organizationId } = subject;
    const { ids, receivedFiles: fileIds, cursor: next } = await this.repository.page(subject, cursor);
    const found: Counts = { messages: ids.length, received_files: fileIds.length };
    const ofMessages = (messageIds: readonly string[]): Promise<Counts> =>
      this.erasure.ofMessages(organizationId, { messageIds, fileIds }, erase);
    if (!erase) addCounts(found, await ofMessages(ids));
    else if (ids.length > 0) {
      // Before the messages: afterwards no message leads to these files.
      await this.media.deleteAll(organizationId, fileIds);
      const others = await this.database.transaction(() => this.repository.blank(organizationId, ids, ofMessages));
      addCounts(found, others);
    }
    return { found, cursor: next };
  }

  private async names(subject: Subject, erase: boolean): Promise<ErasureBatch> {
    if (!erase) return { found: { contacts: await this.repository.countContacts(subject) }, cursor: null };
    const contacts = await this.repository.blankContacts(subject);
    if (contacts > 0) await this.invalidation.publish(CONTACTS, subject.organizationId);
    return { found: { contacts }, cursor: null };
  }
}
