import { Logger } from '@nestjs/common';
import { resolve } from 'node:path';
import type pg from 'pg';
import { measureClock } from '../infrastructure/database/clock-watch.js';
import { isUnreachable } from '../infrastructure/database/database-faults.js';
import { poolingOf, type Pooling, sessionLink, startClient, UNTRACKED } from '../infrastructure/database/pooler.js';
import { FOREIGN_SCHEMA, readSchemaState } from '../infrastructure/database/schema-state.js';
import { StartError } from './start-error.js';
import type { Config } from '../infrastructure/config/config.js';
import type { RunningPostgres } from '../infrastructure/database/embedded/embedded-postgres.js';

const MIN_VERSION = 150_000;

interface Found {
  pooling: Pooling;
  version: number;
  versionText: string;
  /** The same for two addresses of one server run; new at each restart of the server. */
  identity: string;
  /** The server's time limits for statements and idle transactions in milliseconds; 0: none. */
  statementMs: number;
  idleMs: number;
  /** The settings of `UNTRACKED` that have other values there. */
  other: (keyof typeof UNTRACKED)[];
}

const FACTS = `
select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionText",
  concat_ws(' ', extract(epoch from pg_postmaster_start_time()), (select oid from pg_database where datname = current_database())) as identity,
  (extract(epoch from current_setting('statement_timeout')::interval) * 1000)::int as "statementMs",
  (extract(epoch from current_setting('idle_in_transaction_session_timeout')::interval) * 1000)::int as "idleMs",
  array(select name from jsonb_each_text($1) as wanted (name, value) where current_setting(name) <> value order by name) as other`;

/**
 * Queries the database before anything else does, because its errors are the most common ones of a first start. Stores
 * in the settings whether a pooler lends its connections, and measures its clock.
 *
 * @throws StartError naming the setting and the server, never the password.
 */
export async function requireDatabase(database: Config['database']): Promise<void> {
  const { url, directUrl } = database;
  const found = await look(url ?? '', 'DATABASE_URL');
  database.pooling = found.pooling;
  if (directUrl !== null) {
    const direct = await look(directUrl, 'DATABASE_DIRECT_URL');
    if (direct.pooling === 'transaction') {
      throw new StartError(
        'DATABASE_DIRECT_URL leads to a pooler in transaction mode, which keeps no session: set it to PostgreSQL itself',
      );
    }
    if (direct.identity !== found.identity) {
      throw new StartError(
        'DATABASE_DIRECT_URL leads to another database than DATABASE_URL: set both to the same database of one server',
      );
    }
    database.directPooling = direct.pooling;
  }
  if (found.pooling !== 'transaction') return;
  if (directUrl === null) {
    throw new StartError(
      'DATABASE_URL leads to a pooler in transaction mode, and some of the work needs a session: set DATABASE_DIRECT_URL to PostgreSQL itself',
    );
  }
  // Settings that are sent when a connection is opened.
  const limits = {
    ...(found.statementMs === 0 && { statement_timeout: `${database.queryTimeoutMs}ms` }),
    ...(found.idleMs === 0 && { idle_in_transaction_session_timeout: '30s' }),
  };
  const missing = { ...limits, ...Object.fromEntries(found.other.map((name) => [name, UNTRACKED[name]])) };
  const commands = Object.entries(missing).map(([name, value]) => `"alter role <role> set ${name} = '${value}'"`);
  if (commands.length === 0) return;
  throw new StartError(
    `behind the pooler of DATABASE_URL Herald cannot set ${Object.keys(missing).join(' and ')}, which the role must bring there: ` +
      `run ${commands.join(' and ')}, then have the pooler reconnect`,
  );
}

/**
 * Runs before any read of another build's tables, which may lack columns.
 *
 * @throws StartError where another build made the database.
 */
export async function requireOwnSchema(database: Config['database']): Promise<void> {
  const client = startClient(sessionLink(database).url);
  await client.connect();
  try {
    const { foreign } = await readSchemaState(async (sql) => (await client.query(sql)).rows);
    if (foreign) throw new StartError(FOREIGN_SCHEMA);
  } finally {
    await client.end();
  }
}

async function look(url: string, setting: string): Promise<Found> {
  let facts: Omit<Found, 'pooling'> | undefined;
  const ask = async (client: pg.Client): Promise<void> => {
    facts = (await client.query<Omit<Found, 'pooling'>>(FACTS, [UNTRACKED])).rows[0];
    await measureClock(async (sql) => (await client.query<{ now: string }>(sql)).rows);
    if ((facts?.version ?? 0) < MIN_VERSION) {
      throw new StartError(`${placeOf(url)} is PostgreSQL ${facts?.versionText}, and Herald needs 15 or newer`);
    }
  };
  try {
    const pooling = await poolingOf(url, ask);
    if (facts === undefined) throw new Error('the database does not report its version');
    return { ...facts, pooling };
  } catch (error) {
    throw sentenceFor(error, placeOf(url), setting);
  }
}

function placeOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `the database ${pathname.slice(1)} at ${hostname}:${port || '5432'}`;
}

function sentenceFor(error: unknown, place: string, setting: string): unknown {
  const code = (error as { code?: unknown }).code;
  const options = { cause: error };
  if (code === '28P01' || code === '28000') {
    return new StartError(`${place} refuses the user or the password: check ${setting}`, options);
  }
  if (code === '3D000') {
    return new StartError(`${place} does not exist: make it, or check ${setting}`, options);
  }
  const message = error instanceof Error ? error.message : '';
  if (/does not support SSL/i.test(message)) {
    return new StartError(`${place} offers no TLS: turn it on there, or set sslmode=disable in ${setting}`, options);
  }
  if (/CERT|SIGNATURE|ALTNAME/.test(String(code))) {
    const how = 'name its certificate authority in NODE_EXTRA_CA_CERTS, or in';
    return new StartError(
      `the certificate of ${place} is not trusted (${message}): ${how} ${setting} as sslrootcert`,
      options,
    );
  }
  if (!isUnreachable(error)) return error;
  const reason = error instanceof Error && error.message !== '' ? error.message : String(code);
  return new StartError(`${place} can't be reached (${reason}): start it, or check ${setting}`, options);
}

/**
 * Starts the embedded PostgreSQL of DATA_DIR.
 *
 * @param onExit called when the server ends without being stopped.
 * @throws StartError in production, or where it cannot run; says what to do.
 */
export async function startEmbeddedDatabase(
  config: Config,
  onExit: (reason: string) => void,
): Promise<RunningPostgres> {
  if (config.process.production) throw new StartError('DATABASE_URL must be set in production');
  const logger = new Logger('EmbeddedDatabase');
  // Imported only here, because the package is not installed in production.
  const { EmbeddedPostgresError, startEmbeddedPostgres } =
    await import('../infrastructure/database/embedded/embedded-postgres.js');
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
