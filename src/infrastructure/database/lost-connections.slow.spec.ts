import { DataSource } from 'typeorm';
import { Scope } from '../../../test/support/rig/scope.js';
import { TcpProxy } from '../../../test/support/rig/tcp-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { checkDatabase } from '../../cli/doctor.js';
import { loadConfig } from '../config/load-config.js';
import { Database } from './database.js';
import { isUnreachable } from './database-faults.js';
import { dataSourceOptions } from './data-source.js';

/** Some tests wait for so long; no statement of the others takes it, on a machine that stands still for a moment. */
const QUERY_TIMEOUT_MS = 1_000;
/** First letters of what a client sends with a statement: simple and extended protocol. */
const STATEMENT = /[QP]/;
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

describe('a database that stops answering once it is connected', () => {
  const scope = new Scope();
  let made: TestDatabase;

  beforeAll(async () => {
    made = await createTestDatabase();
  });
  afterAll(async () => {
    await scope.close();
    await made.drop();
  });

  /** Settings of one that answers no statement. */
  async function silent() {
    const proxy = await TcpProxy.before(scope, made.url);
    proxy.inspect = (bytes) => {
      if (STATEMENT.test(String.fromCharCode(bytes[0] ?? 0))) proxy.set({ kind: 'half_open' });
      return 'pass';
    };
    const env = {
      NODE_ENV: 'test',
      DATABASE_URL: proxy.through(made.url),
      DATABASE_MIGRATE: 'false',
      DATABASE_QUERY_TIMEOUT_MS: String(QUERY_TIMEOUT_MS),
    };
    return loadConfig({ env, persistSecrets: false });
  }

  it('is a finding of the doctor', async () => {
    expect(await checkDatabase(await silent())).toEqual([
      { check: 'database', status: 'fail', detail: expect.stringContaining('Query read timeout') },
    ]);
  });
});
