import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { Database, type Statements } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import type { ConversationRecord, ContactObservation } from './contact-resolver.js';
import { CONVERSATION_COLUMNS, enterContactObservations, recordOf, type ConversationRow } from './contact-writer.js';
import type { ContactIdentity, Conversation } from '../messages.types.js';

type Identities = Pick<ContactIdentity, 'waId' | 'userId'>;

/** How the platform names the contact of a known conversation. */
export type Adoption = Identities & { conversationId: string };

const ADOPTED = { ttlMs: 600_000, maxEntries: 100_000 };

/**
 * The table `conversation`: one row a contact and connection. Whoever changes which row bears which identity holds a
 * lock on the connection meanwhile; windows and names move without it.
 */
@Injectable()
export class ConversationsRepository {
  private readonly resolving: GroupCommit<ContactObservation, Conversation>;
  private readonly adopting: GroupCommit<Adoption, void>;
  // Every status names its recipient; once is enough.
  private readonly adopted = new ExpiringCache<string, true>(ADOPTED);

  constructor(private readonly database: Database) {
    this.resolving = new GroupCommit(database, {
      name: 'conversation',
      commit: (observations, statements) => this.commitResolved(observations, statements),
    });
    this.adopting = new GroupCommit(database, {
      name: 'contact identity',
      maxWaiting: 100_000,
      commit: async (adoptions, statements) => {
        await this.enterAll([], adoptions, statements);
        return adoptions.map(() => undefined);
      },
    });
  }

  /** The conversation with a number, in the caller's spelling or the platform's; null where there is none. */
  async findByPhone(connectionId: string, phone: string): Promise<Conversation | null> {
    const rows = await this.database.query<ConversationRow>(
      `select ${CONVERSATION_COLUMNS}, 1 as preference from conversation c where c.connection_id = $1 and c.phone = $2
       union all
       select ${CONVERSATION_COLUMNS}, 2 from conversation c where c.connection_id = $1 and c.wa_id = $2
       order by preference limit 1`,
      [connectionId, phone],
    );
    return rows[0] === undefined ? null : conversationOf(recordOf(rows[0]));
  }

  /** The conversation with a contact who is known by this user id; null where there is none. */
  async findByUserId(connectionId: string, userId: string): Promise<Conversation | null> {
    const rows = await this.database.query<ConversationRow>(
      `select ${CONVERSATION_COLUMNS} from conversation c where c.connection_id = $1 and c.user_id = $2`,
      [connectionId, userId],
    );
    return rows[0] === undefined ? null : conversationOf(recordOf(rows[0]));
  }

  /**
   * The conversation with a contact, made at the first contact. Rows that the identity shows to be one contact's are
   * merged.
   *
   * @throws Error where the identity is empty.
   */
  resolve(connection: { id: string; organizationId: string }, identity: ContactIdentity): Promise<Conversation> {
    return this.see({ ...identity, connectionId: connection.id, organizationId: connection.organizationId });
  }

  /** As `resolve`, with what else is known of the contact. */
  see(observation: ContactObservation): Promise<Conversation> {
    return this.resolving.submit(observation);
  }

  /**
   * Notes how the platform names a conversation's contact; a conversation that it had under that name already and this
   * one become one. Nothing happens for an unknown conversation.
   */
  async adopt(conversationId: string, { waId, userId }: Identities): Promise<void> {
    const adoption = { conversationId, waId: waId ?? null, userId: userId ?? null };
    if (!this.isNews(adoption)) return;
    await this.adopting.submit(adoption);
    this.remember([adoption]);
  }

  /** Whether an adoption names anybody and was not committed lately. */
  isNews(adoption: Adoption): boolean {
    return (adoption.waId ?? adoption.userId ?? null) !== null && this.adopted.peek(keyOf(adoption)) !== true;
  }

  /** To be called after the commit of what `enterAll` was given. */
  remember(adoptions: readonly Adoption[]): void {
    for (const adoption of adoptions) this.adopted.set(keyOf(adoption), true);
  }

  /** As `see` and `adopt`, of many, in the caller's transaction. */
  async enterAll(
    observations: readonly ContactObservation[],
    adoptions: readonly Adoption[],
    statements: Statements,
  ): Promise<void> {
    const ids = adoptions.map((adoption) => adoption.conversationId);
    const rows =
      ids.length === 0
        ? []
        : await statements.query<{ id: string; connection_id: string; organization_id: string }>(
            'select id, connection_id, organization_id from conversation where id = any($1)',
            [ids],
          );
    const byId = new Map(rows.map((row) => [row.id, row]));
    const known = adoptions.flatMap((adoption) => {
      const row = byId.get(adoption.conversationId);
      return row === undefined
        ? []
        : [{ ...adoption, connectionId: row.connection_id, organizationId: row.organization_id }];
    });
    if (observations.length + known.length > 0) await enterContactObservations([...observations, ...known], statements);
  }

  /** Resolves when no caller waits. */
  async idle(): Promise<void> {
    await Promise.all([this.resolving.idle(), this.adopting.idle()]);
  }

  private async commitResolved(observations: ContactObservation[], statements: Statements): Promise<Conversation[]> {
    const { ids, book } = await enterContactObservations(observations, statements);
    return ids.map((id) => {
      const row = id === null ? undefined : book.find(id);
      if (row === undefined) throw new Error('a contact needs a number or a user id');
      return conversationOf(row);
    });
  }
}

function keyOf({ conversationId, waId, userId }: Adoption): string {
  return `${conversationId}/${waId}/${userId}`;
}

function conversationOf(record: ConversationRecord): Conversation {
  const { id, organizationId, connectionId, phone, waId, userId, profileName, lastInboundAt } = record;
  return { id, organizationId, connectionId, phone, waId, userId, profileName, lastInboundAt };
}
