import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { dataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { GroupCommit } from './group-commit.js';

const ONE = { name: 'spec_reserved', text: 'select $1::int as one' };

describe('a pool whose connections are all lent', () => {
  let made: TestDatabase;
  let dataSource: DataSource;
  let database: Database;

  beforeAll(async () => {
    made = await createTestDatabase();
    // No caller waits longer for a connection than this: what is not served from elsewhere fails.
    const settings = { url: made.url, poolSize: 2, queryTimeoutMs: 60_000, connectTimeoutMs: 2_000 };
    dataSource = new DataSource(dataSourceOptions(settings));
    await dataSource.initialize();
    database = new Database(dataSource);
  });
  afterAll(async () => {
    await database.onApplicationShutdown();
    await dataSource.destroy();
    await made.drop();
  });

  it('keeps no batch waiting, prepared or not, and no read gets what is reserved', async () => {
    const batches = new GroupCommit<number, number>(database, {
      name: 'spec',
      transactional: false,
      commit: async (items, statements) => {
        await statements.execute('select 1');
        const rows = await Promise.all(items.map((item) => statements.query<{ one: number }>(ONE, [item])));
        return rows.map(([row]) => row?.one ?? 0);
      },
    });
    const lent = await Promise.all([database.pool.connect(), database.pool.connect()]);
    try {
      const read = database.query('select 1').then(
        () => 'served',
        () => 'kept waiting',
      );
      expect(await Promise.all([1, 2, 3].map((item) => batches.submit(item)))).toEqual([1, 2, 3]);
      expect(await read).toBe('kept waiting');
    } finally {
      for (const client of lent) client.release();
    }
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
