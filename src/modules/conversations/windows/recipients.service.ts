import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { databaseClock } from '../../../common/clock.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { PgNotifier } from '../../../infrastructure/database/pg-notifier.js';
import { ConversationsRepository } from '../conversations.repository.js';
import { WINDOW_MS, windowClosesAt } from './windows.types.js';
import type { AppError } from '../../../common/app-error.js';
import { conversationsErrors } from '../conversations.errors.js';

/** A conversation with a recipient; `replaced`: found by an earlier name of the contact. */
interface FoundRecipient {
  conversationId: string;
  isReplaced: boolean;
}

/** A contact who may be sent an ordinary message now. */
interface OpenConversation {
  conversationId: string;
  /** Milliseconds since the epoch. */
  closesAt: number;
  /** The contact has another name now: the message's address is decided when it is stored. */
  isReplaced?: boolean;
}

/** Published when contacts were erased or replaced: processes must drop cached identities. */
export const CONTACTS = 'contacts';

const CACHE = { ttlMs: 60_000, maxEntries: 100_000 };

/** Reads whether the 24-hour window with a contact is open. */
@Injectable()
export class RecipientsService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(RecipientsService.name);
  private readonly moving = new Set<Promise<void>>();
  // Caches only open windows, until they close: only time closes a window.
  private readonly open = new ExpiringCache<string, OpenConversation>(CACHE);

  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly invalidation: PgNotifier,
  ) {
    invalidation.on(CONTACTS, () => this.open.clear());
  }

  /** The open conversation with a recipient if it is cached; null means unknown. */
  peekOpen(connectionId: string, recipient: string): OpenConversation | null {
    const known = this.open.peek(`${connectionId}/${recipient}`);
    return known !== undefined && known.closesAt > databaseClock.now() ? known : null;
  }

  /**
   * The open conversation with a recipient.
   *
   * @param recipient digits or a user id.
   * @throws SERVICE_WINDOW_CLOSED (422).
   */
  async requireOpen(connectionId: string, recipient: string): Promise<OpenConversation> {
    const known = this.peekOpen(connectionId, recipient);
    if (known !== null) return known;
    const conversation = await this.conversations.findByRecipient(connectionId, recipient);
    const closesAt = windowClosesAt(conversation?.lastInboundAt ?? null);
    if (conversation === null || closesAt === null || closesAt.getTime() <= databaseClock.now()) {
      throw windowClosed(conversation?.lastInboundAt ?? null);
    }
    const open = { conversationId: conversation.id, closesAt: closesAt.getTime() };
    if (conversation.replaced !== null) return { ...open, isReplaced: true };
    this.open.set(`${connectionId}/${recipient}`, open);
    return open;
  }

  /** Caches which of these windows are open: one statement for the unknown ones, so that `requireOpen` needs none. */
  async recall(recipients: readonly { connectionId: string; recipient: string }[]): Promise<void> {
    const unknown = recipients.filter(({ connectionId, recipient }) => this.peekOpen(connectionId, recipient) === null);
    if (unknown.length === 0) return;
    for (const found of await this.conversations.findWindows(unknown)) {
      this.remember(found.connectionId, found.recipient, found.conversationId, found.lastInboundAt);
    }
  }

  /** Caches an open conversation that was read elsewhere. */
  remember(connectionId: string, recipient: string, conversationId: string, lastInboundAt: Date): void {
    const closesAt = lastInboundAt.getTime() + WINDOW_MS;
    this.open.set(`${connectionId}/${recipient}`, { conversationId, closesAt });
  }

  /**
   * Called when contacts got new names by messages with these ids: processes drop cached identities, and messages
   * accepted meanwhile for the former names are moved. Never throws.
   */
  replaced(messageIds: readonly string[]): void {
    this.open.clear();
    const work = this.invalidation
      .publish(CONTACTS, messageIds[0] ?? '')
      .then(() => this.conversations.moveWaiting(messageIds))
      .catch((error: unknown) => this.logger.error('messages to a replaced number could not be moved', error))
      .finally(() => this.moving.delete(work));
    this.moving.add(work);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.moving);
  }

  /**
   * The address of a conversation's contact.
   *
   * @throws CONVERSATION_NOT_FOUND (404) where the workspace has no such conversation, or the contact was erased.
   */
  async addressOf(
    organizationId: string,
    conversationId: string,
  ): Promise<{ connectionId: string; recipient: string }> {
    const found = await this.conversations.findAddress(organizationId, conversationId);
    if (found === null) throw conversationsErrors.CONVERSATION_NOT_FOUND();
    return found;
  }

  /** The conversation with a recipient (digits or a user id), whether open or not; null where there is none. */
  async find(connectionId: string, recipient: string): Promise<FoundRecipient | null> {
    const found = await this.conversations.findByRecipient(connectionId, recipient);
    return found === null ? null : { conversationId: found.id, isReplaced: found.replaced !== null };
  }
}

/** SERVICE_WINDOW_CLOSED (422). */
export function windowClosed(lastInboundAt: Date | null): AppError {
  return conversationsErrors.SERVICE_WINDOW_CLOSED({ expiredAt: windowClosesAt(lastInboundAt) });
}
