import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/infrastructure/database/data-source.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { allEntities } from './entities.js';

export interface TestDatabase {
  url: string;
  /** Removes the database; connections that are still open are ended. */
  drop: () => Promise<void>;
}

const TEMPLATE = process.env.TEST_TEMPLATE_DATABASE ?? 'herald_template';

function adminUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) throw new Error('TEST_DATABASE_URL is not set: run the tests with `npm test`');
  return url;
}

/** Runs a statement beside the databases of the tests. */
export async function asAdmin(statement: string, url = adminUrl()): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database of its own, cloned from the migrated template in milliseconds, and confirmed as what it is. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const cloned = await cloneDatabase(TEMPLATE);
  await asAdmin('update database_identity set identity = identity_of_database()', cloned.url);
  return cloned;
}

/** A database without any tables, for tests of the migrations themselves. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return cloneDatabase('template0');
}

/** A copy of a database without connections, as a restored backup would be. */
export function copyTestDatabase(url: string): Promise<TestDatabase> {
  return cloneDatabase(new URL(url).pathname.slice(1));
}

async function cloneDatabase(template: string): Promise<TestDatabase> {
  const name = `herald_test_${randomBytes(8).toString('hex')}`;
  // The template refuses to be copied while another process copies it: of many test files that start at once, wait.
  for (let tries = 1; ; tries++) {
    try {
      // Half of the processor time that a copy through the write-ahead log takes, since nothing here waits for a disk.
      await asAdmin(`create database ${name} template ${template} strategy file_copy`);
      break;
    } catch (error) {
      if (tries >= 50 || (error as { code?: string }).code !== '55006') throw error;
      await new Promise((resolve) => setTimeout(resolve, 20 * tries));
    }
  }
  const url = new URL(adminUrl());
  url.pathname = `/${name}`;
  return { url: url.toString(), drop: () => asAdmin(`drop database if exists ${name} with (force)`) };
}

export interface OpenTestDatabase extends TestDatabase {
  database: Database;
  close: () => Promise<void>;
}

/** A test database with a pool of three connections, for tests of repositories. */
export async function openTestDatabase(poolSize = 3, queryTimeoutMs = 20_000): Promise<OpenTestDatabase> {
  const { url, drop } = await createTestDatabase();
  const options = dataSourceOptions({ url, poolSize, queryTimeoutMs });
  const dataSource = new DataSource({ ...options, entities: await allEntities() });
  await dataSource.initialize();
  return {
    url,
    drop,
    database: new Database(dataSource),
    close: async () => {
      await dataSource.destroy();
      await drop();
    },
  };
}
