import pg from 'pg';
import type { QueryRunner } from 'typeorm';
import { migrations } from '../../migrations/all.js';
import { requireOwnSchema } from '../../src/bootstrap/database.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { migrate, requireSchema, revertLast } from '../../src/infrastructure/database/data-source.js';
import { FOREIGN_SCHEMA, readSchemaState, type SchemaState } from '../../src/infrastructure/database/schema-state.js';
import { filesUnder, readProjectFile } from '../support/project-files.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

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

/** Migrations up to this one ran on no database in use. */
const LAST_BEFORE_RELEASE = '1771999999999';

/** What locks a table for as long as it has rows, or breaks the release that still runs. */
const SLOW = [
  {
    pattern: /create (unique )?index (?!concurrently)/i,
    advice: 'create index concurrently, in a migration with transaction = false',
  },
  { pattern: /alter column \w+ (set data )?type/i, advice: 'add a column of the new type and fill it in batches' },
  {
    pattern: /alter column \w+ set not null/i,
    advice: 'add a check (... is not null) not valid, validate it, then set not null',
  },
  {
    pattern: /add constraint (?!.*not valid)[^;`']*(check|foreign key)/i,
    advice: 'add the constraint not valid, then validate it',
  },
  { pattern: /rename (column|to)/i, advice: 'add the new name, and take the old one away a release later' },
] as const;

/** The text without the statements on tables that it creates itself: those are not in use yet. */
function withoutNewTables(text: string): string {
  const made = [...text.matchAll(/create (?:unlogged )?table (\w+)/gi)].map((match) => match[1] ?? '');
  return made.reduce(
    (rest, table) => rest.replace(new RegExp(`create (unique )?index \\w+ on ${table}\\b`, 'gi'), ''),
    text,
  );
}

function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it went well',
    (error: Error) => error.message,
  );
}

describe('migrations', () => {
  it('are exactly the files of the folder, oldest first', () => {
    const files = filesUnder('migrations').filter((path) => path !== 'migrations/all.ts');
    const timestamps = files.map((path) => /^migrations\/(\d{13})-[a-z0-9-]+\.ts$/.exec(path)?.[1] ?? path);
    expect(migrations.map((migration) => migration.name.slice(-13))).toEqual(timestamps);
    expect(new Set(timestamps).size).toBe(timestamps.length);
  });

  it('from the first release on change tables in use without blocking other transactions', () => {
    const later = filesUnder('migrations').filter((path) => (/(\d{13})/.exec(path)?.[1] ?? '0') > LAST_BEFORE_RELEASE);
    const slow = later.flatMap((path) => {
      // The way back is for an installation that stands still.
      const [text = ''] = readProjectFile(path).split('const DOWN');
      return SLOW.filter(({ pattern }) => pattern.test(withoutNewTables(text))).map(
        ({ advice }) => `${path}: ${advice}`,
      );
    });
    expect(slow).toEqual([]);
  });

  it('would notice', () => {
    const text = "`create index message_x on message (x)`, 'alter table message alter column x type bigint'";
    expect(SLOW.filter(({ pattern }) => pattern.test(withoutNewTables(text)))).toHaveLength(2);
    expect(
      SLOW.some(({ pattern }) =>
        pattern.test(withoutNewTables('create table t (x int)`, `create index t_x on t (x)`')),
      ),
    ).toBe(false);
    expect(SLOW.some(({ pattern }) => pattern.test('create index concurrently message_x on message (x)'))).toBe(false);
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

    it('give up where a table stays locked, and change nothing', async () => {
      await migrate(database.url);
      const before = await schema();
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        // Whichever migration is the last one: any table may be what it changes.
        const { rows } = await client.query<{ tables: string }>(
          `select string_agg(tablename, ', ') as tables from pg_tables
           where schemaname = 'public' and tablename not like 'schema\\_migration%'`,
        );
        await client.query(`begin; lock table ${rows[0]?.tables} in access share mode`);
        await expect(revertLast(database.url)).rejects.toMatchObject({ code: '55P03' });
      } finally {
        await client.end();
      }
      expect(await schema()).toEqual(before);
      while (await revertLast(database.url));
    });

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

  describe('that ran in a database', () => {
    let database: TestDatabase;

    beforeEach(async () => {
      database = await createTestDatabase();
    });

    afterEach(() => database.drop());

    /** After this statement: what is found there, and what is said wherever it is met. */
    async function found(change: string): Promise<SchemaState & { sentence: string | null }> {
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        await client.query(change);
        const state = await readSchemaState(async (sql) => (await client.query(sql)).rows);
        if (!state.foreign) return { ...state, sentence: null };
        const messages = [
          await failureOf(migrate(database.url)),
          await failureOf(requireSchema(database.url, true)),
          await failureOf(requireOwnSchema(loadConfig({ env: { DATABASE_URL: database.url } }).database)),
        ];
        expect(new Set(messages).size).toBe(1);
        return { ...state, sentence: messages[0] ?? null };
      } finally {
        await client.end();
      }
    }

    it.each([
      ['edited since', `update schema_migration_checksum set checksum = 'x' where name like 'Keys%'`],
      ['of a build that noted nothing', 'drop table schema_migration_checksum'],
      ['of which one was not noted', `delete from schema_migration_checksum where name like 'Keys%'`],
      ['of another history', `insert into schema_migration (timestamp, name) values (1, 'Foundation1764000000000')`],
    ])('%s: one sentence says that the database is of another build, and what to do', async (_what, change) => {
      const { foreign, sentence } = await found(change);
      expect([foreign, sentence]).toEqual([true, FOREIGN_SCHEMA]);
      expect(sentence).toMatch(/made by another build of Herald, and \d+\.\d+\.\d+ cannot .* Use a new database/);
    });

    it('of a later release are let stand beside those of this build', async () => {
      const change = `insert into schema_migration (timestamp, name) values (9999999999999, 'Later9999999999999')`;
      expect(await found(change)).toMatchObject({ foreign: false, missing: [], newer: ['Later9999999999999'] });
    });

    it('in no transaction may run again, as after a failure, and leave the time that a statement waits for a lock as it was', async () => {
      const apart = migrations.map((Migration) => new Migration()).filter(({ transaction }) => transaction === false);
      expect(apart.length).toBeGreaterThan(0);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        const asked = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows;
        const before = await asked(SCHEMA);
        await client.query(`set lock_timeout = '4321ms'`);
        for (const migration of apart) {
          const query = (sql: string, params?: unknown[]) =>
            client.query(sql, params).then(({ rows }) => rows as unknown);
          await migration.up({ query } as unknown as QueryRunner);
          expect(await asked('show lock_timeout')).toEqual([{ lock_timeout: '4321ms' }]);
        }
        expect(await asked(SCHEMA)).toEqual(before);
        expect(await asked('select from pg_index where not indisvalid')).toEqual([]);
      } finally {
        await client.end();
      }
    });

    it('but one, and that one runs', async () => {
      const newest = migrations.at(-1)?.name;
      expect(await revertLast(database.url)).toBe(true);
      expect(await found('select 1')).toMatchObject({ foreign: false, missing: [newest] });
      expect(await migrate(database.url)).toEqual([newest]);
      expect(await found('select 1')).toMatchObject({ foreign: false, missing: [] });
    });
  });
});
