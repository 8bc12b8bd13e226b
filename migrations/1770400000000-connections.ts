import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Connections: the WhatsApp numbers of workspaces. */
export class Connections1770400000000 extends SqlMigration {
  readonly name = 'Connections1770400000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- token_version grows with every new token, so that a late refusal of the old one changes nothing.
-- facts_due_at: when the platform is asked next. restricted_until: until then a restriction that was announced holds.
-- payment_missing_at: since then the platform refuses what it charges for. service_charged_since: the first service message
-- beyond the free ones, of the last month that had one.
-- marketing_route: auto, or messages for an account whose marketing templates must not go by marketing_messages.
-- marketing_status: the platform's word on whether the account may use that endpoint.
-- throughput_fixed: the operator chose the pace, and the platform's answer does not change it.
create table connection (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  phone_number_id text not null,
  waba_id text not null,
  phone_number text not null check (phone_number ~ '^[0-9]{5,20}$'),
  verified_name text,
  status text not null check (status in ('connected', 'pending', 'disconnected', 'restricted')),
  status_reason text,
  quality_rating text,
  messaging_limit text,
  throughput_per_second integer not null default 80 check (throughput_per_second between 1 and 10000),
  throughput_fixed boolean not null default false,
  marketing_route text not null default 'auto' check (marketing_route in ('auto', 'messages')),
  marketing_status text,
  timezone text,
  token_ciphertext bytea not null,
  token_version integer not null default 1,
  restricted_until timestamptz,
  payment_missing_at timestamptz(3),
  service_charged_since timestamptz(3),
  facts_at timestamptz(3),
  facts_due_at timestamptz not null default clock_timestamp(),
  profile_updated_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint connection_phone_number_id unique (phone_number_id)
);
create index connection_organization on connection (organization_id, created_at);
create index connection_time on connection (created_at, id);
create index connection_status on connection (status, created_at, id);
create index connection_facts_due on connection (facts_due_at);
create index connection_waba on connection (waba_id);
`;

const DOWN = `
drop table connection;
`;
