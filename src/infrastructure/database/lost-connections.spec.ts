import { DataSource } from 'typeorm';
import { Scope } from '../../../bench/rig/scope.js';
import { TcpProxy } from '../../../bench/rig/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { Database } from './database.js';
import { isUnreachable } from './database-faults.js';
import { dataSourceOptions } from './data-source.js';

/** Some tests wait for so long; no statement of the others takes it, on a machine that stands still for a moment. */
const QUERY_TIMEOUT_MS = 1_000;
const ONE = { name: 'spec_one', text: 'select 1 as one' };

describe('a connection that is lost', () => {
  let scope: Scope;
  let made: TestDatabase;
  let dataSource: DataSource;
  let database: Database;
  let proxy: TcpProxy;

  beforeAll(async () => {
    scope = new Scope();
    made = await createTestDatabase();
    proxy = await TcpProxy.before(scope, made.url);
    const url = proxy.through(made.url);
    // One connection only: a lost one that is kept would be the next caller's.
    dataSource = new DataSource(dataSourceOptions({ url, poolSize: 1, queryTimeoutMs: QUERY_TIMEOUT_MS }));
    await dataSource.initialize();
    database = new Database(dataSource);
  });
  afterAll(async () => {
    await dataSource.destroy();
    await scope.close();
    await made.drop();
  });

  const ask = () => database.query<{ one: number }>('select 1 as one');

  function lose(): void {
    proxy.set({ kind: 'half_open' });
    proxy.heal();
  }

  it.each([
    ['a statement', () => ask()],
    ['a transaction', () => database.transaction(() => ask())],
    ['a prepared statement', () => database.query(ONE)],
    ['an entity read', () => database.manager.query('select 1 as one')],
  ])('without an answer costs %s its time and no other caller anything', async (_, work) => {
    expect(await ask()).toEqual([{ one: 1 }]);
    lose();
    const fault = await work().then(
      () => null,
      (error: unknown) => error,
    );
    expect(isUnreachable(fault)).toBe(true);
    expect(await ask()).toEqual([{ one: 1 }]);
  });

  it.each([
    ['reset', 'a statement', () => ask()],
    ['reset', 'a transaction', () => database.transaction(() => ask())],
    ['reset', 'a prepared statement', () => database.query(ONE)],
    ['reset', 'an entity read', () => database.manager.query('select 1 as one')],
    ['cut', 'a prepared statement', () => database.query(ONE)],
  ] as const)('a %s under %s fails it and does not end the process', async (how, _, work) => {
    expect(await ask()).toEqual([{ one: 1 }]);
    proxy.inspect = () => () => proxy[how]();
    const fault = await work().then(
      () => null,
      (error: unknown) => error,
    );
    proxy.inspect = null;
    expect(isUnreachable(fault)).toBe(true);
    expect(await ask()).toEqual([{ one: 1 }]);
  });

  it('lets go of all others that were idle, which would each cost a statement its time', async () => {
    const { pool } = database;
    const { max } = pool.options;
    pool.options.max = 4;
    try {
      const clients = await Promise.all([pool.connect(), pool.connect(), pool.connect(), pool.connect()]);
      clients.forEach((client) => client.release());
      lose();
      await expect(ask()).rejects.toThrow('Query read timeout');
      expect(await Promise.all([ask(), ask(), ask(), ask()])).toHaveLength(4);
    } finally {
      pool.options.max = max;
    }
  });
});
