import { KEEP_ALIVE } from './lost-server.js';
import { sessionPool, startClient, type DatabaseLink } from './pooler.js';
import { setTimeout as pause } from 'node:timers/promises';
import { DataSource, type DataSourceOptions, DefaultNamingStrategy, type QueryRunner } from 'typeorm';
import type { Config } from '../config/config.js';
import { FOREIGN_SCHEMA, readSchemaState } from './schema-state.js';
import { migrations } from '../../../migrations/all.js';

type Settings = Config['database'];

/** A property `createdAt` of an entity is the column `created_at`. */
class SnakeNaming extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined): string {
    return given ?? property.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  }
}

/** Options of the one TypeORM data source; the schema changes by migrations only. */
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
    migrations,
    migrationsTableName: 'schema_migration',
    migrationsTransactionMode: 'each',
    synchronize: false,
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

/** A read waits no longer for a connection to a standby. */
const STANDBY_CONNECT_MS = 2_000;

/** Of a standby's pool, which writes nothing even if its server is promoted. */
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
    migrations: [],
    applicationName: 'herald-read',
    installExtensions: false,
    extra: { ...(options.extra as object), ...session },
  } as DataSourceOptions;
}

// Any number that no other program on the server uses for this purpose.
const MIGRATION_LOCK = 7_204_118_301;

// A statement that waits for a table's lock blocks all others behind it: fail instead, and run again with less traffic.
const LOCK_TIMEOUT_MS = 5_000;
const LOCK_RETRY_MS = 100;

/**
 * Brings the schema up to date; of several processes that start together one migrates and the others wait.
 *
 * @param database a link that keeps sessions, or an address of PostgreSQL itself.
 * @returns the names of the migrations that ran.
 * @throws Error where another build made the database; says what to do.
 */
export async function migrate(database: string | DatabaseLink): Promise<string[]> {
  return withMigrations(database, async (dataSource) => {
    if ((await readSchemaState((sql) => dataSource.query(sql))).foreign) throw new Error(FOREIGN_SCHEMA);
    await dataSource.query(
      'create table if not exists schema_migration_checksum (name text primary key, checksum text not null)',
    );
    const ran = await dataSource.runMigrations({ transaction: 'each' });
    return ran.map((migration) => migration.name);
  });
}

/** Reverts the newest migration; returns false where none is left. */
export async function revertLast(url: string): Promise<boolean> {
  return withMigrations(url, async (dataSource) => {
    const before = await dataSource.query<unknown[]>('select 1 from schema_migration limit 1').catch(() => []);
    if (before.length === 0) return false;
    await dataSource.undoLastMigration({ transaction: 'each' });
    return true;
  });
}

async function takes(lock: QueryRunner): Promise<boolean> {
  const rows = (await lock.query('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK])) as { taken: boolean }[];
  return rows[0]?.taken === true;
}

async function withMigrations<T>(
  database: string | DatabaseLink,
  work: (dataSource: DataSource) => Promise<T>,
): Promise<T> {
  const link = typeof database === 'string' ? { url: database, pooling: 'none' as const } : database;
  // Two connections: one holds the lock for as long as the other migrates. No statement timeout: an index may take long.
  const dataSource = new DataSource({
    ...dataSourceOptions({ url: link.url, poolSize: 2, queryTimeoutMs: 0 }),
    // The role may have a limit.
    extra: { query_timeout: 0, ...sessionPool(link, { statement_timeout: 0, lock_timeout: LOCK_TIMEOUT_MS }) },
  });
  await dataSource.initialize();
  try {
    const lock = dataSource.createQueryRunner();
    try {
      // Asked for again and again: a statement that waits has a snapshot, and an index that another process makes
      // concurrently waits for every older snapshot to end.
      while (!(await takes(lock))) await pause(LOCK_RETRY_MS);
      return await work(dataSource);
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined);
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

/**
 * For what must not change the schema of a running service.
 *
 * @param mayBeEmpty whether a database without any schema passes.
 * @returns true where it has none.
 * @throws Error on any other schema than this build's; says what to do.
 */
export async function requireSchema(url: string, mayBeEmpty: boolean): Promise<boolean> {
  const client = startClient(url);
  await client.connect();
  try {
    const { empty, foreign, missing, newer } = await readSchemaState(async (sql) => (await client.query(sql)).rows);
    if (foreign) throw new Error(FOREIGN_SCHEMA);
    if (empty && mayBeEmpty) return true;
    if (newer.length > 0) {
      throw new Error(`the database's schema is newer than this herald: run the command of the release that made it`);
    }
    if (missing.length > 0) {
      throw new Error(
        `the database's schema is older than this herald, ${missing.length} migrations did not run: run \`herald migrate\``,
      );
    }
    return false;
  } finally {
    await client.end();
  }
}
