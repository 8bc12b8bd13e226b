import { DataSource } from 'typeorm';
import { migrations } from '../../migrations/all.js';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { createEmptyDatabase } from './test-database.js';

export interface DatabaseAtMigration {
  readonly url: string;
  query<T>(sql: string, params?: unknown[]): Promise<T[]>;
  /** Runs the migration, and as many behind it as were asked for. */
  up(): Promise<void>;
  /** Takes back the last of them. */
  down(): Promise<void>;
  close(): Promise<void>;
}

/** A database as an installation has it just before this migration, to be filled and then brought on. */
export async function databaseBefore(name: string, many = 1): Promise<DatabaseAtMigration> {
  const at = migrations.findIndex((migration) => migration.name === name);
  if (at === -1) throw new Error(`there is no migration ${name}`);
  const { url, drop } = await createEmptyDatabase();
  const open = async (count: number): Promise<DataSource> => {
    const options = dataSourceOptions({ url, poolSize: 2, queryTimeoutMs: 170_000 });
    const opened = new DataSource({ ...options, migrations: migrations.slice(0, count) });
    await opened.initialize();
    return opened;
  };
  const before = await open(at);
  await before.runMigrations({ transaction: 'each' });
  const own = await open(at + many);
  return {
    url,
    query: <T>(sql: string, params?: unknown[]) => before.query<T[]>(sql, params),
    up: async () => void (await own.runMigrations({ transaction: 'each' })),
    down: () => own.undoLastMigration({ transaction: 'each' }),
    close: async () => {
      await before.destroy();
      await own.destroy();
      await drop();
    },
  };
}
