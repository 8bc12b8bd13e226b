import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Workspaces: the customers of the installation, each of which sees its own rows alone. */
export class Workspaces1770000000000 extends SqlMigration {
  readonly name = 'Workspaces1770000000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
create table organization (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 200),
  api_paid_until timestamptz,
  rate_per_second integer check (rate_per_second > 0),
  rate_burst integer check (rate_burst > 0),
  storage_limit_bytes bigint check (storage_limit_bytes >= 0),
  external_id text unique check (char_length(external_id) between 1 and 200),
  deletion_requested_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create index organization_created on organization (created_at, id);
create index organization_name on organization (lower(name) text_pattern_ops);
create index organization_deletion on organization (deletion_requested_at) where deletion_requested_at is not null;

-- The erasure of a person that has begun and not ended, with every name and conversation that was found: a run that is
-- killed goes on by itself. due_at: when a worker goes on with it; the process that works on it moves it on.
create table erasure (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  numbers text[] not null,
  user_ids text[] not null,
  conversation_ids uuid[] not null,
  due_at timestamptz not null
);
create index erasure_due on erasure (due_at);

-- Every number and user id of an erased person as SHA-256 of the workspace's id and the name: by it what the platform
-- reports later names no person. erased_at: what is older is of the time before.
create table erased_name (
  organization_id uuid not null references organization (id),
  hash bytea not null,
  erased_at timestamptz(3) not null,
  primary key (organization_id, hash)
);
`;

const DOWN = `
drop table erased_name;
drop table erasure;
drop table organization;
`;
