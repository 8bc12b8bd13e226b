import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook endpoints, their events and deliveries. */
export class Webhook1764300000000 implements MigrationInterface {
  name = 'Webhook1764300000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  // A UUIDv7 by the database's clock (RFC 9562): 48 bits of milliseconds over a random UUIDv4, whose version bits
  // 0100 become 0111. PostgreSQL has its own from 18 on only.
  `create function uuid_v7() returns uuid language sql volatile parallel safe as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
      from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
  $$`,

  // One endpoint a workspace. A deleted one stays until the sweep has removed its waiting events.
  // "revision" grows with each change by the workspace: what an attempt under older settings met concerns them alone.
  // "failing_since": first failed attempt after the last success; null while attempts succeed.
  `create table webhook_endpoint (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    url text not null,
    events text[] not null check (cardinality(events) > 0),
    active boolean not null,
    revision integer not null default 1,
    disabled_reason text check (disabled_reason in ('gone', 'failing')),
    inactive_since timestamptz(3),
    failing_since timestamptz(3),
    last_failure_at timestamptz(3),
    deleted_at timestamptz(3),
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
  ) with (fillfactor = 80)`,
  `create unique index webhook_endpoint_organization on webhook_endpoint (organization_id) where deleted_at is null`,
  `create index webhook_endpoint_inactive on webhook_endpoint (inactive_since) where inactive_since is not null`,

  // The current secret has no end; replaced ones sign until theirs.
  `create table webhook_secret (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
    ciphertext bytea not null,
    hint text not null,
    expires_at timestamptz(3),
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
  )`,
  `create index webhook_secret_endpoint on webhook_secret (endpoint_id, created_at desc)`,
  `create unique index webhook_secret_current on webhook_secret (endpoint_id) where expires_at is null`,

  // An event and the state of its delivery. While an attempt is under way "current_attempt_id" is set and
  // "next_attempt_at" is the end of its lease: an attempt whose process died falls due again by itself.
  // No foreign keys on this table and the next: hot, and an endpoint's row must not be locked by every event.
  `create table webhook_event (
    id uuid primary key default uuid_v7(),
    organization_id uuid not null,
    endpoint_id uuid not null,
    type text not null,
    data jsonb not null,
    occurred_at timestamptz(3) not null,
    status text not null default 'pending' check (status in ('pending', 'delivered', 'exhausted')),
    attempt_count integer not null default 0,
    tries integer not null default 0,
    current_attempt_id uuid,
    next_attempt_at timestamptz default clock_timestamp()
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05)`,
  `create index webhook_event_due on webhook_event (endpoint_id, next_attempt_at) where status = 'pending'`,
  // At most ten rows an endpoint: how many deliveries are under way, in all processes.
  `create index webhook_event_in_flight on webhook_event (endpoint_id) where current_attempt_id is not null`,

  // One row an attempt, written with its outcome. The id is a UUIDv7, so the oldest are found by it.
  `create table webhook_delivery (
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
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05)`,
  // Lists merge the few types and states where a filter leaves one out.
  `create index webhook_delivery_list on webhook_delivery (endpoint_id, event_type, status, created_at desc, id desc)`,
];

const DOWN: readonly string[] = [
  'drop table webhook_delivery',
  'drop table webhook_event',
  'drop table webhook_secret',
  'drop table webhook_endpoint',
  'drop function uuid_v7()',
];
