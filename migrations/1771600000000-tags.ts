import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Groups of messages, as far as something was done to one as a whole. */
export class Tags1771600000000 extends SqlMigration {
  readonly name = 'Tags1771600000000';
  protected readonly upSql = UP;
  protected readonly downSql = 'drop table message_tag';
}

const UP = `
-- A tag has a row from the first action on; messages name theirs themselves (message.tag).
-- paused: what waits is not sent. resuming: what was put aside goes back to the queue. cancel_before: what was accepted
-- until then and waits is being canceled, and nothing of the tag is sent meanwhile; canceled_before: the same of the last cancel, also after its end. retry_before: messages that failed
-- until then are being queued again, those of retry_category or of all but a few categories; retry_at and retry_id: the
-- place in the journal that this has reached.
create table message_tag (
  organization_id uuid not null references organization (id),
  tag text not null,
  paused boolean not null default false,
  resuming boolean not null default false,
  cancel_before timestamptz,
  canceled_before timestamptz,
  retry_before timestamptz,
  retry_category text,
  retry_at timestamptz,
  retry_id uuid,
  acted_at timestamptz(3) not null,
  primary key (organization_id, tag)
);
-- Read by the claim where a message with a tag is due.
create index message_tag_held on message_tag (organization_id, tag) where paused or cancel_before is not null;
create index message_tag_work on message_tag (organization_id, tag)
  where resuming or cancel_before is not null or retry_before is not null;
`;
