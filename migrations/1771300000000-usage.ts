import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** What was sent and received, counted by time, and the prices that the operator gave. */
export class Usage1771300000000 extends SqlMigration {
  readonly name = 'Usage1771300000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

// What both tables count.
const FIGURES = `  submitted integer not null,
  accepted integer not null,
  sent integer not null,
  delivered integer not null,
  read integer not null,
  failed integer not null,
  outcome_unknown integer not null,
  received integer not null,
  d0 integer not null, d1 integer not null, d2 integer not null, d3 integer not null,
  d4 integer not null, d5 integer not null, d6 integer not null, d7 integer not null,
  d8 integer not null, d9 integer not null, d10 integer not null, d11 integer not null,
  d12 integer not null, d13 integer not null, d14 integer not null, d15 integer not null,
`;

const UP = `
-- Messages by the time of their submission. span: "slot" is a quarter of an hour, which every time zone is made of; "day"
-- is a UTC day, the sum of its slots. Rows of an hour are replaced together: see usage_hour.
-- billable, pricing_type, failure_category: as of the messages; what an answer shows of them is summed up from them.
-- d0 to d15: delivered messages by the time from accepted to delivered; the bounds are in usage.types.ts.
create table usage_count (
  organization_id uuid not null references organization (id),
  span text not null check (span in ('slot', 'day')),
  start timestamptz not null,
  connection_id uuid not null,
${FIGURES}  billable boolean,
  type text not null,
  source text not null,
  country text,
  category text,
  template text,
  pricing_type text,
  failure_category text
);
create index usage_count_workspace on usage_count (organization_id, span, start);
create index usage_count_start on usage_count (span, start);

-- The same with fewer columns, for the most common questions: of each number, of all numbers of a WhatsApp Business account
-- together, or of all of a workspace. Rows of an "hour" and of a UTC "day". country: of billable messages only, and not of a
-- whole workspace, whose rows have neither account nor number.
create table usage_total (
  organization_id uuid not null references organization (id),
  level text not null check (level in ('workspace', 'account', 'number')),
  span text not null check (span in ('hour', 'day')),
  start timestamptz not null,
  account text,
  connection_id uuid,
${FIGURES}  billable boolean,
  country text,
  category text,
  pricing_type text,
  failure_category text
);
create index usage_total_workspace on usage_total (organization_id, level, span, start);
create index usage_total_start on usage_total (span, start);

-- One-time codes by the quarter of an hour of their request.
create table usage_codes (
  organization_id uuid not null references organization (id),
  project_id uuid not null,
  start timestamptz not null,
  country text,
  requested integer not null,
  sent integer not null,
  delivered integer not null,
  verified integer not null,
  expired integer not null,
  failed integer not null
);
create index usage_codes_project on usage_codes (project_id, start);
create index usage_codes_start on usage_codes (start);

-- One row an hour. A process that counts an hour locks "usage_lock" first: two at once would make a day of what neither sees whole.
-- next_at: when it is counted again; null: never.
create table usage_hour (
  hour timestamptz primary key,
  counted_at timestamptz,
  next_at timestamptz
) with (fillfactor = 70);
create index usage_hour_next on usage_hour (next_at) where next_at is not null;
create table usage_lock (
  single boolean primary key default true check (single)
);
insert into usage_lock default values;

-- Hours in which a message or code changes after the last regular count, a week later. A row is written with each such change, once
-- a transaction, whatever else says that the hour is due: whoever sees the row sees the change as well. A count makes the hour
-- due again and removes the rows that it sees.
create table usage_late (
  hour timestamptz not null,
  transaction_id xid8 not null default pg_current_xact_id(),
  primary key (hour, transaction_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create function usage_late() returns trigger language plpgsql as $$
begin
  insert into usage_late (hour) values (date_trunc('hour', new.created_at, 'UTC')) on conflict do nothing;
  return null;
end $$;
-- One hour earlier than the last regular count, for transactions that are open while it runs. Of what is counted only: an erasure
-- clears other columns, and the hour keeps the country of what it counted before.
create trigger usage_late_insert after insert on message_state for each row
  when (new.created_at < now() - interval '7 days' + interval '1 hour') execute function usage_late();
create trigger usage_late_update after update of status, accepted_at, sent_at, delivered_at, read_at, failure_category,
  billable, pricing_category, pricing_type on message_state for each row
  when (new.created_at < now() - interval '7 days' + interval '1 hour') execute function usage_late();
create trigger usage_late_code after update of sent_at, delivered_at, read_at on otp_challenge for each row
  when (new.created_at < now() - interval '7 days' + interval '1 hour') execute function usage_late();

-- What a billable message costs, as the operator read it in the platform's list. countries: ISO 3166 alpha-2; "*": all
-- others. tier_from: the price holds from this message of a month on. Replaced as a whole.
create table usage_rate (
  countries text[] not null check (cardinality(countries) > 0),
  category text not null,
  tier_from integer not null check (tier_from >= 1),
  price numeric(14, 6) not null check (price >= 0),
  currency text not null check (currency ~ '^[A-Z]{3}$'),
  valid_from date not null
);
`;

const DOWN = `
drop trigger usage_late_code on otp_challenge;
drop trigger usage_late_update on message_state;
drop trigger usage_late_insert on message_state;
drop function usage_late;
drop table usage_late;
drop table usage_rate;
drop table usage_lock;
drop table usage_hour;
drop table usage_codes;
drop table usage_total;
drop table usage_count;
`;
