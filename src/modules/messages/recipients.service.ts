import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { CacheInvalidation } from '../../platform/access/cache-invalidation.js';
import { ConversationsRepository } from './conversations.repository.js';
import { windowClosesAt } from './windows.js';

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

  /** The open conversation with a number where it is known, without asking; null says nothing. */
  peekOpen(connectionId: string, phone: string): OpenConversation | null {
    const known = this.open.peek(`${connectionId}/${phone}`);
    return known !== undefined && known.closesAt > Date.now() ? known : null;
  }

  /** The open conversation with a number, or when its window closed (null where the contact never wrote). */
  async findOpen(
    connectionId: string,
    phone: string,
  ): Promise<{ open: OpenConversation } | { open: null; expiredAt: Date | null }> {
    const known = this.peekOpen(connectionId, phone);
    if (known !== null) return { open: known };
    const conversation = await this.conversations.findByPhone(connectionId, phone);
    const closesAt = windowClosesAt(conversation?.lastInboundAt ?? null);
    if (conversation === null || closesAt === null || closesAt.getTime() <= Date.now()) {
      return { open: null, expiredAt: closesAt };
    }
    const open = { conversationId: conversation.id, closesAt: closesAt.getTime() };
    this.open.set(`${connectionId}/${phone}`, open);
    return { open };
  }

  /** The conversation with a number, made at the first contact. */
  async resolve(connection: { id: string; organizationId: string }, phone: string): Promise<string> {
    return this.conversationIds.get(`${connection.id}/${phone}`, async () => {
      const conversation = await this.conversations.resolve(connection, { phone });
      return conversation.id;
    });
  }
}
