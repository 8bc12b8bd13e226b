import { Injectable } from '@nestjs/common';
import { PeopleService } from '../people/people.service.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { conversationsErrors } from './conversations.errors.js';
import { ConversationsRepository, type Kept } from './conversations.repository.js';
import { type ConversationFilter, type ConversationResponse, MAX_ASSIGNEE } from './dto/conversations.dto.js';
import { ConversationPagesRepository } from './pages/conversation-pages.repository.js';

/** The conversations of a workspace, in the form of the API. */
@Injectable()
export class ConversationsService {
  constructor(
    private readonly pages: ConversationPagesRepository,
    private readonly rows: ConversationsRepository,
    private readonly connections: ConnectionsService,
    private readonly people: PeopleService,
    private readonly webhook: WebhookService,
  ) {}

  /**
   * One page, newest activity first. `next`: where the next page begins; null on the last one.
   *
   * @throws CONNECTION_NOT_FOUND (404) where the connection is not the workspace's.
   */
  async list(organizationId: string, filter: ConversationFilter) {
    if (filter.connectionId !== null) await this.connections.getById(organizationId, filter.connectionId);
    return this.pages.page(organizationId, filter);
  }

  /**
   * Changes what callers may set on a conversation; absent fields stay unchanged. Returns all of these fields and the
   * id of the conversation, which is another one if the conversation was merged into it. Where `assigneeId` is given
   * without `assignee`, the person's name becomes `assignee`.
   *
   * @throws CONVERSATION_NOT_FOUND (404), ASSIGNEE_NOT_MEMBER (422).
   */
  async update(organizationId: string, id: string, given: Partial<Kept>): Promise<Kept & { id: string }> {
    const { assigneeId = null } = given;
    const name = assigneeId === null ? null : await this.nameOf(organizationId, assigneeId);
    const kept = name === null ? given : { ...given, assignee: given.assignee ?? name };
    const row = await this.rows.keep(organizationId, id, kept);
    if (row === null) throw conversationsErrors.CONVERSATION_NOT_FOUND();
    this.webhook.wake([organizationId]);
    return { id: row.id, closed: row.closed, assignee: row.assignee, assigneeId: row.assigneeId };
  }

  private async nameOf(organizationId: string, personId: string): Promise<string> {
    const member = await this.people.findMember(organizationId, personId);
    if (member === null) throw conversationsErrors.ASSIGNEE_NOT_MEMBER();
    return Array.from(member.name).slice(0, MAX_ASSIGNEE).join('');
  }

  /** @throws CONVERSATION_NOT_FOUND (404), also where the contact was erased. */
  async getById(organizationId: string, id: string): Promise<ConversationResponse> {
    const found = await this.pages.find(organizationId, id);
    if (found === null) throw conversationsErrors.CONVERSATION_NOT_FOUND();
    return found;
  }
}
