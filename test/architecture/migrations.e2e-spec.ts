import pg from 'pg';
import { migrations } from '../../migrations/all.js';
import { migrate, revertLast } from '../../src/platform/database/data-source.js';
import { filesUnder } from '../support/project-files.js';
import { createEmptyDatabase, type TestDatabase } from '../support/test-database.js';

/** Everything that a migration can make, as one comparable list. */
const SCHEMA = `
  select 'column' as kind, table_name || '.' || column_name as name,
    concat_ws(' ', data_type, udt_name, is_nullable, column_default, is_identity, datetime_precision) as definition
  from information_schema.columns where table_schema = 'public'
  union all select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
  from pg_constraint where connamespace = 'public'::regnamespace
  union all select 'type', typname, typtype::text from pg_type
  where typnamespace = 'public'::regnamespace and typtype in ('e', 'd')
  union all select 'function', proname, pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
  union all select 'trigger', tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  union all select 'table', relname, coalesce(array_to_string(reloptions, ','), '') || relpersistence::text
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
  order by 1, 2, 3`;

describe('migrations', () => {
  it('are exactly the files of the folder, oldest first', () => {
    const files = filesUnder('migrations').filter((path) => path !== 'migrations/all.ts');
    const timestamps = files.map((path) => /^migrations\/(\d{13})-[a-z0-9-]+\.ts$/.exec(path)?.[1] ?? path);
    expect(migrations.map((migration) => migration.name.slice(-13))).toEqual(timestamps);
    expect(new Set(timestamps).size).toBe(timestamps.length);
  });

  describe('on a fresh database', () => {
    let database: TestDatabase;

    beforeAll(async () => {
      database = await createEmptyDatabase();
    });

    afterAll(async () => {
      await database.drop();
    });

    async function schema(): Promise<unknown[]> {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        const { rows } = await client.query<{ name: string; definition: string }>(SCHEMA);
        return rows.filter((row) => !`${row.name} ${row.definition}`.includes('schema_migration'));
      } finally {
        await client.end();
      }
    }

    it('go up, down to nothing, and up to the same schema again; a second up does nothing', async () => {
      const ran = await migrate(database.url);
      expect(ran).toHaveLength(migrations.length);
      const first = await schema();
      expect(first.length).toBeGreaterThan(50);

      let reverted = 0;
      while (await revertLast(database.url)) reverted++;
      expect(reverted).toBe(migrations.length);
      expect(await schema()).toEqual([]);

      await migrate(database.url);
      expect(await schema()).toEqual(first);
      expect(await migrate(database.url)).toEqual([]);
    });
  });
});
