import { indexConcurrently, SqlMigration, type Up } from '../src/infrastructure/database/sql-migration.js';

/** The person who looks after a conversation, beside the text. */
export class ConversationAssigneeId1795963490721 extends SqlMigration {
  readonly name = 'ConversationAssigneeId1795963490721';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP: Up = [
  // A person of the workspace, whose name `assignee` has unless another text was given. No row is read or written: each lock is one of a moment.
  'alter table conversation add column assignee_id uuid',
  // A text that is set alone names no person. Processes of release 0.2 know no other way.
  `create function conversation_assignee_alone() returns trigger language plpgsql as $$
begin
  new.assignee_id := null;
  return new;
end $$`,
  `create trigger conversation_assignee_alone before update of assignee on conversation for each row
  when (new.assignee is distinct from old.assignee and new.assignee_id = old.assignee_id)
  execute function conversation_assignee_alone()`,
  indexConcurrently(
    'conversation_assignee_id',
    'conversation (organization_id, assignee_id) where assignee_id is not null',
  ),
];

const DOWN: readonly string[] = [
  'drop index if exists conversation_assignee_id',
  'drop trigger conversation_assignee_alone on conversation',
  'drop function conversation_assignee_alone()',
  'alter table conversation drop column assignee_id',
];
