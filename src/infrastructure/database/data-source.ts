import { KEEP_ALIVE } from './lost-server.js';
import { sessionPool } from './pooler.js';
import { type DataSourceOptions, DefaultNamingStrategy } from 'typeorm';
import type { Config } from '../config/config.js';

type Settings = Config['database'];

/** A property `createdAt` of an entity is the column `created_at`. */
class SnakeNaming extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}

/** Options of the one TypeORM data source. */
export function dataSourceOptions({
  url,
  poolSize,
  queryTimeoutMs,
  pooling = 'none',
  connectTimeoutMs = 5_000,
}: Pick<Settings, 'url' | 'poolSize' | 'queryTimeoutMs'> & Partial<Settings>): DataSourceOptions {
  return {
    type: 'postgres',
    url: url ?? '',
    poolSize,
    applicationName: 'herald',
    connectTimeoutMS: connectTimeoutMs,
    synchronize: false, // the schema changes by migrations only: migrate.ts
    namingStrategy: new SnakeNaming(),
    logging: false,
    poolErrorHandler: () => undefined, // a broken idle connection is replaced; its statement reports the fault
    extra: {
      idleTimeoutMillis: 30_000,
      query_timeout: queryTimeoutMs + 1_000,
      ...KEEP_ALIVE,
      ...sessionPool(
        { url: url ?? '', pooling },
        { statement_timeout: queryTimeoutMs, idle_in_transaction_session_timeout: 30_000 },
      ),
    },
  };
}

/** Limit of a read's wait for a connection to a standby. */
const STANDBY_CONNECT_MS = 2_000;

/** Options of a standby's pool. It is read-only even after its server is promoted. */
export function standbyOptions(
  url: string,
  { poolSize, queryTimeoutMs, connectTimeoutMs }: Settings,
): DataSourceOptions {
  const options = dataSourceOptions({
    url,
    poolSize,
    queryTimeoutMs,
    connectTimeoutMs: Math.min(connectTimeoutMs, STANDBY_CONNECT_MS),
  });
  const limits = { statement_timeout: queryTimeoutMs, idle_in_transaction_session_timeout: 30_000 };
  const session = sessionPool({ url, pooling: 'none' }, { ...limits, default_transaction_read_only: 'on' });
  return {
    ...options,
    applicationName: 'herald-read',
    installExtensions: false,
    extra: { ...(options.extra as object), ...session },
  } as DataSourceOptions;
}
