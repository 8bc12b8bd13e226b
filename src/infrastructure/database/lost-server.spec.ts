import pg from 'pg';
import { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { Database } from './database.js';
import { dataSourceOptions } from './data-source.js';
import { leaveLostServer } from './lost-server.js';

const CONNECTIONS = 3;
const ADD = { name: 'spec_add', text: 'insert into lane (key) values (gen_random_uuid()) returning key' };

let made: TestDatabase;
let dataSource: DataSource;
let database: Database;

beforeAll(async () => {
  made = await createTestDatabase();
  dataSource = new DataSource(dataSourceOptions({ url: made.url, poolSize: CONNECTIONS, queryTimeoutMs: 10_000 }));
  await dataSource.initialize();
  database = new Database(dataSource);
});

afterAll(async () => {
  await dataSource.destroy();
  await made.drop();
});

/** Every connection that there is now leads to a server that takes no writes; new ones do not. */
async function demote(): Promise<void> {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => database.pool.connect()));
  for (const client of clients) await client.query('set default_transaction_read_only = on');
  for (const client of clients) client.release();
}

const FORMS = [
  ['a statement', () => database.query(ADD.text)],
  ['a prepared statement', () => database.query(ADD)],
  ['a transaction', () => database.transaction(() => database.query(ADD.text))],
  ['a repository', () => database.manager.query(ADD.text)],
] as const;

describe('a connection', () => {
  it('that breaks as it is lent, before its borrower listens, does not end the process', async () => {
    const client = await database.pool.connect();
    try {
      expect(() => client.emit('error', new Error('Connection terminated unexpectedly'))).not.toThrow();
    } finally {
      client.release(true);
    }
  });
});

describe('a primary that was demoted and stays up', () => {
  it.each(FORMS)('refuses %s once, and every connection to it is left', async (_, write) => {
    await demote();
    await expect(write()).rejects.toMatchObject({ message: expect.stringContaining('read-only transaction') });
    const after = await Promise.allSettled(Array.from({ length: 2 * CONNECTIONS }, () => write()));
    expect(after.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('is left by a transaction that it interrupts, which has read there before', async () => {
    await demote();
    const read = database.transaction(async () => {
      await database.query('select 1');
      await expect(database.detached(() => database.query(ADD))).rejects.toThrow('read-only');
      return database.query('select 1 as one');
    });
    expect(await read).toEqual([{ one: 1 }]);
    await expect(database.transaction(() => database.query(ADD))).resolves.toHaveLength(1);
  });

  it('notifies owners of a connection outside the pool', async () => {
    let notified = 0;
    database.onServerLost(() => notified++);
    await demote();
    await expect(database.query(ADD)).rejects.toThrow('read-only');
    expect(notified).toBe(1);
  });
});

it('breaks off the connections of a pool that listen, and no other that is in use', async () => {
  const pool = new pg.Pool({ connectionString: made.url, max: 3 });
  pool.on('error', () => undefined);
  leaveLostServer(pool);
  try {
    const [listener, other, writer] = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
    const lost: string[] = [];
    listener.on('error', () => {
      lost.push('listener');
      listener.release(true);
    });
    other.on('error', () => lost.push('other'));
    await listener.query('listen spec');
    await writer.query('set default_transaction_read_only = on');
    await expect(writer.query(ADD.text)).rejects.toMatchObject({ code: '25006' });
    writer.release();
    expect(lost).toEqual(['listener']);
    await other.query('select 1');
    other.release();
    await waitFor(() => pool.totalCount === 0, { what: 'the pool to be empty' });
  } finally {
    await pool.end();
  }
});
