import { Scope } from '../../../test/support/rig/scope.js';
import { TcpProxy } from '../../../test/support/rig/tcp-proxy.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { loadConfig } from '../config/load-config.js';
import { PgNotifier } from './pg-notifier.js';

const WRITE = 'insert into lane (key) values (gen_random_uuid())';

let opened: OpenTestDatabase;
const scope = new Scope();
const started: PgNotifier[] = [];

beforeAll(async () => {
  opened = await openTestDatabase();
});

afterAll(async () => {
  for (const invalidation of started) invalidation.onModuleDestroy();
  await scope.close();
  await opened.close();
});

async function listening(url = opened.url) {
  const env = { NODE_ENV: 'test', DATABASE_URL: url, DATABASE_QUERY_TIMEOUT_MS: '500' };
  const config = loadConfig({ env, persistSecrets: false });
  const invalidation = new PgNotifier(opened.database, config);
  const heard: (string | null)[] = [];
  invalidation.on('thing', (id) => void heard.push(id));
  await invalidation.onApplicationBootstrap();
  started.push(invalidation);
  return { invalidation, heard };
}

describe('PgNotifier', () => {
  it('empties caches once it listens, then notifies every process of each change', async () => {
    const [one, other] = [await listening(), await listening()];
    expect(one.heard).toEqual([null]);
    await one.invalidation.publish('thing', 'a');
    await one.invalidation.publish('other', 'b');
    await one.invalidation.publish('thing', 'c with spaces');
    await waitFor(() => one.heard.length === 3 && other.heard.length === 3);
    expect(other.heard).toEqual([null, 'a', 'c with spaces']);
  });

  it('announces a change when its transaction has committed, and never one that was rolled back', async () => {
    const { invalidation, heard } = await listening();
    await opened.database
      .transaction(async () => {
        await invalidation.publish('thing', 'rolled back');
        throw new Error('no');
      })
      .catch(() => undefined);
    await opened.database.transaction(() => invalidation.publish('thing', 'committed'));
    await waitFor(() => heard.includes('committed'));
    expect(heard).not.toContain('rolled back');
  });

  it('listens again where its server is no primary any more', async () => {
    const { invalidation, heard } = await listening();
    // The pool lends the connection that was given back last.
    await opened.database.execute('set default_transaction_read_only = on');
    await expect(opened.database.execute(WRITE)).rejects.toThrow('read-only');
    await waitFor(() => heard.filter((id) => id === null).length === 2 && invalidation.connected);
    await invalidation.publish('thing', 'after');
    await waitFor(() => heard.includes('after'));
  });

  it('listens again where its connection is silent and the server is lost to the pool', async () => {
    const proxy = await TcpProxy.before(scope, opened.url);
    const { invalidation, heard } = await listening(proxy.through(opened.url));
    proxy.set({ kind: 'half_open' });
    proxy.heal();
    await opened.database.execute('set default_transaction_read_only = on');
    await expect(opened.database.execute(WRITE)).rejects.toThrow('read-only');
    await waitFor(() => heard.filter((id) => id === null).length === 2 && invalidation.connected);
    await invalidation.publish('thing', 'after');
    await waitFor(() => heard.includes('after'));
    expect(heard).toEqual([null, null, 'after']);
  });

  it('listens again when its connection breaks, and empties caches for what it missed', async () => {
    const { invalidation, heard } = await listening();
    await opened.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'herald-listen %'`,
    );
    await waitFor(() => heard.filter((id) => id === null).length === 2 && invalidation.connected);
    await invalidation.publish('thing', 'after');
    await waitFor(() => heard.includes('after'));
    expect(heard).toEqual([null, null, 'after']);
  });
});
