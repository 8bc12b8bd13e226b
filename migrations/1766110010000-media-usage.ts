import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A statement that changes the files of one workspace changes its usage once, however many files there are. */
export class MediaUsage1766110010000 implements MigrationInterface {
  name = 'MediaUsage1766110010000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const trigger = (event: string, tables: string): string =>
  `create trigger media_usage_${event} after ${event} on media_object referencing ${tables}
   for each statement execute function media_usage_${event}()`;

/** In the order of the workspaces, so that two statements never wait for each other in a ring. */
const follow = (event: string, changes: string): string =>
  `create function media_usage_${event}() returns trigger language plpgsql as $$
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
  end $$`;

const ADDED = 'select organization_id, storage_key, size_bytes as bytes from added';
const REMOVED = 'select organization_id, storage_key, -size_bytes as bytes from removed';

// By row each change left a removed version of the same row of `media_usage`: beside a transaction that stays open all of
// them were read again for the next file.
const UP: readonly string[] = [
  'drop trigger media_usage_follow on media_object',
  'drop function media_usage_follow',
  follow('insert', ADDED),
  follow('delete', REMOVED),
  follow('update', `${ADDED} union all ${REMOVED}`),
  trigger('insert', 'new table as added'),
  trigger('delete', 'old table as removed'),
  trigger('update', 'new table as added old table as removed'),
];

const DOWN: readonly string[] = [
  ...['insert', 'delete', 'update'].flatMap((event) => [
    `drop trigger media_usage_${event} on media_object`,
    `drop function media_usage_${event}`,
  ]),
  `create function media_usage_follow() returns trigger language plpgsql as $$
  declare
    change bigint := 0;
    workspace uuid;
  begin
    if tg_op <> 'DELETE' then
      workspace := new.organization_id;
      if new.storage_key is not null then change := change + new.size_bytes; end if;
    end if;
    if tg_op <> 'INSERT' then
      workspace := old.organization_id;
      if old.storage_key is not null then change := change - old.size_bytes; end if;
    end if;
    if change <> 0 then
      insert into media_usage as u (organization_id, used_bytes) values (workspace, greatest(change, 0))
      on conflict (organization_id) do update set used_bytes = greatest(u.used_bytes + change, 0);
    end if;
    return null;
  end $$`,
  `create trigger media_usage_follow after insert or delete or update of storage_key, size_bytes on media_object
   for each row execute function media_usage_follow()`,
];
