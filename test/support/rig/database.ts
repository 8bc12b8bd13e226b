import pg from 'pg';
import { migrate } from '../../../src/infrastructure/database/migrate.js';
import type { Scope } from './scope.js';

export interface BenchDatabase {
  url: string;
  /** For seeding and for looking at the outcome. */
  pool: pg.Pool;
}

let made = 0;

/** A database of its own on the server at `adminUrl`, migrated unless it is for something else; dropped when the scope closes. */
export async function createDatabase(
  scope: Scope,
  adminUrl: string,
  purpose: string,
  { isMigrated = true } = {},
): Promise<BenchDatabase> {
  const name = `herald_${purpose}_${process.pid}_${++made}`;
  await asAdmin(adminUrl, `create database ${name}`);
  scope.defer(() => asAdmin(adminUrl, `drop database if exists ${name} with (force)`));
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  if (isMigrated) await migrate(url.href);
  const pool = new pg.Pool({ connectionString: url.href, max: 4, application_name: 'herald-bench' });
  // Crash tests end these connections on purpose; the next statement says so.
  pool.on('error', () => undefined);
  scope.defer(() => pool.end());
  return { url: url.href, pool };
}

async function asAdmin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  // A server that ends meanwhile: the statement under way says so.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
