import { Logger } from '@nestjs/common';
import { resolve } from 'node:path';
import pg from 'pg';
import { isUnreachable } from '../infrastructure/database/database-faults.js';
import { StartError } from './start-error.js';
import type { Config } from '../infrastructure/config/config.js';
import type { RunningPostgres } from '../infrastructure/database/embedded/embedded-postgres.js';

const LEAST_VERSION = 150_000;

/**
 * Asks the database before anything else does, as its errors are the most common of a first start.
 *
 * @throws StartError naming the server, never the password.
 */
export async function requireDatabase(url: string): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'herald-start',
    connectionTimeoutMillis: 5_000,
  });
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number; text: string }>(
      "select current_setting('server_version_num')::int as version, current_setting('server_version') as text",
    );
    if ((rows[0]?.version ?? 0) < LEAST_VERSION) {
      throw new StartError(`${placeOf(url)} is PostgreSQL ${rows[0]?.text}, and Herald needs 15 or newer`);
    }
  } catch (error) {
    throw sentenceFor(error, placeOf(url));
  } finally {
    await client.end().catch(() => undefined);
  }
}

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `the database ${pathname.slice(1)} at ${hostname}:${port || '5432'}`;
}

function sentenceFor(error: unknown, place: string): unknown {
  const code = (error as { code?: unknown }).code;
  const options = { cause: error };
  if (code === '28P01' || code === '28000') {
    return new StartError(`${place} refuses the user or the password: check DATABASE_URL`, options);
  }
  if (code === '3D000') {
    return new StartError(`${place} does not exist: make it, or check DATABASE_URL`, options);
  }
  if (!isUnreachable(error)) return error;
  const reason = error instanceof Error && error.message !== '' ? error.message : String(code);
  return new StartError(`${place} can't be reached (${reason}): start it, or check DATABASE_URL`, options);
}

/**
 * Starts the embedded PostgreSQL of DATA_DIR.
 *
 * @param onExit called when the server ends without having been stopped.
 * @throws StartError in production, or where it cannot run; says what to do.
 */
export async function startEmbeddedDatabase(
  config: Config,
  onExit: (reason: string) => void,
): Promise<RunningPostgres> {
  if (config.process.production) throw new StartError('DATABASE_URL must be set in production');
  const logger = new Logger('EmbeddedDatabase');
  // Only here: in production the package is not installed.
  const { startEmbeddedPostgres } = await import('../infrastructure/database/embedded/embedded-postgres.js');
  const { EmbeddedPostgresError } = await import('../infrastructure/database/embedded/embedded-postgres.errors.js');
  try {
    return await startEmbeddedPostgres({
      dataDir: resolve(config.process.dataDir),
      log: (line) => logger.debug(line),
      onExit: ({ code, signal }) => onExit(`the embedded PostgreSQL ended by itself (${signal ?? `code ${code}`})`),
    });
  } catch (error) {
    if (error instanceof EmbeddedPostgresError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
