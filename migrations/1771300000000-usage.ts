import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** What was sent and received, counted by time, and the prices that the operator gave. */
export class Usage1771300000000 extends SqlMigration {
  readonly name = 'Usage1771300000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- Messages by the quarter of an hour in which their ids were made, which is the one of their submission; every time zone is made of such
-- quarters. Rows of a quarter are replaced together: see usage_due.
-- A figure is null where it would be 0: it takes no space then, and little time to add up.
-- billable, pricing_type, failure_category: as of the messages; what an answer shows of them is summed up from them.
-- d0 to d15: delivered messages by the time from accepted to delivered; the bounds are in usage.types.ts.
-- One-time codes are rows with project_id, and without connection_id. submitted: requested; verified and expired are of codes only.
create table usage (
  organization_id uuid not null references organization (id),
  start timestamptz not null,
  connection_id uuid,
  project_id uuid,
  submitted integer,
  accepted integer,
  sent integer,
  delivered integer,
  read integer,
  failed integer,
  outcome_unknown integer,
  received integer,
  verified integer,
  expired integer,
  d0 integer, d1 integer, d2 integer, d3 integer, d4 integer, d5 integer, d6 integer, d7 integer,
  d8 integer, d9 integer, d10 integer, d11 integer, d12 integer, d13 integer, d14 integer, d15 integer,
  billable boolean,
  type text,
  source text,
  country text,
  category text,
  template text,
  pricing_type text,
  failure_category text,
  check (num_nonnulls(connection_id, project_id) = 1)
);
create index usage_workspace on usage (organization_id, start);
create index usage_start on usage (start);

-- Quarters of an hour that are to be counted: one row each, with the time at which it is counted next, until it has been counted for
-- the last time. counted_at: null: never yet.
-- A row without at notes that something of the quarter has changed late. It is written with the change (noteLate in usage.types.ts), so
-- a reader that sees the row sees the change as well; the sweep turns such rows into one with a time.
create table usage_due (
  start timestamptz not null,
  at timestamptz,
  counted_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index usage_due_start on usage_due (start);
create index usage_due_at on usage_due (at);

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
drop table usage_rate;
drop table usage_due;
drop table usage;
`;
