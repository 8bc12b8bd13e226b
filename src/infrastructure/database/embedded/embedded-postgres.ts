import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  createCluster,
  findCluster,
  openDataDir,
  readNotes,
  removeLeftovers,
  SUPERUSER,
  writeNotes,
} from './cluster.js';
import { EmbeddedPostgresError, EmbeddedPostgresInUseError, errorCode } from './embedded-postgres.errors.js';
import { type ExistingCluster, findRuntimeAccount, takeOver } from './runtime-account.js';
import { InstanceLock, isPassing } from './instance-lock.js';
import { launch } from './launch.js';
import { clearOrphans, isAlive, readPostmaster, removeStalePostmaster, standingOf, waitUntil } from './postmaster.js';
import { findPrograms } from './programs.js';
import { Server, type ServerExit } from './server.js';
import { ServerLog } from './server-log.js';
import { takeStartLock } from './start-lock.js';

const DATABASE = 'herald';
const ADOPT_WITHIN_MS = 600_000;

export interface EmbeddedPostgresOptions {
  /** Holds the cluster in `postgres/` and its log in `postgres.log`; made where it is missing. */
  dataDir: string;
  log?: (line: string) => void;
  /** Server settings in addition to, or instead of, ours, such as `{ max_connections: '300' }`. */
  settings?: Record<string, string>;
  /** Called once if the server ends and nobody asked it to. */
  onExit?: (exit: ServerExit) => void;
  /** Where root puts copies of programs and data when PostgreSQL cannot run where they are. */
  systemDir?: string;
}

export interface RunningPostgres {
  /** Of the database `herald`, with its password. */
  url: string;
  port: number;
  /** Whether this start made the database. */
  createdNow: boolean;
  /** Whether the server was found running, left by a Herald that was killed. */
  adopted: boolean;
  /** Stops the server; its process is gone when this returns. Calling it again does nothing. */
  stop(): Promise<void>;
}

interface Context {
  dataDir: string;
  options: EmbeddedPostgresOptions;
  log: (line: string) => void;
  serverLog: ServerLog;
}

