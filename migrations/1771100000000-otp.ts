import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** One-time codes: projects, what they may send, codes, and the number that sends them. */
export class Otp1771100000000 extends SqlMigration {
  readonly name = 'Otp1771100000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- guesses_*: for the alarm against guessing.
create table otp_project (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  name text not null check (char_length(name) between 1 and 200),
  mode text not null check (mode in ('sandbox', 'live')),
  template_language text not null default 'en_US' check (char_length(template_language) between 2 and 20),
  allowed_countries text[],
  guesses_since timestamptz,
  guesses_right integer not null default 0,
  guesses_wrong integer not null default 0,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create index otp_project_organization on otp_project (organization_id, created_at);
alter table api_key add constraint api_key_otp_project_id_fkey foreign key (otp_project_id) references otp_project (id);

-- The service's own number. It belongs to no workspace, and there is one.
create table otp_sender (
  id boolean primary key default true check (id),
  phone_number_id text not null,
  former_number_ids text[] not null default '{}',
  phone_number text,
  template_name text not null,
  token_ciphertext bytea not null,
  token_version integer not null default 1,
  throughput_per_second integer not null default 80 check (throughput_per_second between 1 and 10000),
  status text not null default 'connected' check (status in ('connected', 'disconnected')),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);

-- What a live project may send to a country each month, and the months in which it did.
create table otp_allowance (
  project_id uuid not null references otp_project (id),
  organization_id uuid not null references organization (id),
  country text not null check (country ~ '^[A-Z]{2}$'),
  monthly_limit integer not null check (monthly_limit >= 0),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (project_id, country)
);
create table otp_package (
  id uuid primary key,
  project_id uuid not null references otp_project (id),
  organization_id uuid not null references organization (id),
  country text not null,
  month date not null,
  monthly_limit integer not null check (monthly_limit >= 0),
  reserved integer not null default 0 check (reserved >= 0),
  used integer not null default 0 check (used >= 0),
  constraint otp_package_month unique (project_id, country, month)
) with (fillfactor = 50);

-- recipient is what codes are counted by, number is where the code is sent; null: the same.
-- attempts: guesses that were admitted; wrong_attempts: those of them that were wrong.
-- Retention clears recipient, country and code_hash, and leaves the key: a key never expires. key_number: the recipient of
-- then, where the key contains the number, by which an erasure finds it.
-- No foreign keys to the project and the package: a row is written for every code.
create table otp_challenge (
  id uuid primary key,
  seq bigint generated always as identity,
  organization_id uuid not null,
  project_id uuid not null,
  mode text not null check (mode in ('sandbox', 'live')),
  recipient text check (recipient ~ '^[0-9]{5,20}$'),
  number text,
  country text,
  idempotency_key text not null,
  key_number text,
  fingerprint bytea not null,
  status text not null check (status in ('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read',
    'verified', 'failed', 'expired')),
  error text,
  code_hash bytea,
  code_key_version integer not null,
  code_ciphertext bytea,
  attempts integer not null default 0 check (attempts between 0 and 5),
  wrong_attempts integer not null default 0 check (wrong_attempts between 0 and 5),
  template_language text not null,
  package_id uuid,
  package_used boolean not null default false,
  released_at timestamptz,
  attempt_id uuid not null,
  meta_message_id text,
  lease_until timestamptz,
  created_at timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  sending_at timestamptz,
  sent_at timestamptz,
  delivered_at timestamptz,
  read_at timestamptz,
  verified_at timestamptz,
  constraint otp_challenge_idempotency unique (project_id, idempotency_key)
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);
-- The state is asked for by an expression, here and in the statements that are to be planned with these indexes: where
-- the planner takes the queue for nearly empty all indexes on the plain column look equal to it.
create index otp_challenge_turn on otp_challenge (project_id, created_at, seq) where status || '' = 'queued';
create index otp_challenge_waits on otp_challenge (created_at) where status || '' = 'queued';
create index otp_challenge_of_recipient on otp_challenge (project_id, recipient)
  where status || '' in ('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read');
-- For erasures: those that have ended, once each.
create index otp_challenge_ended on otp_challenge (recipient) where recipient is not null
  and status || '' not in ('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read');
create index otp_challenge_key_number on otp_challenge (key_number) where key_number is not null;
create index otp_challenge_expires on otp_challenge (expires_at)
  where status || '' in ('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read');
create index otp_challenge_leased on otp_challenge (lease_until) where lease_until is not null;
create index otp_challenge_attempt on otp_challenge (attempt_id);
create index otp_challenge_meta on otp_challenge (meta_message_id) where meta_message_id is not null;
-- What retention has left stays at the beginning of the table: retention must not read it in every round.
create index otp_challenge_kept on otp_challenge (created_at) where recipient is not null;

-- What a number may still do within a project, whatever the number of codes. tokens: a bucket of sends.
create table otp_recipient (
  project_id uuid not null,
  recipient text not null,
  organization_id uuid not null,
  last_sent_at timestamptz,
  tokens double precision not null,
  refilled_at timestamptz not null,
  failures integer not null default 0,
  failures_since timestamptz,
  primary key (project_id, recipient)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
create index otp_recipient_age on otp_recipient (last_sent_at);
`;

const DOWN = `
drop table otp_recipient;
drop table otp_challenge;
drop table otp_package;
drop table otp_allowance;
drop table otp_sender;
alter table api_key drop constraint api_key_otp_project_id_fkey;
drop table otp_project;
`;
