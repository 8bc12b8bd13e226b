import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Brokers and queues to which the events of a workspace are written. */
export class Destinations1771900000000 extends SqlMigration {
  readonly name = 'Destinations1771900000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- settings are those of its kind, without secrets; secrets_ciphertext is one JSON object, and the names stand beside it, because they are
-- shown. revision grows with each change of what a connection depends on.
-- cursor_transaction, cursor_id: everything up to this event is written or passed over; by default all that was written before now. written_ahead: events behind it that are written.
-- attempt_id: the turn under way; due_at is then the end of its lease, and else when the next one may begin.
-- tries: failed turns after the last success. lost: events that can never be written, as retention removed them or they are too large;
-- lost_reported: how many of them events have told of.
create table event_destination (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  name text not null,
  kind text not null check (kind in ('nats', 'rabbitmq', 'sqs')),
  settings jsonb not null,
  secret_names text[] not null default '{}',
  secrets_ciphertext bytea,
  events text[] not null check (cardinality(events) > 0),
  connection_ids uuid[] not null default '{}',
  active boolean not null,
  revision integer not null default 1,
  cursor_transaction xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  cursor_id uuid not null default uuid_v7(),
  written_ahead uuid[] not null default '{}',
  attempt_id uuid,
  due_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0,
  failing_since timestamptz(3),
  last_error text,
  last_error_at timestamptz(3),
  last_written_at timestamptz(3),
  written bigint not null default 0,
  lost bigint not null default 0,
  lost_at timestamptz(3),
  lost_reported bigint not null default 0,
  lost_reported_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
create unique index event_destination_name on event_destination (organization_id, name);
`;

const DOWN = `
drop table event_destination;
`;
