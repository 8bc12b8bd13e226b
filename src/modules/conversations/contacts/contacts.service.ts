import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { ConversationsRepository, type FoundConversation } from '../conversations.repository.js';
import type { Adoption, ContactObservation } from '../conversations.types.js';

const ADOPTED = { ttlMs: 600_000, maxEntries: 100_000 };
/** Nothing waits for adoptions, so many are gathered into one transaction. */
const GATHER = { quietMs: 100, atMostMs: 300 };

/** Who a contact is: WhatsApp's names for it, and its conversation. */
@Injectable()
export class ContactsService implements BeforeApplicationShutdown {
  private readonly adopting: GroupCommit<Adoption, void>;
  /** Recently committed adoptions: every status names its recipient, but storing it once is enough. */
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
   * Stores WhatsApp's names for a conversation's contact; another conversation with that name is merged with this one.
   * Ignores unknown conversations. Resolves after a commit that others share.
   */
  async adopt(adoption: Adoption): Promise<void> {
    if (!this.isNews(adoption)) return;
    await this.adopting.submit(adoption, true);
    this.remember([adoption]);
  }

  /** Whether an adoption has other names than recently committed. */
  isNews({ conversationId, waId, userId }: Adoption): boolean {
    const known = this.adopted.peek(conversationId);
    return (waId !== null && waId !== known?.waId) || (userId !== null && userId !== known?.userId);
  }

  /** Call it after the commit of what `enterAll` received. */
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
