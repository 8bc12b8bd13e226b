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

-- What counts in a day, a week or a month, with the rows of limit_correction of the same count. recipient: of those limits
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
-- month. billed: the amount is what the platform charges, no estimate. failed: it was sent and failed, so the amount does not
-- count. A message that fails unsent has no row.
create table limit_reservation (
  message_id uuid primary key,
  organization_id uuid not null,
  day date,
  week date,
  recipient text,
  month date,
  amount bigint,
  country text,
  billed boolean not null default false,
  failed boolean not null default false
);
create index limit_reservation_age on limit_reservation (coalesce(day, week, month));

-- What counts more or less in a row of limit_use than it says: one row for each count and statement, however many messages
-- it changed, so that no outcome and no report waits for a lock. A sweep adds them to limit_use.
create table limit_correction (
  organization_id uuid not null,
  kind text not null,
  recipient text not null default '',
  period date not null,
  amount bigint not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index limit_correction_count on limit_correction (organization_id, kind, recipient, period);

-- Planned by the index, whatever the tables have at that time: most workspaces have no limits.
create function limit_release() returns trigger language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
begin
  if not exists (select from entered where status = 'failed' and accepted_at is null and sent_at is null) then
    return null;
  end if;
  with gone as (
    delete from limit_reservation where message_id = any(array(
      select message_id from entered where status = 'failed' and accepted_at is null and sent_at is null))
    returning organization_id, day, week, recipient, month, case when failed then 0 else amount end as amount
  )
  insert into limit_correction (organization_id, kind, recipient, period, amount)
  select organization_id, 'messages_per_day', '', day, -count(*) from gone where day is not null
  group by organization_id, day
  union all
  select organization_id, 'marketing_per_recipient_per_week', recipient, week, -count(*) from gone
  where week is not null and recipient is not null group by organization_id, week, recipient
  union all
  select organization_id, 'spend_per_month', '', month, -sum(amount) from gone where month is not null
  group by organization_id, month having sum(amount) <> 0;
  return null;
end $$;
create trigger limit_release_insert after insert on message_state referencing new table as entered
  for each statement execute function limit_release();
create trigger limit_release_update after update on message_state referencing new table as entered
  for each statement execute function limit_release();
`;

const DOWN = `
drop trigger limit_release_update on message_state;
drop trigger limit_release_insert on message_state;
drop function limit_release;
drop table limit_correction;
drop table limit_reservation;
drop table limit_use;
alter table organization drop column messages_per_day, drop column spend_per_month, drop column marketing_per_recipient_per_week, drop column time_zone;
`;
