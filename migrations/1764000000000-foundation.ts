import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Workspaces, keys, connections, conversations, the message journal with its lanes, and the platform's notifications.
 */
export class Foundation1764000000000 implements MigrationInterface {
  name = 'Foundation1764000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP = [
  `create table organization (
    id uuid primary key,
    name text not null check (char_length(name) between 1 and 200),
    api_paid_until timestamptz,
    rate_per_second integer check (rate_per_second > 0),
    rate_burst integer check (rate_burst > 0),
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
  )`,

  // "id" is the public part of the key's text; only the hash of the secret part is kept.
  `create table api_key (
    id text primary key check (id ~ '^[0-9A-Za-z]{12}$'),
    organization_id uuid not null references organization (id),
    name text not null check (char_length(name) between 1 and 200),
    secret_hash bytea not null check (octet_length(secret_hash) = 32),
    scopes text[] not null,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
  )`,
  `create index api_key_organization on api_key (organization_id, created_at)`,

  `create table connection (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    phone_number_id text not null,
    waba_id text not null,
    phone_number text not null check (phone_number ~ '^[0-9]{5,20}$'),
    verified_name text,
    status text not null check (status in ('connected', 'pending', 'disconnected', 'restricted')),
    quality_rating text,
    messaging_limit text,
    throughput_per_second integer not null default 80 check (throughput_per_second between 1 and 10000),
    timezone text,
    token_ciphertext bytea not null,
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    constraint connection_phone_number_id unique (phone_number_id)
  )`,
  `create index connection_organization on connection (organization_id, created_at)`,

  // A conversation is one contact on one connection. The contact may be known by the number that we were given, by
  // the platform's spelling of it, by a business-scoped user id, or by several of these. When two rows turn out to be
  // one person, the younger row points to the older one and gives up its identities.
  `create table conversation (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    connection_id uuid not null references connection (id),
    phone text,
    wa_id text,
    user_id text,
    profile_name text,
    last_inbound_at timestamptz,
    merged_into uuid references conversation (id),
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
  )`,
  `create unique index conversation_phone on conversation (connection_id, phone) where phone is not null`,
  `create unique index conversation_wa_id on conversation (connection_id, wa_id) where wa_id is not null`,
  `create unique index conversation_user_id on conversation (connection_id, user_id) where user_id is not null`,
  `create index conversation_merged on conversation (merged_into) where merged_into is not null`,

  // No foreign keys here and on message_attempt: they are the hottest tables, a batch of a hundred rows would run a
  // hundred look-ups a key and lock its connection's row each time; connections and conversations are never deleted.
  `create table message (
    id uuid primary key,
    seq bigint generated always as identity,
    organization_id uuid not null,
    connection_id uuid not null,
    conversation_id uuid,
    direction text not null check (direction in ('outbound', 'inbound')),
    type text not null,
    recipient text,
    sender text,
    body text,
    content jsonb not null,
    client_message_id text,
    idempotency_key uuid,
    fingerprint bytea,
    reply_to_message_id uuid,
    media_object_id uuid,
    status text not null check (status in ('queued', 'processing', 'accepted', 'sent', 'delivered', 'read', 'failed',
      'outcome_unknown', 'received')),
    meta_message_id text,
    failure_category text,
    error_code text,
    error_message text,
    attempt_count integer not null default 0,
    tries integer not null default 0,
    current_attempt_id uuid,
    lease_until timestamptz,
    next_attempt_at timestamptz,
    created_at timestamptz(3) not null,
    queued_at timestamptz,
    processing_at timestamptz,
    accepted_at timestamptz,
    sent_at timestamptz,
    delivered_at timestamptz,
    read_at timestamptz,
    failed_at timestamptz
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05)`,
  `create unique index message_idempotency on message (organization_id, idempotency_key)
    where idempotency_key is not null`,
  `create unique index message_inbound on message (connection_id, meta_message_id) where direction = 'inbound'`,
  `create index message_journal on message (organization_id, created_at desc, id desc)`,
  `create index message_journal_filtered on message
    (organization_id, connection_id, status, created_at desc, id desc)`,
  `create index message_journal_recipient on message (organization_id, recipient, created_at desc, id desc)
    where direction = 'outbound'`,
  `create index message_journal_client on message (organization_id, client_message_id, created_at desc, id desc)
    where client_message_id is not null`,
  `create index message_lane on message (connection_id, recipient, seq) where status in ('queued', 'processing')`,
  `create index message_due on message (connection_id, next_attempt_at) where status = 'queued'`,
  `create index message_in_flight on message (connection_id, recipient, lease_until) where status = 'processing'`,

  `create table message_attempt (
    id uuid primary key,
    organization_id uuid not null,
    message_id uuid not null,
    number integer not null,
    status text not null check (status in ('started', 'accepted', 'rejected', 'deferred', 'unknown')),
    started_at timestamptz not null,
    finished_at timestamptz,
    http_status integer,
    platform_code integer,
    platform_message text,
    failure_category text,
    meta_message_id text,
    trace_id text
  ) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05)`,
  `create index message_attempt_message on message_attempt (message_id, number)`,
  `create index message_attempt_meta on message_attempt (meta_message_id) where meta_message_id is not null`,

  // Repeats of POST /messages/{id}/retry with an Idempotency-Key.
  `create table message_retry (
    organization_id uuid not null references organization (id),
    idempotency_key uuid not null,
    message_id uuid not null,
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    primary key (organization_id, idempotency_key)
  )`,

  // A notification body as it came in. "stored": not, or not wholly, applied yet.
  `create table platform_notification (
    id uuid primary key,
    received_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    body bytea not null,
    state text not null default 'stored' check (state in ('stored', 'applied', 'unmatched', 'unreadable')),
    tries integer not null default 0,
    next_try_at timestamptz not null default clock_timestamp() + interval '5 seconds'
  ) with (autovacuum_vacuum_scale_factor = 0.01)`,
  `create index platform_notification_due on platform_notification (next_try_at) where state = 'stored'`,

  // Who drains a lane, until when, and how far its pace is used up. All times are the database's.
  `create table lane (
    key text primary key,
    owner uuid,
    owner_until timestamptz,
    paused_until timestamptz,
    pause_count integer not null default 0,
    pause_reason text,
    next_slot_at timestamptz not null default '-infinity'
  ) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01)`,

  // Last success of what must run again and again; its age is part of readiness.
  `create table heartbeat (
    name text primary key,
    beat_at timestamptz not null
  ) with (fillfactor = 50)`,

  // Token buckets shared by processes. Not logged: after a crash every bucket is full, which is harmless.
  `create unlogged table rate_bucket (
    key text primary key,
    tokens double precision not null,
    refilled_at timestamptz not null
  ) with (fillfactor = 50)`,
];

const DOWN = [
  'drop table rate_bucket',
  'drop table heartbeat',
  'drop table lane',
  'drop table platform_notification',
  'drop table message_retry',
  'drop table message_attempt',
  'drop table message',
  'drop table conversation',
  'drop table connection',
  'drop table api_key',
  'drop table organization',
];
