import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CacheInvalidation } from '../../../infrastructure/access/cache-invalidation.js';
import { Database } from '../../../infrastructure/database/database.js';
import { Erasure, type ErasureBatch, type Subject } from '../../../infrastructure/erasure/erasure.js';
import { WorkspaceErasure } from '../../../infrastructure/erasure/workspace-erasure.js';
import { MediaService } from '../../media/media.service.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { ContactErasureRepository } from './contact-erasure.repository.js';
import { CONTACTS } from '../contacts/recipients.service.js';

/** Erases a contact from the journal: the rows stay, for figures and keys, and tell nothing of anybody. */
@Injectable()
export class ContactErasure implements OnModuleInit {
  constructor(
    private readonly contacts: ContactErasureRepository,
    private readonly media: MediaService,
    private readonly webhook: WebhookService,
    private readonly database: Database,
    private readonly invalidation: CacheInvalidation,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
  ) {}

  onModuleInit(): void {
    this.erasure.identifyWith((organizationId, name) => this.contacts.identify(organizationId, name));
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

  private async busy(subject: Subject): Promise<string | null> {
    const sending = await this.contacts.countInLane(subject, 'processing');
    return sending === 0 ? null : `${sending} message${sending === 1 ? ' is' : 's are'} being sent to the contact`;
  }

  private async busyWorkspace(organizationId: string): Promise<string | null> {
    const sending = await this.contacts.countBeingSent(organizationId);
    return sending === 0 ? null : `${sending} message${sending === 1 ? ' is' : 's are'} being sent`;
  }

  /** Cancelled: the person who wants to be forgotten gets no message afterwards. */
  private async waiting(subject: Subject, erase: boolean): Promise<ErasureBatch> {
    if (!erase) {
      return { found: { cancelled_messages: await this.contacts.countInLane(subject, 'queued') }, cursor: null };
    }
    const cancelled = await this.contacts.withdraw(subject);
    if (cancelled > 0) this.webhook.wake([subject.organizationId]);
    return { found: { cancelled_messages: cancelled }, cursor: cancelled > 0 ? 'more' : null };
  }

  private async messages(subject: Subject, cursor: string | null, erase: boolean): Promise<ErasureBatch> {
    const { ids, receivedFiles, cursor: next } = await this.contacts.page(subject, cursor);
    if (erase && ids.length > 0) {
      // First: afterwards no message leads to them.
      await this.media.deleteAll(subject.organizationId, receivedFiles);
      await this.database.transaction(() => this.contacts.blank(subject.organizationId, ids));
    }
    return { found: { messages: ids.length, received_files: receivedFiles.length }, cursor: next };
  }

  private async names(subject: Subject, erase: boolean): Promise<ErasureBatch> {
    if (!erase) return { found: { contacts: await this.contacts.countContacts(subject) }, cursor: null };
    const contacts = await this.contacts.blankContacts(subject);
    if (contacts > 0) await this.invalidation.publish(CONTACTS, subject.organizationId);
    return { found: { contacts }, cursor: null };
  }
}
