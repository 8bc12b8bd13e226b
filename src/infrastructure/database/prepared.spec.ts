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
    // The pool has one place: a caller that kept it would block all others.
    expect(await twice(5)).toBe(10);
  });

  describe('does not keep a plan that outlives the tables that it was made for: forgets it', () => {
    let now = 1_000_000;
    let tookMs = 0;
    let asked: string[] = [];
    let fresh: Database;

    beforeEach(async () => {
      const client = (await connection()) as { query: (...args: unknown[]) => unknown };
      const query = client.query.bind(client);
      jest.spyOn(client, 'query').mockImplementation((...args) => {
        const [statement] = args;
        asked.push(typeof statement === 'string' ? statement : 'statement');
        now += typeof statement === 'string' ? 0 : tookMs;
        return query(...args);
      });
      jest.spyOn(performance, 'now').mockImplementation(() => now);
      fresh = new Database(source);
    });

    afterEach(() => jest.restoreAllMocks());

    /** Of these times those before whose statement the plans were forgotten; each statement takes `ms`. */
    async function forgottenAt(times: number[], ms: number): Promise<number[]> {
      tookMs = ms;
      const forgotten: number[] = [];
      for (const at of times) {
        [now, asked] = [1_000_000 + at, []];
        await fresh.query(DOUBLE, [1]);
        expect(['statement', 'discard plans,statement']).toContain(asked.join());
        if (asked.length > 1) forgotten.push(at);
      }
      return forgotten;
    }

    const seconds = (from: number, to: number): number[] =>
      Array.from({ length: to - from }, (_, index) => (from + index) * 1_000);

    it('ever less often in the first minute, and not while statements are fast later', async () => {
      const times = [0, 999, 1_000, ...seconds(2, 60), ...seconds(61, 200)];
      expect(await forgottenAt(times, 49)).toEqual([1, 2, 4, 8, 16, 32].map((at) => at * 1_000));
    });

    it('each second in the first minute as long as statements are slow', async () => {
      expect(await forgottenAt(seconds(0, 6), 51)).toEqual([1, 2, 3, 4, 5].map((at) => at * 1_000));
    });

    it('after one was slow, and less and less often where it stays slow', async () => {
      expect(await forgottenAt([0, 100_000], 51)).toEqual([100_000]);
      expect(await forgottenAt([101_000, 102_000], 1)).toEqual([102_000]);
      expect(await forgottenAt(seconds(103, 200), 1)).toEqual([]);
      const slow = [300, 301, 303, 307, 315, 331, 363, 423, 483].map((at) => at * 1_000);
      expect(await forgottenAt(seconds(299, 500), 51)).toEqual(slow);
    });
  });
});

/** The one connection of the pool. */
async function connection(): Promise<unknown> {
  const client = await database.pool.connect();
  client.release();
  return client;
}
