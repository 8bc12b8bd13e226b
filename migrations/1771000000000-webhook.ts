import type { MigrationInterface, QueryRunner } from 'typeorm';
import { makeDaysAhead } from '../src/infrastructure/database/day-partitions.js';

/** Webhook endpoints, the log of events, and their deliveries. */
export class Webhook1771000000000 implements MigrationInterface {
  name = 'Webhook1771000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
    await makeDaysAhead((sql, params) => queryRunner.query(sql, params), 'webhook_delivery');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = `
-- A UUIDv7 by the database's clock (RFC 9562, 6.2, method 3): the twelve bits after the version are the fraction of the
-- millisecond, so that rows of one statement are in the order in which it wrote them. PostgreSQL has its own function
-- from 18 on only.
create function uuid_v7() returns uuid language sql volatile parallel safe as $$
  select (overlay(lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint), 15, '0')
    placing '7' from 13 for 0) || substr(gen_random_uuid()::text, 20))::uuid
$$;

-- One endpoint a workspace. A deleted one stays until the sweep has removed its waiting events.
-- revision grows with each change by the workspace: what an attempt under older settings met concerns them alone.
-- failing_since: first failed attempt after the last success; null while attempts succeed.
-- connection_ids: empty for all numbers. headers_ciphertext is one JSON object; the names stand beside it, because they
-- are shown.
create table webhook_endpoint (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  url text not null,
  events text[] not null check (cardinality(events) > 0),
  connection_ids uuid[] not null default '{}',
  header_names text[] not null default '{}',
  headers_ciphertext bytea,
  active boolean not null,
  revision integer not null default 1,
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  inactive_since timestamptz(3),
  failing_since timestamptz(3),
  last_failure_at timestamptz(3),
  rests_until timestamptz,
  rests smallint not null default 0,
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
) with (fillfactor = 80);
create unique index webhook_endpoint_organization on webhook_endpoint (organization_id) where deleted_at is null;
create index webhook_endpoint_inactive on webhook_endpoint (inactive_since) where inactive_since is not null;

-- The current secret has no end; replaced ones sign until theirs.
create table webhook_secret (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  ciphertext bytea not null,
  hint text not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhook_secret_endpoint on webhook_secret (endpoint_id, created_at desc);
create unique index webhook_secret_current on webhook_secret (endpoint_id) where expires_at is null;

-- An event and the state of its delivery. "recorded": it is for no endpoint, and only GET /events shows it. While an
-- attempt is under way current_attempt_id is set and next_attempt_at is the end of its lease: an attempt whose process
-- died becomes due again by itself.
-- No foreign keys on this table and webhook_delivery: not every event may lock an endpoint's row.
create table webhook_event (
  id uuid primary key default uuid_v7(),
  organization_id uuid not null,
  endpoint_id uuid,
  type text not null,
  data jsonb not null,
  occurred_at timestamptz(3) not null,
  status text not null default 'pending',
  attempt_count integer not null default 0,
  tries integer not null default 0,
  current_attempt_id uuid,
  next_attempt_at timestamptz default clock_timestamp(),
  trace_context bytea,
  transaction_id xid8 not null default pg_current_xact_id(),
  constraint webhook_event_status_check check (status in ('pending', 'delivered', 'exhausted', 'recorded')),
  constraint webhook_event_endpoint_check check (endpoint_id is not null or status = 'recorded')
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);
create index webhook_event_due on webhook_event (endpoint_id, next_attempt_at) where status = 'pending';
-- Deliveries under way by the end of their lease: to count them, only those of the last lease's length are read.
create index webhook_event_leased on webhook_event (endpoint_id, next_attempt_at) where current_attempt_id is not null;
create index webhook_event_order on webhook_event (organization_id, transaction_id, id);

-- One row an attempt, written with its outcome. A partition a day, by the time in the id.
create table webhook_delivery (
  id uuid primary key,
  organization_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  attempt integer not null,
  status text not null check (status in ('succeeded', 'failed')),
  http_status integer,
  error text,
  duration_ms integer,
  next_attempt_at timestamptz,
  created_at timestamptz(3) not null
) partition by range (id);
-- Lists merge the few types and states where a filter leaves one out.
create index webhook_delivery_list on webhook_delivery (endpoint_id, event_type, status, created_at desc, id desc);

-- A replay is a task: its events stand in the second table until they are due again.
create table webhook_replay (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  only_failed boolean not null,
  total integer not null,
  done integer not null default 0,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  finished_at timestamptz(3)
);
create unique index webhook_replay_running on webhook_replay (endpoint_id) where finished_at is null;
create index webhook_replay_of_endpoint on webhook_replay (endpoint_id);
create table webhook_replay_event (
  replay_id uuid not null references webhook_replay (id) on delete cascade,
  organization_id uuid not null,
  event_id uuid not null,
  primary key (replay_id, event_id)
);

-- One row for each workspace whose events are recorded. since: what earlier transactions wrote is not complete.
-- read_at: last call of GET /events, to the hour, or the last time that the workspace got or lost an endpoint.
create table event_recording (
  organization_id uuid primary key references organization (id),
  since xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  read_at timestamptz not null default clock_timestamp()
);
create function record_events_of_endpoint() returns trigger language plpgsql as $$
begin
  insert into event_recording (organization_id) values (new.organization_id)
  on conflict (organization_id) do update set read_at = clock_timestamp();
  return null;
end $$;
create trigger webhook_endpoint_recording after insert or update of deleted_at on webhook_endpoint
  for each row execute function record_events_of_endpoint();
`;

const DOWN = `
drop table event_recording;
drop table webhook_replay_event;
drop table webhook_replay;
drop table webhook_delivery;
drop table webhook_event;
drop table webhook_secret;
drop table webhook_endpoint;
drop function record_events_of_endpoint();
drop function uuid_v7();
`;
