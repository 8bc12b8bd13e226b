import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { Scope } from './rig/scope.js';
import { TcpProxy } from './rig/tcp-proxy.js';
import { openTestDatabase } from './test-database.js';

export interface ProxiedDatabase {
  direct: Database;
  /** The same one through the proxy. */
  proxied: Database;
  proxy: TcpProxy;
  close(): Promise<void>;
}

/** A database of its own, with a second way to it that a test breaks. */
export async function openProxiedDatabase(): Promise<ProxiedDatabase> {
  const scope = new Scope();
  const opened = await openTestDatabase(4);
  const proxy = await TcpProxy.before(scope, opened.url);
  const source = new DataSource(
    dataSourceOptions({ url: proxy.through(opened.url), poolSize: 2, queryTimeoutMs: 10_000 }),
  );
  await source.initialize();
  return {
    direct: opened.database,
    proxied: new Database(source),
    proxy,
    async close() {
      await source.destroy();
      await scope.close();
      await opened.close();
    },
  };
}
