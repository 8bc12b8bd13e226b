import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Media files of the workspaces: what they uploaded, and what customers sent. The bytes are in the storage. */
export class Media1770900000000 extends SqlMigration {
  readonly name = 'Media1770900000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const ADDED = 'select organization_id, storage_key, size_bytes as bytes from added';
const REMOVED = 'select organization_id, storage_key, -size_bytes as bytes from removed';

const follow = (event: string, changes: string): string => `
create function media_usage_${event}() returns trigger language plpgsql as $$
begin
  insert into media_usage as u (organization_id, used_bytes)
  select organization_id, sum(bytes) from (${changes}) as c
  where storage_key is not null group by organization_id having sum(bytes) > 0 order by organization_id
  on conflict (organization_id) do update set used_bytes = u.used_bytes + excluded.used_bytes;
  update media_usage u set used_bytes = greatest(u.used_bytes + freed.bytes, 0)
  from (
    select organization_id, sum(bytes) as bytes from (${changes}) as c
    where storage_key is not null group by organization_id having sum(bytes) < 0) as freed
  where u.organization_id = freed.organization_id;
  return null;
end $$;`;

const UP = `
-- A pending file is one that a customer sent and that was not fetched yet: platform_media_id says where it is,
-- next_attempt_at when to try, lease_until until when a process works on it, failure why the last attempt failed. Its
-- sha256 is what the platform announced; that of a stored file is what was measured. storage_key is another one each
-- time that bytes are stored, so that the loser of a race removes its own file and never the winner's.
create table media_object (
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
  constraint media_object_stored
    check (status <> 'stored' or (storage_key is not null and size_bytes is not null and sha256 is not null)),
  constraint media_object_pending
    check (status <> 'pending' or (platform_media_id is not null and next_attempt_at is not null))
) with (autovacuum_vacuum_scale_factor = 0.05);
create index media_object_list on media_object (organization_id, created_at desc, id desc);
create index media_object_list_connection on media_object (organization_id, connection_id, created_at desc, id desc);
create index media_object_list_kind on media_object (organization_id, direction, type, created_at desc, id desc);
create index media_object_age on media_object (direction, created_at);
-- Only files that wait to be fetched have the time.
create index media_object_awaited on media_object (connection_id, next_attempt_at) where next_attempt_at is not null;
create unique index media_object_storage_key on media_object (storage_key) where storage_key is not null;

-- The platform's own copies of our files: one for each number that sent the file. It forgets them after 30 days.
create table media_platform_id (
  media_object_id uuid not null references media_object (id) on delete cascade,
  connection_id uuid not null references connection (id),
  organization_id uuid not null references organization (id),
  platform_media_id text not null,
  expires_at timestamptz not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (media_object_id, connection_id)
);

create table media_usage (
  organization_id uuid primary key references organization (id),
  used_bytes bigint not null default 0 check (used_bytes >= 0)
) with (fillfactor = 50);

-- Every way in which a file comes or goes is counted. Once a statement and workspace, in the order of the workspaces, so
-- that two statements never wait for each other in a ring, and so that no statement leaves many dead versions of a row.
${follow('insert', ADDED)}
${follow('delete', REMOVED)}
${follow('update', `${ADDED} union all ${REMOVED}`)}
create trigger media_usage_insert after insert on media_object referencing new table as added
  for each statement execute function media_usage_insert();
create trigger media_usage_delete after delete on media_object referencing old table as removed
  for each statement execute function media_usage_delete();
create trigger media_usage_update after update on media_object referencing new table as added old table as removed
  for each statement execute function media_usage_update();
`;

const DOWN = `
drop table media_usage;
drop table media_platform_id;
drop table media_object;
drop function media_usage_insert(), media_usage_delete(), media_usage_update();
`;
