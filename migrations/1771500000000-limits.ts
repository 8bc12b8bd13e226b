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
-- month. billed: the amount is what the platform charges, no estimate. failed: the platform reported so, and the amount does not
-- count. given_back: the message, or its last retry, was not sent. counts: false where nothing of it counts therefore, until a report
-- shows that it was sent after all. earlier: what this row was before a retry, if that still counts.
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
  failed boolean not null default false,
  given_back boolean not null default false,
  counts boolean not null default true,
  earlier jsonb
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

-- Gives back, once, what the last request or retry of these messages took; with only_retries not that of a first request. Planned by
-- the index, whatever the tables have at that time: most workspaces have no limits.
create function limit_give_back(messages uuid[], only_retries boolean) returns void language sql
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
  with taken as materialized (
    select r, r.* from limit_reservation r
    where r.message_id = any(messages) and not r.given_back and not (only_retries and r.earlier is null)
    order by r.message_id for update
  ), given as (
    update limit_reservation l set given_back = true, counts = e.counts, earlier = null, day = e.day, week = e.week,
      month = e.month, amount = e.amount, billed = e.billed, failed = e.failed
    from taken t, jsonb_populate_record(t.r, coalesce(t.earlier, '{"counts": false}')) as e
    where l.message_id = t.message_id
    returning t.organization_id, t.day, t.week, t.recipient, t.month, case when t.failed then 0 else t.amount end as amount
  )
  insert into limit_correction (organization_id, kind, recipient, period, amount)
  select organization_id, 'messages_per_day', '', day, -count(*) from given where day is not null
  group by organization_id, day
  union all
  select organization_id, 'marketing_per_recipient_per_week', recipient, week, -count(*) from given
  where week is not null and recipient is not null group by organization_id, week, recipient
  union all
  select organization_id, 'spend_per_month', '', month, -sum(amount) from given where month is not null
  group by organization_id, month having sum(amount) <> 0
$$;
create function limit_release() returns trigger language plpgsql
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  unsent uuid[] := array(
    select message_id from entered where status = 'failed' and accepted_at is null and sent_at is null);
begin
  if unsent <> '{}' then
    perform limit_give_back(unsent, false);
  end if;
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
drop function limit_give_back;
drop table limit_correction;
drop table limit_reservation;
drop table limit_use;
alter table organization drop column messages_per_day, drop column spend_per_month, drop column marketing_per_recipient_per_week, drop column time_zone;
`;
