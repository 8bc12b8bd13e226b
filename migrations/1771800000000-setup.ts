import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Links by which a business connects its number itself. */
export class Setup1771800000000 extends SqlMigration {
  readonly name = 'Setup1771800000000';
  protected readonly upSql = UP;
  protected readonly downSql = 'drop table number_pin, setup_link';
}

const UP = `
-- Of the link's text only the hash is stored. steps: by name, how each went. phone_number_id, waba_id, access_token_ciphertext: what the first step brought;
-- the token is here until the connection has it, or the link ends.
-- continuation_hash: proves the page that completed the link. busy_until: a step is under way; a process that died leaves it behind.
create table setup_link (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  token_hash bytea not null check (octet_length(token_hash) = 32),
  signup text not null check (signup in ('cloud', 'app', 'manual')),
  locale text not null,
  return_url text,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  expires_at timestamptz(3) not null,
  opened_at timestamptz(3),
  completed_at timestamptz(3),
  revoked_at timestamptz(3),
  steps jsonb not null default '{}',
  phone_number_id text,
  waba_id text,
  access_token_ciphertext bytea,
  continuation_hash bytea,
  connection_id uuid references connection (id),
  busy_until timestamptz
);
create unique index setup_link_token on setup_link (token_hash);
create index setup_link_list on setup_link (organization_id, created_at desc, id desc);
create index setup_link_connection on setup_link (connection_id) where connection_id is not null;
create index setup_link_secret on setup_link (expires_at) where access_token_ciphertext is not null;

-- The PIN of two-step verification with which Herald has registered a number: its next registration needs the same.
create table number_pin (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  phone_number_id text not null,
  pin_ciphertext bytea not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index number_pin_number on number_pin (organization_id, phone_number_id);
`;
