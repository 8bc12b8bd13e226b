import pg from 'pg';
import { asAdmin, createTestDatabase } from '../../../test/support/test-database.js';
import { sessionPool } from './pooler.js';

it.each(['none', 'session'] as const)(
  "a pool's statements aren't compiled, whatever the database has set: %s",
  async (pooling) => {
    const { url, drop } = await createTestDatabase();
    await asAdmin(`alter database ${new URL(url).pathname.slice(1)} set jit = on`);
    const pool = new pg.Pool(sessionPool({ url, pooling }));
    // The server may end a connection that is still being closed: its database is dropped.
    pool.on('connect', (client) => client.on('error', () => undefined));
    try {
      expect((await pool.query('show jit')).rows).toEqual([{ jit: 'off' }]);
    } finally {
      await pool.end();
      await drop();
    }
  },
);
