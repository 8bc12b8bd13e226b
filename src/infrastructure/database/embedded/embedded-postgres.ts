import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { codeOf } from '../../../common/describe-error.js';
import { createCluster, EmbeddedPostgresError, findAccount, findCluster, giveTreeTo } from './cluster.js';
import { openDataDir, readNotes, SUPERUSER, writeNotes } from './cluster.js';
import { endLeftovers, launch, type ServerExit, shortenLog } from './server.js';

export { EmbeddedPostgresError } from './cluster.js';

const DATABASE = 'herald';
const CONNECT_TIMEOUT_MS = 15_000;
const SHORTEN_LOG_EVERY_MS = 60_000;
/** A live process answers at once, unless it is very busy. */
const ANSWER_WITHIN_MS = 10_000;

export interface EmbeddedPostgresOptions {
  /** The folder for the cluster (`postgres/`) and its log (`postgres.log`); made if missing. */
  dataDir: string;
  log?: (line: string) => void;
  /** Server settings in addition to, or instead of, ours, such as `{ max_connections: '300' }`. */
  settings?: Record<string, string>;
  /** Called once if the server ends without being stopped. */
  onExit?: (exit: ServerExit) => void;
}

export interface RunningPostgres {
  /** The URL of the database `herald`, with its password. */
  url: string;
  port: number;
  /** Whether this start created the database. */
  createdNow: boolean;
  /** Stops the server; its process is gone when this returns. Calling it again does nothing. */
  stop(): Promise<void>;
}

/** Another live Herald already runs (or is just starting) the embedded PostgreSQL of this data folder. */
export class EmbeddedPostgresInUseError extends EmbeddedPostgresError {
  override name = 'EmbeddedPostgresInUseError';

  /** @param url the address of the other process's server; undefined while that is still starting */
  constructor(
    dataDir: string,
    readonly url: string | undefined,
    readonly holderPid: number | undefined,
  ) {
    const other = `Another Herald${holderPid === undefined ? '' : ` (process ${holderPid})`}`;
    super(`${other} is ${url ? 'running' : 'starting'} in ${dataDir}; stop it first, or choose another DATA_DIR.`);
  }
}

/**
 * Starts the PostgreSQL of a data folder; the first start creates it. A server that a killed Herald left running is
 * stopped first. The new server listens on 127.0.0.1, and ends with `stop()` or an ordinary end of this process.
 * @throws EmbeddedPostgresInUseError where another live Herald has it, with that one's url where it is known
 * @throws EmbeddedPostgresError where it cannot run; the message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<RunningPostgres> {
  const dataDir = await openDataDir(resolve(options.dataDir));
  const lock = await takeLock(dataDir);
  if (!('release' in lock)) {
    const cluster = lock.port === undefined ? undefined : await findCluster(dataDir);
    const url = cluster && lock.port && urlOf((await readNotes(cluster.path)).password, lock.port);
    throw new EmbeddedPostgresInUseError(dataDir, url || undefined, lock.pid);
  }
  try {
    return await start(dataDir, lock, options);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function start(
  dataDir: string,
  lock: Lock,
  { log = () => undefined, settings = {}, onExit }: EmbeddedPostgresOptions,
): Promise<RunningPostgres> {
  const logFile = join(dataDir, 'postgres.log');
  const existing = await findCluster(dataDir);
  if (existing !== undefined) await endLeftovers(existing.path, log);
  for (const name of await readdir(dataDir)) {
    if (!/^postgres\.(new|try)-/.test(name)) continue;
    // Left by a killed start. Its initdb may still write for a moment, until it notices that its files are gone.
    await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 10 });
  }
  const account = await findAccount(dataDir, existing?.owner);
  const clusterPath = existing?.path ?? (await createCluster(account, dataDir, settings['fsync'] !== 'off'));
  await giveTreeTo(account, clusterPath);
  const notes = await readNotes(clusterPath);
  await shortenLog(logFile);
  const { port, stop: stopServer } = await launch({
    account,
    clusterPath,
    logFile,
    settings,
    port: notes.port,
    log,
    onExit: (exit) => {
      log(`PostgreSQL ended unexpectedly (${exit.signal ?? `code ${exit.code}`}); its log: ${logFile}`);
      // The server is gone, so the lock is released: this process or another may start it again.
      void lock.release().then(() => onExit?.(exit));
    },
  });
  const shorten = (): void => void shortenLog(logFile).catch((error) => log(`cannot shorten ${logFile}: ${error}`));
  const timer = setInterval(shorten, SHORTEN_LOG_EVERY_MS).unref();
  const stop = async (): Promise<void> => {
    clearInterval(timer);
    await stopServer();
    // Released last: another Herald must not meet a server that is stopping.
    await lock.release();
  };
  try {
    if (port !== notes.port) await writeNotes(clusterPath, { ...notes, port }, account);
    const createdNow = await ensureDatabase(notes.password, port);
    log(`PostgreSQL ready on 127.0.0.1:${port}, ${account.label}, data in ${clusterPath}`);
    lock.holder.port = port;
    return { url: urlOf(notes.password, port), port, createdNow, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the database if it is missing: an earlier first start may have been interrupted. Returns whether it did. */
async function ensureDatabase(password: string, port: number): Promise<boolean> {
  const client = new pg.Client({
    connectionString: urlOf(password, port, 'postgres'),
    ssl: false,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // If the connection breaks between statements, the next statement fails.
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

/** What the holder of the lock reports about itself; empty where it does not answer. */
interface Holder {
  pid?: number;
  /** The port of its server, once that is ready. */
  port?: number;
}

interface Lock {
  holder: Holder;
  release: () => Promise<void>;
}

/**
 * Makes sure that only one process uses the server of a data folder; returns the holder if it is another process. The
 * lock is a name in the kernel rather than a file: it ends with its process in every case. A process that connects to
 * it learns the holder.
 */
async function takeLock(dataDir: string): Promise<Lock | Holder> {
  const name = `herald-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const file = join(tmpdir(), `${name}.sock`);
  const path = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` }[process.platform as string] ?? file;
  const holder: Holder = { pid: process.pid };
  for (;;) {
    // Unreferenced, so that it does not keep the process alive.
    const server = createServer((socket) => socket.on('error', () => undefined).end(JSON.stringify(holder))).unref();
    try {
      await once(server.listen({ path, exclusive: true }), 'listening');
      return { holder, release: () => new Promise((resolve) => server.close(() => resolve())) };
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw error;
    }
    try {
      const socket = connect(path);
      socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
      return JSON.parse(await text(socket)) as Holder;
    } catch (error) {
      if (!['ECONNREFUSED', 'ENOENT'].includes(codeOf(error) ?? '')) return {};
    }
    // The holder has ended. Where the name is a file, it is left behind.
    if (path === file) await rm(file, { force: true });
  }
}
