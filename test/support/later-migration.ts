import { indexConcurrently, inBatches, SqlMigration } from '../../src/infrastructure/database/sql-migration.js';

/** What a later release may bring: a table, a column that is filled in batches, and an index on it. */
export class LaterExample9990000000000 extends SqlMigration {
  readonly name = 'LaterExample9990000000000';
  protected readonly upSql = [
    `create table example_note (id uuid primary key, organization_id uuid not null references organization (id));
     create index example_note_of on example_note (organization_id);`,
    'alter table conversation add column example_digits integer',
    'alter table message_queue add column example_place integer not null default 0',
    inBatches({
      table: 'conversation',
      set: 'example_digits = length(phone)',
      where: 'example_digits is null and phone is not null',
      size: 3,
    }),
    indexConcurrently('conversation_example', 'conversation (organization_id, example_digits)'),
  ];
  protected readonly downSql = [
    'drop index if exists conversation_example',
    'alter table message_queue drop column example_place',
    'alter table conversation drop column example_digits',
    'drop table example_note',
  ];
}
