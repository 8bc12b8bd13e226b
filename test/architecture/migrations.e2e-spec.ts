import { readFileSync } from 'node:fs';
import { migrations } from '../../migrations/all.js';
import { released } from '../../migrations/released.js';
import { requireOwnSchema } from '../../src/bootstrap/database.js';
import { heraldVersion } from '../../src/common/version.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { goBack, migrate, requireSchema } from '../../src/infrastructure/database/migrate.js';
import { releaseOf } from '../../src/infrastructure/database/migration-plan.js';
import {
  FOREIGN_SCHEMA,
  readSchemaState,
  timeOf,
  type SchemaState,
} from '../../src/infrastructure/database/schema-state.js';
import { SqlMigration, textOf } from '../../src/infrastructure/database/sql-migration.js';
import { filesUnder } from '../support/project-files.js';
import { rowsOf, schemaOf } from '../support/schema-of.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** What blocks the traffic of a table with many rows, or breaks the release that still runs. */
const HARMFUL = [
  { pattern: /create (unique )?index/i, advice: 'indexConcurrently(...)' },
  {
    pattern: /alter column \w+ (set data )?type/i,
    advice: 'add a column of the new type and fill it with inBatches(...)',
  },
  {
    pattern: /alter column \w+ set not null/i,
    advice:
      'a release later, after it fills what is missing: add a check (... is not null) not valid, validate it, then set not null',
  },
  {
    pattern: /add (constraint \w+ )?(?!.*not valid)[^;`']*(check|foreign key|references)/i,
    advice: 'add the constraint not valid, and validate it in a migration of its own',
  },
  { pattern: /add (constraint \w+ )?(unique|primary key)/i, advice: 'indexConcurrently(...) with unique: true' },
  { pattern: /rename (column|to)/i, advice: 'add the new name, and take the old one away a release later' },
  {
    pattern: /add column (?![^,;]*default)[^,;]*not null/i,
    advice: 'leave it nullable or give it a default: the release before inserts without it',
  },
  {
    pattern: /add column [^,;]*default [^,;]*(random|clock_timestamp|uuid)/i,
    advice:
      'a default that is computed for each row writes the whole table: set it apart from the column, then inBatches(...)',
  },
  { pattern: /^\s*(update|delete from) /im, advice: 'inBatches(...)' },
  { pattern: /\b(truncate|vacuum full|cluster|lock table)\b/i, advice: 'nothing that takes a table from the traffic' },
  {
    pattern: /^(?![^]*-- unread since \d)[^]*drop (table|column|function|trigger)/i,
    advice:
      'what the release before still uses stays; with a comment `-- unread since 0.3.0` it may go a release later',
  },
] as const;

/** Without functions' bodies, and without statements on tables that it makes itself: those are not in use yet. */
function onTablesInUse(statements: readonly string[]): string[] {
  const text = statements.join(';\n').replaceAll(/\$(\w*)\$[^]*?\$\1\$/g, '');
  const made = [...text.matchAll(/create (?:unlogged )?table (\w+)/gi)].map((match) => match[1] ?? '');
  return text.split(';').filter((each) => {
    const of = /(?:create table|create unlogged table|index \w+\s+on|alter table|insert into) (\w+)/i.exec(each)?.[1];
    return !made.includes(of ?? '');
  });
}

/** What is wrong with a migration after the freeze, as sentences. */
function faultsOf(migration: SqlMigration): string[] {
  const { name, steps, down } = migration;
  const statements = steps.flatMap((step) => ('work' in step ? [] : step));
  const found = onTablesInUse(statements).flatMap((statement) =>
    HARMFUL.filter(({ pattern }) => pattern.test(statement)).map(({ advice }) => `${name}: ${advice}`),
  );
  const changesSchema = [...statements, ...steps.flatMap((step) => ('work' in step ? [textOf(step)] : []))].some(
    (text) => /\b(create|alter|drop)\b/i.test(text),
  );
  return changesSchema && down.join('').trim() === ''
    ? [...found, `${name}: there is no way back: write its down`]
    : found;
}

class Example extends SqlMigration {
  readonly name = 'Example9999999999999';

  constructor(
    protected readonly upSql: SqlMigration['upSql'],
    protected readonly downSql: string | readonly string[] = 'select 1',
  ) {
    super();
  }
}

function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'it went well',
    (error: Error) => error.message,
  );
}

async function revertLast(url: string): Promise<boolean> {
  const ran = await rowsOf<{ name: string }>(url, 'select name from schema_migration order by right(name, 13) desc');
  if (ran.length === 0) return false;
  await goBack(url, ran[1]?.name ?? null);
  return true;
}

describe('migrations', () => {
  it('are exactly the files of the folder, oldest first', () => {
    const files = filesUnder('migrations').filter((path) => !/\/(all|released)\.ts$/.test(path));
    const timestamps = files.map((path) => /^migrations\/(\d{13})-[a-z0-9-]+\.ts$/.exec(path)?.[1] ?? path);
    expect(migrations.map((migration) => migration.name.slice(-13))).toEqual(timestamps);
    expect(new Set(timestamps).size).toBe(timestamps.length);
  });

  it('of a release are what they were in it', () => {
    const own = new Map(migrations.map((Migration) => [Migration.name, new Migration()]));
    const changed = Object.entries(released).flatMap(([version, of]) =>
      Object.entries(of).flatMap(([name, checksum]) => {
        if (own.get(name)?.frozenChecksum === checksum) return [];
        return [
          `${name} is part of release ${version}, and databases have it as it was there: restore it, and write a new migration ` +
            '(npm run migration:new -- <name>; docs/recipes/add-a-migration.md)',
        ];
      }),
    );
    expect(changed).toEqual([]);
  });

  it('of this version are frozen as soon as its changelog has a section', () => {
    const version = heraldVersion();
    const isReleased = readFileSync('CHANGELOG.md', 'utf8').includes(`\n## [${version}]`);
    const open = migrations.map((Migration) => new Migration()).filter(({ name }) => releaseOf(name) === null);
    const lines = open.map(({ name, frozenChecksum }) => `    ${name}: '${frozenChecksum}',\n`).join('');
    const toAdd = `add to migrations/released.ts:\n  '${version}': {\n${lines}  },`;
    expect(!isReleased || version in released ? '' : toAdd).toBe('');
  });

  it('after a release change tables in use without blocking others, and have a way back', () => {
    const later = migrations.map((Migration) => new Migration()).filter(({ name }) => releaseOf(name) === null);
    expect(later.flatMap(faultsOf)).toEqual([]);
    const lastReleased = Math.max(...Object.values(released).flatMap((of) => Object.keys(of).map(timeOf)));
    expect(later.filter(({ name }) => timeOf(name) < lastReleased).map(({ name }) => name)).toEqual([]);
  });

  it.each([
    ['an index that blocks', 'create index message_x on message (x)', 1],
    ['another type', 'alter table message alter column x type bigint', 1],
    ['a check of all rows', 'alter table message add constraint x check (y > 0)', 1],
    ['a reference that is looked up for all rows', 'alter table message add column x uuid references person (id)', 1],
    ['a column that the release before does not fill', 'alter table message add column x text not null', 1],
    ['all rows at once', ['alter table message add column x text', 'update message set x = y'], 1],
    ['what is still read', 'alter table message drop column x', 1],
    ['what is not read any more', '-- unread since 0.3.0\nalter table message drop column x', 0],
    ['a column', 'alter table message add column x text', 0],
    ['a column with a default', 'alter table message add column x integer not null default 0', 0],
    ['a check for later', 'alter table message add constraint x check (y > 0) not valid', 0],
    ['a new table', ['create table t (x int references message (id))', 'create index t_x on t (x)'], 0],
  ])('would notice: %s', (_what, up, many) => {
    expect(faultsOf(new Example(up))).toHaveLength(many);
    expect(faultsOf(new Example(up, ''))).toHaveLength(many + 1);
  });

  describe('on a fresh database', () => {
    let database: TestDatabase;

    beforeAll(async () => {
      database = await createEmptyDatabase();
    });

    afterAll(async () => {
      await database.drop();
    });

    it('go up, down to nothing, and up to the same schema again; a second up does nothing', async () => {
      const ran = await migrate(database.url);
      expect(ran).toHaveLength(migrations.length);
      const first = await schemaOf(database.url);
      expect(first.length).toBeGreaterThan(50);

      let reverted = 0;
      while (await revertLast(database.url)) reverted++;
      expect(reverted).toBe(migrations.length);
      expect(await schemaOf(database.url)).toEqual([]);

      await migrate(database.url);
      expect(await schemaOf(database.url)).toEqual(first);
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
      await rowsOf(database.url, change);
      const state = await readSchemaState((sql) => rowsOf(database.url, sql));
      if (!state.foreign) return { ...state, sentence: null };
      const messages = [
        await failureOf(migrate(database.url)),
        await failureOf(goBack(database.url, null)),
        await failureOf(requireSchema(database.url, true)),
        await failureOf(requireOwnSchema(loadConfig({ env: { DATABASE_URL: database.url } }).database)),
      ];
      expect(new Set(messages).size).toBe(1);
      return { ...state, sentence: messages[0] ?? null };
    }

    it.each([
      ['edited since', `update schema_migration set checksum = 'x' where name like 'Keys%'`],
      [
        'of a build before 0.2.0',
        `drop table schema_migration; create table schema_migration (id serial primary key, timestamp bigint not null, name varchar not null);
         insert into schema_migration (timestamp, name) values (1770000000000, 'Workspaces1770000000000')`,
      ],
      ['of another history', `insert into schema_migration values ('Foundation1764000000000', 'x', 1)`],
    ])('%s: one sentence says that the database is of another build, and what to do', async (_what, change) => {
      const { foreign, sentence } = await found(change);
      expect([foreign, sentence]).toEqual([true, FOREIGN_SCHEMA]);
      expect(sentence).toMatch(/made by another build of Herald, and \d+\.\d+\.\d+ cannot .* Use a new database/);
    });

    it('of a later release are let stand beside those of this build, and only that one reverts them', async () => {
      const change = `insert into schema_migration values ('Later9999999999999', 'x', 1)`;
      expect(await found(change)).toMatchObject({ foreign: false, missing: [], newer: ['Later9999999999999'] });
      expect(await migrate(database.url)).toEqual([]);
      expect(await failureOf(goBack(database.url, null))).toMatch(/^Later9999999999999 ran there, of a release after/);
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
