import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { createCluster, findCluster, openDataDir, readNotes, SUPERUSER, writeNotes } from './cluster.js';
import { EmbeddedPostgresInUseError } from './embedded-postgres.errors.js';
import { type Holder, InstanceLock } from './instance-lock.js';
import { findAccount, findPrograms, giveTreeTo } from './programs.js';
import { endLeftovers, launch, type ServerExit, shortenLog } from './server.js';

const DATABASE = 'herald';
const CONNECT_TIMEOUT_MS = 15_000;
const SHORTEN_LOG_EVERY_MS = 60_000;

export interface EmbeddedPostgresOptions {
  /** Holds the cluster in `postgres/` and its log in `postgres.log`; made where it is missing. */
  dataDir: string;
  log?: (line: string) => void;
  /** Server settings in addition to, or instead of, ours, such as `{ max_connections: '300' }`. */
  settings?: Record<string, string>;
  /** Called once if the server ends without having been stopped. */
  onExit?: (exit: ServerExit) => void;
}

export interface RunningPostgres {
  /** Of the database `herald`, with its password. */
  url: string;
  port: number;
  /** Whether this start made the database. */
  createdNow: boolean;
  /** Stops the server; its process is gone when this returns. Calling it again does nothing. */
  stop(): Promise<void>;
}

/**
 * Starts the PostgreSQL of a data folder, making it at the first start; a server that a killed Herald left there is
 * stopped before. It listens on 127.0.0.1 and outlives neither `stop()` nor an ordinary end of this process.
 * @throws EmbeddedPostgresInUseError where another live Herald has it, with that one's url where it is known
 * @throws EmbeddedPostgresError where it cannot run; the message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<RunningPostgres> {
  const dataDir = await openDataDir(resolve(options.dataDir));
  const lock = await InstanceLock.take(dataDir);
  if (!(lock instanceof InstanceLock)) throw await inUse(dataDir, lock);
  try {
    return await start(dataDir, lock, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function start(
  dataDir: string,
  lock: InstanceLock,
  { log = () => undefined, settings = {}, onExit }: EmbeddedPostgresOptions,
): Promise<RunningPostgres> {
  const logFile = join(dataDir, 'postgres.log');
  const existing = await findCluster(dataDir);
  if (existing !== undefined) await endLeftovers(existing.path, log);
  const programs = await findPrograms();
  for (const name of await readdir(dataDir)) {
    if (!/^postgres\.(new|try)-/.test(name)) continue;
    // Of a start that was killed; its initdb may still write, until it misses what was removed.
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 10 });
  }
  const account = await findAccount(programs, dataDir, existing);
  const clusterPath = existing?.path ?? (await createCluster(account, programs, dataDir, settings['fsync'] !== 'off'));
  await giveTreeTo(account, clusterPath);
  const notes = await readNotes(clusterPath);
  await shortenLog(logFile);
  const server = await launch({
    account,
    postgres: programs.postgres,
    clusterPath,
    logFile,
    settings,
    port: notes.port,
    log,
    onExit: (exit) => {
      log(`PostgreSQL ended unexpectedly (${exit.signal ?? `code ${exit.code}`}); its log: ${logFile}`);
      // There is no server to guard any more: it may be started again, by this process too.
      void lock.release().then(() => onExit?.(exit));
    },
  });
  const { port } = server;
  const shorten = (): void => void shortenLog(logFile).catch((error) => log(`cannot shorten ${logFile}: ${error}`));
  const timer = setInterval(shorten, SHORTEN_LOG_EVERY_MS).unref();
  try {
    if (port !== notes.port) await writeNotes(clusterPath, { ...notes, port }, account);
    const createdNow = await ensureDatabase(notes.password, port);
    log(`PostgreSQL ready on 127.0.0.1:${port}, ${account.label}, data in ${clusterPath}`);
    lock.port = port;
    const stop = async (): Promise<void> => {
      clearInterval(timer);
      await server.stop();
      // Kept to the last moment: a Herald that starts meanwhile must not meet a server that is stopping.
      await lock.release();
    };
    return { url: urlOf(notes.password, port), port, createdNow, stop };
  } catch (error) {
    clearInterval(timer);
    await server.stop();
    throw error;
  }
}

async function inUse(dataDir: string, { pid, port }: Holder): Promise<EmbeddedPostgresInUseError> {
  const cluster = port === undefined ? undefined : await findCluster(dataDir);
  const url = cluster && port && urlOf((await readNotes(cluster.path)).password, port);
  const state = url ? 'is running' : 'is starting';
  const other = `Another Herald${pid === undefined ? '' : ` (process ${pid})`} ${state} in ${dataDir}`;
  return new EmbeddedPostgresInUseError(`${other}; stop it first, or choose another DATA_DIR.`, url || undefined, pid);
}

/** Makes the database where it is missing: a first start may have been cut short. Returns whether it did. */
async function ensureDatabase(password: string, port: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: urlOf(password, port, 'postgres'),
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // A loss while no statement runs shows in the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (rows.length === 0) await client.query(`create database ${DATABASE}`);
    return rows.length === 0;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function urlOf(password: string, port: number, database = DATABASE): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}
