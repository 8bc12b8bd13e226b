import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** API keys, operator keys, and the buckets that limit their requests. */
export class Keys1770100000000 extends SqlMigration {
  readonly name = 'Keys1770100000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- "id" is the public part of the key's text. Of the secret part only the hash is stored. end_noted_for: the end (expires_at) that
-- operators were told of.
create table api_key (
  id text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  organization_id uuid not null references organization (id),
  name text not null check (char_length(name) between 1 and 200),
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  scopes text[] not null,
  otp_project_id uuid,
  expires_at timestamptz,
  end_noted_for timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create index api_key_organization on api_key (organization_id, created_at);
create index api_key_ending on api_key (expires_at) where revoked_at is null and end_noted_for is distinct from expires_at;

-- Keys of the admin API. workspace_ids: null: all workspaces, and what concerns the whole installation.
create table operator_key (
  id text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
  name text not null check (char_length(name) between 1 and 200),
  secret_hash bytea not null check (octet_length(secret_hash) = 32),
  scopes text[] not null,
  workspace_ids uuid[] check (cardinality(workspace_ids) > 0),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);

-- What a POST of the admin API answered, by its Idempotency-Key, without secrets: a repeat within a day answers the same.
-- No foreign keys: the row is there before the workspace that it makes, and goes with it.
create table operator_repeat (
  operator_key_id text not null,
  key text not null check (octet_length(key) between 8 and 128),
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  organization_id uuid,
  answer jsonb,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (operator_key_id, key)
);
create index operator_repeat_time on operator_repeat (created_at);

-- Token buckets that processes share. Unlogged: after a crash every bucket is full, which is harmless.
create unlogged table rate_bucket (
  key text primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
) with (fillfactor = 50);
`;

const DOWN = `
drop table rate_bucket;
drop table operator_repeat;
drop table operator_key;
drop table api_key;
`;
