import type { Database } from '../../src/infrastructure/database/database.js';
import { GroupCommit } from '../../src/infrastructure/database/group-commit.js';
import type { ContactObservation } from '../../src/modules/conversations/conversations.types.js';
import type { ConversationRecord } from '../../src/modules/conversations/contacts/contact-resolver.js';
import { enterContactObservations } from '../../src/modules/conversations/conversations.repository.js';

type Identity = Pick<ContactObservation, 'phone' | 'waId' | 'userId'>;

/** Makes and finds contacts as notifications do, many in one transaction. */
export class ContactBook {
  private readonly batches: GroupCommit<ContactObservation, ConversationRecord>;

  constructor(database: Database) {
    this.batches = new GroupCommit(database, {
      name: 'contacts of a test',
      commit: async (observations, statements) => {
        const { ids, book } = await enterContactObservations(observations, statements);
        return ids.map((id) => {
          const row = book.find(id ?? '');
          if (row === undefined) throw new Error('a contact needs a number or a user id');
          return row;
        });
      },
    });
  }

  /** @throws Error where the identity is empty. */
  resolve(connection: { id: string; organizationId: string }, identity: Identity): Promise<ConversationRecord> {
    const { id: connectionId, organizationId } = connection;
    return this.batches.submit({ ...identity, connectionId, organizationId });
  }
}
