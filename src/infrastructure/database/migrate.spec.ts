import pg from 'pg';
import { createEmptyDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { rowsOf } from '../../../test/support/schema-of.js';
import { goBack, lossesOf, migrate, type MigrateOptions, readRan } from './migrate.js';
import { LISTENER } from './running-processes.js';
import { indexConcurrently, inBatches, SqlMigration } from './sql-migration.js';

class Things1780000000000 extends SqlMigration {
  readonly name = 'Things1780000000000';
  protected readonly upSql = `create table thing (id integer primary key, word text);
    insert into thing select n, 'w' || n from generate_series(1, 25) as n;`;
  protected readonly downSql = 'drop table thing';
}

const FILL = inBatches({ table: 'thing', set: 'size = length(word)', where: 'size is null', size: 10 });

class Sizes1790000000000 extends SqlMigration {
  readonly name = 'Sizes1790000000000';
  protected readonly upSql = [
    'alter table thing add column size integer',
    FILL,
    indexConcurrently('thing_word', 'thing (word, size)', { unique: true }),
  ];
  protected readonly downSql = ['drop index if exists thing_word', 'alter table thing drop column size'];
}

const list = [Things1780000000000, Sizes1790000000000];
const [FIRST, SECOND] = [Things1780000000000.name, Sizes1790000000000.name];

let database: TestDatabase;
let lines: string[];
let options: MigrateOptions;

beforeEach(async () => {
  database = await createEmptyDatabase();
  lines = [];
  options = {
    list,
    say: (line, level) => void lines.push(`${level}: ${line}`),
    patience: { lockTimeoutMs: 50, tries: 2, pauseMs: 1 },
  };
});

afterEach(() => database.drop());

const query = <T extends object>(sql: string): Promise<T[]> => rowsOf<T>(database.url, sql);

/** Connects under this name, and leaves the connection open for as long as the work lasts. */
async function beside<T>(name: string, statement: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: database.url, application_name: name });
  await client.connect();
  try {
    await client.query(statement);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function stepsOf(name: string): Promise<number | undefined> {
  return (await readRan(database.url)).find((row) => row.name === name)?.steps;
}

it('goes up to a place, to the end, and back to a place', async () => {
  expect(await migrate(database.url, { ...options, to: FIRST })).toEqual([FIRST]);
  expect(lines).toEqual([]);
  expect(await migrate(database.url, options)).toEqual([SECOND]);
  // What takes long where there are rows.
  expect(lines.map((line) => line.slice(0, 42))).toEqual([
    `log: ${SECOND}, step 2 of 3: update`.slice(0, 42),
    `log: ${SECOND}, step 3 of 3: create`.slice(0, 42),
  ]);
  expect(await query('select from thing where size = length(word)')).toHaveLength(25);
  expect(await stepsOf(SECOND)).toBe(3);
  expect(await lossesOf(database.url, new Sizes1790000000000())).toEqual([
    'column thing.size, which has a value in 25 rows',
  ]);
  expect(await lossesOf(database.url, new Things1780000000000())).toEqual(['table thing with 25 rows']);
  expect(await goBack(database.url, FIRST, options)).toEqual([SECOND]);
  expect(await lossesOf(database.url, new Sizes1790000000000())).toEqual([]);
  expect(await goBack(database.url, FIRST, options)).toEqual([]);
});

it('of two that start together one migrates, and the other finds nothing to do', async () => {
  const ran = await Promise.all([migrate(database.url, options), migrate(database.url, options)]);
  expect(new Set(ran.map((names) => names.length))).toEqual(new Set([0, 2]));
});

describe('a step that fails', () => {
  beforeEach(async () => {
    await migrate(database.url, { ...options, to: FIRST });
    await query(`insert into thing values (101, 'same'), (102, 'same')`);
    await expect(migrate(database.url, options)).rejects.toMatchObject({ code: '23505' });
  });

  it('leaves those before it done, and the next run goes on with it', async () => {
    expect(await stepsOf(SECOND)).toBe(2);
    // What a failed index leaves behind.
    expect(
      await query(`select from pg_index where indexrelid = 'thing_word'::regclass and not indisvalid`),
    ).toHaveLength(1);
    await query('delete from thing where id = 102');
    expect(await migrate(database.url, options)).toEqual([SECOND]);
    expect(await query(`select from pg_index where indexrelid = 'thing_word'::regclass and indisvalid`)).toHaveLength(
      1,
    );
    expect(await stepsOf(SECOND)).toBe(3);
  });

  it('can be reverted', async () => {
    expect(await goBack(database.url, FIRST, options)).toEqual([SECOND]);
    expect(await query(`select from information_schema.columns where table_name = 'thing'`)).toHaveLength(2);
    expect(await stepsOf(SECOND)).toBeUndefined();
  });
});

it('fills rows in batches; a second run finds those that were missed, and no other', async () => {
  await migrate(database.url, options);
  await query(`insert into thing (id, word) values (200, 'late')`);
  await query('update thing set size = -1 where id = 1');
  const statements: string[] = [];
  await FILL.work(
    () => Promise.reject(new Error('not asked')),
    (sql, params) => {
      statements.push(sql);
      return rowsOf(database.url, sql, params);
    },
  );
  expect(statements).toHaveLength(4); // ten, ten, six, none
  expect(await query('select id, size from thing where id in (1, 200) order by id')).toEqual([
    { id: 1, size: -1 },
    { id: 200, size: 4 },
  ]);
});

describe('a table that another transaction uses', () => {
  const USE = 'begin; lock table thing in access share mode';

  beforeEach(async () => {
    await migrate(database.url, { ...options, to: FIRST });
  });

  it('is left to it: names the transaction, gives up, and changes nothing', async () => {
    const failed = await beside('report', USE, () => migrate(database.url, options).catch((error: Error) => error));
    expect(failed).toMatchObject({ cause: { code: '55P03' } });
    expect(String(failed)).toMatch(
      /Sizes\d+ waits for a lock .* The oldest open transaction is that of process \d+ \(report\), for \d+ s\. Given up after 2 tries/,
    );
    expect(lines.map((line) => line.slice(0, 4))).toEqual(['warn']);
    expect(await stepsOf(SECOND)).toBeUndefined();
  });

  it('is tried again until it ends', async () => {
    await beside('report', USE, async (client) => {
      const say = (): void => void client.query('commit').catch(() => undefined);
      const patience = { lockTimeoutMs: 50, tries: 100, pauseMs: 1 };
      expect(await migrate(database.url, { ...options, say, patience })).toEqual([SECOND]);
    });
  });

  it('is given back to statements that come meanwhile', async () => {
    await beside('report', USE, async () => {
      // They queue behind the one that waits, and go on once it has given up.
      const reads: Promise<unknown[]>[] = [];
      const patience = { lockTimeoutMs: 200, tries: 3, pauseMs: 1 };
      const say = (): void => void reads.push(query('select from thing'));
      await expect(migrate(database.url, { ...options, say, patience })).rejects.toThrow('Given up');
      expect(await Promise.all(reads)).toEqual([expect.any(Array), expect.any(Array)]);
    });
  });
});

it('reverts nothing under processes that know it, and does under those of the release before', async () => {
  await migrate(database.url, options);
  await beside(`${LISTENER} 9.1.0 1790000000000`, 'select 1', async () => {
    await expect(goBack(database.url, FIRST, options)).rejects.toThrow(
      `${SECOND} is in use by processes that are connected (1 of 9.1.0)`,
    );
    expect(await stepsOf(SECOND)).toBe(3);
  });
  await beside(`${LISTENER} 9.0.0 1780000000000`, 'select 1', async () => {
    expect(await goBack(database.url, FIRST, options)).toEqual([SECOND]);
    await expect(goBack(database.url, null, options)).rejects.toThrow('1 of 9.0.0');
  });
});
