import { jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import type { Prepared } from './prepared.js';

let test: TestDatabase;
let source: DataSource;
let database: Database;

beforeAll(async () => {
  test = await createTestDatabase();
  source = new DataSource(dataSourceOptions({ url: test.url, poolSize: 1, queryTimeoutMs: 10_000 }));
  await source.initialize();
  database = new Database(source);
});

afterAll(async () => {
  await source.destroy();
  await test.drop();
});

const DOUBLE: Prepared = { name: 'spec_double', text: 'select $1::integer * 2 as twice' };
const DIVIDE: Prepared = { name: 'spec_divide', text: 'select 1 / $1::integer as part' };

const twice = async (n: number): Promise<unknown> => (await database.query<{ twice: number }>(DOUBLE, [n]))[0]?.twice;

async function known(): Promise<{ name: string; plans: number }[]> {
  return database.query(
    `select name, (generic_plans + custom_plans)::integer as plans from pg_prepared_statements where name like 'spec%'`,
  );
}

describe('a prepared statement', () => {
  it('stays with its connection, inside a transaction and outside', async () => {
    expect(await twice(2)).toBe(4);
    await database.transaction(async () => {
      expect(await twice(3)).toBe(6);
    });
    expect(await known()).toEqual([{ name: 'spec_double', plans: 2 }]);
  });

  it('gives its connection back, also where it fails', async () => {
    await expect(database.query(DIVIDE, [0])).rejects.toMatchObject({ code: '22012' });
    // The pool has one place: whoever kept it would hold up everybody.
    expect(await twice(5)).toBe(10);
  });

  it('forgets its plan after a second, so that none outlives the tables that it was made for', async () => {
    const now = jest.spyOn(performance, 'now');
    const client = jest.spyOn((await connection()) as { query: (text: unknown) => unknown }, 'query');
    const startedAt = performance.now() + 10_000;
    for (const at of [0, 999, 1_001, 1_500, 2_100]) {
      now.mockReturnValue(startedAt + at);
      await twice(1);
    }
    now.mockRestore();
    const asked = client.mock.calls.map(([statement]) => (typeof statement === 'string' ? statement : 'statement'));
    client.mockRestore();
    // At 0 ms, at 1,001 ms and at 2,100 ms: the others fall into the second before.
    expect(asked.join()).toBe(
      'discard plans,statement,statement,discard plans,statement,statement,discard plans,statement',
    );
  });
});

/** The one connection of the pool. */
async function connection(): Promise<unknown> {
  const client = await database.pool.connect();
  client.release();
  return client;
}
