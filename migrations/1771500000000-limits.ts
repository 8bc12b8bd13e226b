import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Limits of workspaces on what they send: what counts against them, and what is given back. */
export class Limits1771500000000 extends SqlMigration {
  readonly name = 'Limits1771500000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- Null: no limit. Days, weeks and months begin in the time zone. spend_per_month: in the currency of usage_rate.
alter table organization
  add column messages_per_day integer check (messages_per_day >= 0),
  add column spend_per_month numeric(15, 6) check (spend_per_month >= 0),
  add column marketing_per_recipient_per_week integer check (marketing_per_recipient_per_week >= 0),
  add column time_zone text not null default 'UTC';

-- What counts in a day, a week or a month; written under a lock on the row of the workspace only. recipient: of those limits
-- that are for each recipient, else empty. used: messages, or millionths of the currency. warned: the share in per cent that
-- was announced.
create table limit_use (
  organization_id uuid not null references organization (id),
  kind text not null check (kind in ('messages_per_day', 'spend_per_month', 'marketing_per_recipient_per_week')),
  recipient text not null default '',
  period date not null,
  used bigint not null check (used >= 0),
  warned smallint not null default 0,
  primary key (organization_id, kind, recipient, period)
) with (fillfactor = 50);
create index limit_use_period on limit_use (period);

-- What each message of a workspace with limits counts in: a day, for marketing a week of its recipient, and with an amount a
-- month. A message that fails unsent marks its row as released; a report of what it costs, or that it failed later, says so in
-- billed: the category, empty where it costs nothing. What next locks the workspace settles marked rows and removes them: so no
-- outcome and no report waits for a lock.
create table limit_reservation (
  message_id uuid primary key,
  organization_id uuid not null,
  day date,
  week date,
  recipient text,
  month date,
  amount bigint,
  country text,
  billed text,
  released boolean not null default false
);
create index limit_reservation_marked on limit_reservation (organization_id) where released or billed is not null;
create index limit_reservation_age on limit_reservation (coalesce(day, week, month));

-- Planned by the index, whatever the table has at that time: most workspaces have no limits.
create function limit_release() returns trigger language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  update limit_reservation set released = true where message_id = new.message_id and not released;
  return null;
end $$;
create trigger limit_release_insert after insert on message_state for each row
  when (new.status = 'failed' and new.accepted_at is null and new.sent_at is null) execute function limit_release();
create trigger limit_release_update after update of status on message_state for each row
  when (new.status = 'failed' and new.accepted_at is null and new.sent_at is null) execute function limit_release();
`;

const DOWN = `
drop trigger limit_release_update on message_state;
drop trigger limit_release_insert on message_state;
drop function limit_release;
drop table limit_reservation;
drop table limit_use;
alter table organization drop column messages_per_day, drop column spend_per_month, drop column marketing_per_recipient_per_week, drop column time_zone;
`;
