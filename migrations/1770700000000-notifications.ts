import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Notifications of the platform, as they came in. */
export class Notifications1770700000000 extends SqlMigration {
  readonly name = 'Notifications1770700000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- "stored": not, or not wholly, applied yet. unread: names of what in it Herald does not know or use.
create table platform_notification (
  id uuid primary key,
  received_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  body bytea not null,
  state text not null default 'stored' check (state in ('stored', 'applied', 'unmatched', 'unreadable', 'failed')),
  unread jsonb
) with (autovacuum_vacuum_scale_factor = 0.01);
create index platform_notification_unread on platform_notification (id) where unread is not null;

-- Those that are to be applied. A claim moves due_at on to the next try, so that one whose process died is due again.
create table notification_queue (
  notification_id uuid primary key references platform_notification on delete cascade,
  due_at timestamptz not null default clock_timestamp() + interval '5 seconds',
  tries integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index notification_queue_due on notification_queue (due_at);

-- A notification is in the queue as long as it is "stored". The snapshot of a trigger is newer than that of the statement:
-- it sees a row that another transaction queued while this one waited for it.
create function platform_notification_queue() returns trigger language plpgsql
  set enable_seqscan = off set enable_bitmapscan = off as $$
begin
  if new.state = 'stored' then
    insert into notification_queue (notification_id) values (new.id) on conflict do nothing;
  else
    delete from notification_queue where notification_id = new.id;
  end if;
  return null;
end $$;
create trigger platform_notification_insert after insert on platform_notification
  for each row when (new.state = 'stored') execute function platform_notification_queue();
create trigger platform_notification_update after update on platform_notification
  for each row when (old.state <> new.state) execute function platform_notification_queue();
`;

const DOWN = `
drop table notification_queue;
drop table platform_notification;
drop function platform_notification_queue;
`;
