import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many bytes of files each workspace has stored, and how many it may. */
export class StorageQuota1765051000000 implements MigrationInterface {
  name = 'StorageQuota1765051000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  'alter table organization add column storage_limit_bytes bigint check (storage_limit_bytes >= 0)',
  `create table media_usage (
    organization_id uuid primary key references organization (id),
    used_bytes bigint not null default 0 check (used_bytes >= 0)
  ) with (fillfactor = 50)`,
  // In the database, so that every way in which a file comes or goes is counted: also that of the release before, which
  // still runs while processes are replaced.
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
  // Waits for writers, and blocks them until the files that are there are counted: one read of the table.
  `create trigger media_usage_follow after insert or delete or update of storage_key, size_bytes on media_object
   for each row execute function media_usage_follow()`,
  `insert into media_usage (organization_id, used_bytes)
   select organization_id, sum(size_bytes) from media_object where storage_key is not null group by organization_id`,
];

const DOWN: readonly string[] = [
  'drop trigger media_usage_follow on media_object',
  'drop function media_usage_follow',
  'drop table media_usage',
  'alter table organization drop column storage_limit_bytes',
];
