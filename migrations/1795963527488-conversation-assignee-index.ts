import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Finds the conversations of a person. */
export class ConversationAssigneeIndex1795963527488 extends SqlMigration {
  readonly name = 'ConversationAssigneeIndex1795963527488';
  // No statement waits for the index while it is made.
  override readonly transaction = false;
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP: readonly string[] = [
  // One that was interrupted has left an index that is not valid.
  'drop index concurrently if exists conversation_assignee_id',
  `create index concurrently conversation_assignee_id on conversation (organization_id, assignee_id)
  where assignee_id is not null`,
];

const DOWN: readonly string[] = ['drop index conversation_assignee_id'];
