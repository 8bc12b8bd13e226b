import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { CacheInvalidation } from '../../../infrastructure/access/cache-invalidation.js';
import { ConversationsRepository } from './conversations.repository.js';
import { isUserId } from '../accept/recipient.js';
import { windowClosesAt } from '../accept/windows.js';

/** A contact whom an ordinary message may reach now. */
export interface OpenConversation {
  conversationId: string;
  /** Milliseconds since the epoch. */
  closesAt: number;
}

/** Published where contacts have lost their names: no process may go on with what it knows of them. */
export const CONTACTS = 'contacts';

const CACHE = { ttlMs: 60_000, maxEntries: 100_000 };

/** Tells whether the 24-hour window with a contact is open. */
@Injectable()
export class RecipientsService {
  // Only open windows are kept, and only until they close: an open one can't be closed by anything but time.
  private readonly open = new ExpiringCache<string, OpenConversation>(CACHE);

  private readonly conversationIds = new ExpiringCache<string, string>(CACHE);

  constructor(
    private readonly conversations: ConversationsRepository,
    invalidation: CacheInvalidation,
  ) {
    invalidation.on(CONTACTS, () => {
      this.open.clear();
      this.conversationIds.clear();
    });
  }

  /** The open conversation with a recipient where it is known, without asking; null says nothing. */
  peekOpen(connectionId: string, recipient: string): OpenConversation | null {
    const known = this.open.peek(`${connectionId}/${recipient}`);
    return known !== undefined && known.closesAt > Date.now() ? known : null;
  }

  /**
   * The open conversation with a recipient, or when its window closed (null where the contact never wrote).
   *
   * @param recipient digits or a user id.
   */
  async findOpen(
    connectionId: string,
    recipient: string,
  ): Promise<{ open: OpenConversation } | { open: null; expiredAt: Date | null }> {
    const known = this.peekOpen(connectionId, recipient);
    if (known !== null) return { open: known };
    const conversation = isUserId(recipient)
      ? await this.conversations.findByUserId(connectionId, recipient)
      : await this.conversations.findByPhone(connectionId, recipient);
    const closesAt = windowClosesAt(conversation?.lastInboundAt ?? null);
    if (conversation === null || closesAt === null || closesAt.getTime() <= Date.now()) {
      return { open: null, expiredAt: closesAt };
    }
    const open = { conversationId: conversation.id, closesAt: closesAt.getTime() };
    this.open.set(`${connectionId}/${recipient}`, open);
    return { open };
  }

  /** The conversation with a recipient (digits or a user id), made at the first contact. */
  async resolve(connection: { id: string; organizationId: string }, recipient: string): Promise<string> {
    return this.conversationIds.get(`${connection.id}/${recipient}`, async () => {
      const identity = isUserId(recipient) ? { userId: recipient } : { phone: recipient };
      const conversation = await this.conversations.resolve(connection, identity);
      return conversation.id;
    });
  }
}