/**
 * Starts the PostgreSQL of a data folder, making it at the first start, or takes over the one that a killed Herald left
 * running there. It listens on 127.0.0.1 and outlives neither `stop()` nor an ordinary end of this process.
 * @throws EmbeddedPostgresInUseError where another live Herald has it, with that one's url where it is known
 * @throws EmbeddedPostgresError where it cannot run; the message says what to do
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<RunningPostgres> {
  const dataDir = await openDataDir(resolve(options.dataDir));
  const log = options.log ?? (() => undefined);
  const context: Context = { dataDir, options, log, serverLog: new ServerLog(join(dataDir, 'postgres.log')) };
  const release = await takeStartLock(dataDir);
  try {
    return await start(context);
  } finally {
    await release();
  }
}

async function start(context: Context): Promise<RunningPostgres> {
  const { dataDir, log } = context;
  const existing = await findCluster(dataDir);
  if (existing !== undefined) {
    for (;;) {
      const found = await adopt(context, existing);
      if (found !== undefined) return found;
      if (await clearOrphans(existing.path, log)) break;
    }
  }
  return startAnew(context, existing);
}

async function startAnew(context: Context, existing: ExistingCluster | undefined): Promise<RunningPostgres> {
  const { dataDir, options, log, serverLog } = context;
  const settings = options.settings ?? {};
  const programs = await findPrograms();
  await removeLeftovers(dataDir);
  const systemDir = resolve(options.systemDir ?? '/var/lib/herald');
  const runtime = await findRuntimeAccount({ dataDir, systemDir, existing, programs, log });
  if (runtime.home !== dataDir) await removeLeftovers(runtime.home);
  if (existing !== undefined) await removeStalePostmaster(existing.path);
  const cluster = existing ?? (await createCluster(runtime, dataDir, settings['fsync'] !== 'off'));
  await takeOver(runtime.account, cluster);
  const notes = await readNotes(cluster.path);
  await serverLog.shorten();
  const charge = new Charge(context);
  const onExit = (exit: ServerExit): void => charge.onExit(exit);
  const { server, port } = await launch({
    runtime,
    clusterPath: cluster.path,
    serverLog,
    settings,
    port: notes.port,
    log,
    onExit,
  });
  try {
    if (port !== notes.port) await writeNotes(cluster.path, { ...notes, port }, runtime);
    const { lock, createdNow } = await takeLock(context, notes.password, port);
    log(`PostgreSQL ready on 127.0.0.1:${port}, as ${runtime.account.label}, data in ${cluster.path}`);
    return charge.take(server, lock, { password: notes.password, port, createdNow, adopted: false });
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** Takes over a live server on the cluster; undefined where there is none. Waits out one that starts or stops. */
async function adopt(context: Context, cluster: ExistingCluster): Promise<RunningPostgres | undefined> {
  const { dataDir, log } = context;
  const until = performance.now() + ADOPT_WITHIN_MS;
  for (;;) {
    const postmaster = await readPostmaster(cluster.path);
    if (postmaster === undefined) return undefined;
    const standing = await standingOf(postmaster, cluster.path);
    if (standing === 'dead' || standing === 'reused') return undefined;
    if (performance.now() > until) {
      throw new EmbeddedPostgresError(
        `PostgreSQL (process ${postmaster.pid}) in ${dataDir} neither answers nor ends; see ${context.serverLog.path}.`,
      );
    }
    if (postmaster.status === 'stopping' || !Number.isInteger(postmaster.port)) {
      await waitUntil(async () => !(await isAlive(postmaster.pid)), { withinMs: 500 });
      continue;
    }
    const notes = await readNotes(cluster.path);
    try {
      const { lock, createdNow } = await takeLock(context, notes.password, postmaster.port);
      log(`took over PostgreSQL (process ${postmaster.pid}) on 127.0.0.1:${postmaster.port}, left by a killed Herald`);
      const charge = new Charge(context);
      const onExit = (exit: ServerExit): void => charge.onExit(exit);
      const pgCtl = process.platform === 'win32' ? (await findPrograms()).pgCtl : undefined;
      const server = Server.adopted(postmaster.pid, cluster.path, pgCtl, log, onExit);
      return charge.take(server, lock, { password: notes.password, port: postmaster.port, createdNow, adopted: true });
    } catch (error) {
      if (standing === 'unknown' && errorCode(error) === 'ECONNREFUSED' && postmaster.status === 'ready')
        return undefined;
      if (error instanceof EmbeddedPostgresInUseError || !isPassing(error)) throw error;
      await wait(50);
    }
  }
}

/** Takes the lock and, holding it, makes the database where it is missing: a first start may have been cut short. */
async function takeLock(
  { dataDir, log }: Context,
  password: string,
  port: number,
): Promise<{ lock: InstanceLock; createdNow: boolean }> {
  const url = urlOf(password, port, 'postgres');
  const lock = await InstanceLock.take({ url, publicUrl: urlOf(password, port, DATABASE), dataDir, log });
  try {
    const present = await lock.query('select 1 from pg_database where datname = $1', [DATABASE]);
    if (present.length === 0) await lock.query(`create database ${DATABASE}`);
    return { lock, createdNow: present.length === 0 };
  } catch (error) {
    await lock.close();
    throw error;
  }
}

function urlOf(password: string, port: number, database: string): string {
  return `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${database}`;
}

/** What this process holds while it answers for a server, let go together. */
class Charge {
  private lock: InstanceLock | undefined;

  constructor(private readonly context: Context) {}

  onExit(exit: ServerExit): void {
    this.lock?.expectEnd();
    this.context.serverLog.close();
    const how = exit.signal ?? (exit.code === null ? 'unseen' : `code ${exit.code}`);
    this.context.log(`PostgreSQL ended unexpectedly (${how}); its log: ${this.context.serverLog.path}`);
    this.context.options.onExit?.(exit);
  }

  take(
    server: Server,
    lock: InstanceLock,
    facts: { password: string; port: number; createdNow: boolean; adopted: boolean },
  ): RunningPostgres {
    const { log, serverLog } = this.context;
    this.lock = lock;
    serverLog.keepShort((error) => log(`cannot shorten ${serverLog.path}: ${String(error)}`));
    lock.unref();
    const stop = async (): Promise<void> => {
      // Kept to the last moment: a Herald that starts meanwhile must not take over a server that is going down.
      lock.expectEnd();
      serverLog.close();
      await server.stop();
      await lock.close();
    };
    const { password, ...rest } = facts;
    return { url: urlOf(password, facts.port, DATABASE), ...rest, stop };
  }
}
