import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { ConversationsRepository, type FoundConversation } from '../conversations.repository.js';
import type { Adoption, ContactObservation } from '../conversations.types.js';

const ADOPTED = { ttlMs: 600_000, maxEntries: 100_000 };
/** Nothing waits for it, and many make one transaction. */
const GATHER = { quietMs: 100, atMostMs: 300 };

/** Who a contact is: how the platform names it, and under which conversation it is known. */
@Injectable()
export class ContactsService implements BeforeApplicationShutdown {
  private readonly adopting: GroupCommit<Adoption, void>;
  /** What was committed lately: every status names its recipient, and once is enough. */
  private readonly adopted = new ExpiringCache<string, Adoption>(ADOPTED);

  constructor(
    private readonly conversations: ConversationsRepository,
    database: Database,
  ) {
    this.adopting = new GroupCommit(database, {
      name: 'contact identity',
      maxWaiting: 100_000,
      gather: GATHER,
      commit: async (adoptions, statements) => {
        await this.enterAll([], adoptions, statements);
        return adoptions.map(() => undefined);
      },
    });
  }

  /** As `ConversationsRepository.findByRecipient`. */
  find(connectionId: string, recipient: string): Promise<FoundConversation | null> {
    return this.conversations.findByRecipient(connectionId, recipient);
  }

  /**
   * Notes how the platform names a conversation's contact; a conversation that it had under that name already and this
   * one become one. Nothing happens for an unknown conversation. Resolves after its commit, which others share.
   */
  async adopt(adoption: Adoption): Promise<void> {
    if (!this.isNews(adoption)) return;
    await this.adopting.submit(adoption, true);
    this.remember([adoption]);
  }

  /** Whether an adoption names the contact otherwise than what was committed lately. */
  isNews({ conversationId, waId, userId }: Adoption): boolean {
    const known = this.adopted.peek(conversationId);
    return (waId !== null && waId !== known?.waId) || (userId !== null && userId !== known?.userId);
  }

  /** To be called after the commit of what `enterAll` was given. */
  remember(adoptions: readonly Adoption[]): void {
    for (const { conversationId, waId, userId } of adoptions) {
      const known = this.adopted.peek(conversationId);
      this.adopted.set(conversationId, {
        conversationId,
        waId: waId ?? known?.waId ?? null,
        userId: userId ?? known?.userId ?? null,
      });
    }
  }

  /** As `ConversationsRepository.enterAll`. */
  enterAll(
    observations: readonly ContactObservation[],
    adoptions: readonly Adoption[],
    statements: Statements,
  ): Promise<(string | null)[]> {
    return this.conversations.enterAll(observations, adoptions, statements);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.adopting.idle();
  }
}
