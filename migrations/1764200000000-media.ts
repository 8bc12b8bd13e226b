import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Media files of the workspaces: what they uploaded, and what customers sent. The bytes lie in the storage. */
export class Media1764200000000 implements MigrationInterface {
  name = 'Media1764200000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  // A pending file is one that a customer sent and that was not fetched yet: "platform_media_id" says where it is,
  // "next_attempt_at" when to try, "lease_until" until when a process works on it, "failure" why the last attempt
  // failed. Its "sha256" is what the platform announced; that of a stored file is what was measured. "storage_key" is
  // another one each time that bytes are stored, so that the loser of a race removes its own file and never the
  // winner's.
  `create table media_object (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    connection_id uuid not null references connection (id),
    direction text not null check (direction in ('outbound', 'inbound')),
    type text not null check (type in ('image', 'video', 'audio', 'document', 'sticker')),
    mime_type text not null check (char_length(mime_type) between 1 and 255),
    size_bytes bigint check (size_bytes >= 0),
    sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
    filename text check (char_length(filename) between 1 and 240),
    voice boolean not null default false,
    status text not null check (status in ('stored', 'pending', 'failed')),
    storage_key uuid,
    platform_media_id text,
    tries integer not null default 0,
    next_attempt_at timestamptz,
    lease_owner uuid,
    lease_until timestamptz,
    failure text,
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    expires_at timestamptz,
    constraint media_object_stored check (status <> 'stored' or (storage_key is not null and size_bytes is not null and sha256 is not null)),
    constraint media_object_pending
      check (status <> 'pending' or (platform_media_id is not null and next_attempt_at is not null))
  ) with (autovacuum_vacuum_scale_factor = 0.05)`,
  `create index media_object_list on media_object (organization_id, created_at desc, id desc)`,
  `create index media_object_list_connection on media_object
    (organization_id, connection_id, created_at desc, id desc)`,
  `create index media_object_list_kind on media_object
    (organization_id, direction, type, created_at desc, id desc)`,
  `create index media_object_due on media_object (connection_id, next_attempt_at) where status = 'pending'`,
  `create unique index media_object_storage_key on media_object (storage_key) where storage_key is not null`,
  `create index media_object_expiry on media_object (expires_at) where expires_at is not null`,

  // The platform's own copies of our files: one for each number that sent the file. It forgets them after 30 days.
  `create table media_platform_id (
    media_object_id uuid not null references media_object (id) on delete cascade,
    connection_id uuid not null references connection (id),
    organization_id uuid not null references organization (id),
    platform_media_id text not null,
    expires_at timestamptz not null,
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    primary key (media_object_id, connection_id)
  )`,
];

const DOWN: readonly string[] = ['drop table media_platform_id', 'drop table media_object'];
