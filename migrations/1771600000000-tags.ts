import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Groups of messages, as far as something was done to one as a whole. */
export class Tags1771600000000 extends SqlMigration {
  readonly name = 'Tags1771600000000';
  protected readonly upSql = UP;
  protected readonly downSql = 'drop table message_tag_count, message_tag';
}

const UP = `
-- A tag has a row from its first message on, or from the PUT that made it before; messages name theirs themselves (message.tag).
-- started_at: since when its messages may go; null: it was made by a PUT, and waits for a resume or for start_at. messages_per_minute: as
-- fast what waits is freed; paced_at: until when the pace is used.
-- paused: what waits is not sent. resuming: what was held goes back to the queue. cancel_before: what was accepted
-- until then and waits is being canceled, and nothing of the tag is sent meanwhile; canceled_before: the same of the last cancel, also after its end. retry_before: messages that failed
-- until then are being queued again, those of retry_category or of all but a few categories; retry_at and retry_id: the
-- place in the journal that this has reached.
-- action, acted_at, ended_at, done, skipped: the last action, how many messages it has moved, and why it left others out, with counts.
create table message_tag (
  organization_id uuid not null references organization (id),
  tag text not null,
  id uuid not null default gen_random_uuid(),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  start_at timestamptz(3),
  started_at timestamptz default clock_timestamp(),
  messages_per_minute integer,
  paced_at timestamptz,
  paused boolean not null default false,
  resuming boolean not null default false,
  cancel_before timestamptz,
  canceled_before timestamptz,
  retry_before timestamptz,
  retry_category text,
  retry_at timestamptz,
  retry_id uuid,
  action text,
  acted_at timestamptz(3),
  ended_at timestamptz(3),
  done integer not null default 0,
  skipped jsonb not null default '{}',
  primary key (organization_id, tag)
);
create index message_tag_list on message_tag (organization_id, created_at desc, id desc);
-- Read by the claim where a message with a tag is due.
create index message_tag_held on message_tag (organization_id, tag)
  where paused or cancel_before is not null or started_at is null;
create index message_tag_paced on message_tag (organization_id, tag) where messages_per_minute is not null;
create index message_tag_work on message_tag (organization_id, tag)
  where resuming or cancel_before is not null or retry_before is not null;
create index message_tag_start on message_tag (start_at) where started_at is null and not paused;

-- How many messages of a tag stand where: the sum of these rows. Each statement that moves messages with a tag adds rows and changes
-- none, so that none waits for another; a sweep replaces the rows of a tag by their sums (is_sum).
-- status: of message_state; so what is in flight is counted as queued. scheduled: of these, those with a time of their own that has not come.
create table message_tag_count (
  organization_id uuid not null,
  tag text not null,
  connection_id uuid not null,
  status text not null,
  failure_category text,
  messages integer not null,
  scheduled integer not null default 0,
  last_scheduled_for timestamptz,
  first_at timestamptz,
  last_at timestamptz not null,
  is_sum boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
create index message_tag_count_tag on message_tag_count (organization_id, tag);
create index message_tag_count_new on message_tag_count (organization_id, tag) where not is_sum;
create index message_tag_count_queued on message_tag_count (connection_id) where is_sum and status = 'queued' and messages > 0;
`;
