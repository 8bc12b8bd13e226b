import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { commandAs } from './account.js';
import { EmbeddedPostgresError, errorCode } from './embedded-postgres.errors.js';
import type { RuntimeAccount } from './runtime-account.js';
import { readPostmaster, waitUntil } from './postmaster.js';
import { Server, type ServerExit } from './server.js';
import type { ServerLog } from './server-log.js';

const HOST = '127.0.0.1';
/** Replaying the log after a crash takes its time; it is bounded by max_wal_size. */
const READY_WITHIN_MS = 600_000;
const RETRY_WITHIN_MS = 20_000;

/** For a laptop of two cores. Durability is a promise: nothing here trades it for speed. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: HOST,
  // No socket file: its path may be too long or closed to the server's user, and nobody connects by it.
  unix_socket_directories: '',
  cluster_name: 'herald',
  max_connections: '100',
  shared_buffers: '128MB',
  synchronous_commit: 'on',
  max_wal_size: '1GB',
  autovacuum: 'on',
  random_page_cost: '1.1',
  // Compiling pays off for long reports only.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_destination: 'stderr',
  logging_collector: 'off',
  log_checkpoints: 'off',
  log_line_prefix: '%m [%p] ',
};

/** The server ended before it was ready; `said` is what it wrote to its log. */
class FailedLaunch extends Error {
  constructor(readonly said: string) {
    super(lastComplaint(said));
  }
}

export interface Launch {
  runtime: RuntimeAccount;
  clusterPath: string;
  serverLog: ServerLog;
  settings: Readonly<Record<string, string>>;
  /** Tried first; 0: any. */
  port: number;
  log: (line: string) => void;
  onExit: (exit: ServerExit) => void;
}

/**
 * Starts PostgreSQL and waits until it accepts connections.
 * @throws EmbeddedPostgresError with the server's own last words
 */
export async function launch(order: Launch): Promise<{ server: Server; port: number }> {
  let port = await freePort(order.port);
  const until = performance.now() + RETRY_WITHIN_MS;
  for (;;) {
    try {
      return { server: await launchOn(order, port), port };
    } catch (error) {
      if (!(error instanceof FailedLaunch)) throw error;
      const portTaken = /could not (bind|create any TCP)/.test(error.said);
      // Where leftovers of a killed server cannot be seen, the new one tells of their shared memory.
      const leftovers = /shared memory block .* is still in use/.test(error.said);
      if ((!portTaken && !leftovers) || performance.now() > until) {
        throw new EmbeddedPostgresError(
          `The embedded PostgreSQL did not start: ${error.message}${adviceOn(error.said, order)} (its log: ${order.serverLog.path}).`,
          { cause: error },
        );
      }
      if (portTaken) port = await freePort(0);
    }
  }
}

async function launchOn(order: Launch, port: number): Promise<Server> {
  const { runtime, clusterPath, serverLog, settings, log } = order;
  const all = { ...SETTINGS, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { file, args, options } = commandAs(runtime.account, runtime.programs.postgres, [
    '-D',
    clusterPath,
    '-p',
    String(port),
    ...flags,
  ]);
  const output = await serverLog.open();
  const mark = await serverLog.size();
  let child: ChildProcess;
  try {
    // A file, not a pipe: the server outlives a killed Herald. A session of its own: Ctrl-C on the terminal must not
    // reach it before Herald has finished its work.
    child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', output.fd, output.fd] });
    await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  } finally {
    await output.close();
  }
  child.unref();
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const isReady = async (): Promise<boolean> => {
    const postmaster = await readPostmaster(clusterPath);
    return postmaster?.pid === child.pid && postmaster?.status === 'ready';
  };
  let ready = await waitUntil(async () => hasEnded() || (await isReady()), { withinMs: 10_000, everyMs: 5 });
  if (!ready) {
    log('PostgreSQL is still starting; after a crash it first replays its log');
    ready = await waitUntil(async () => hasEnded() || (await isReady()), { withinMs: READY_WITHIN_MS, everyMs: 50 });
  }
  if (hasEnded()) throw new FailedLaunch(await serverLog.since(mark));
  const server = Server.ofChild(child as ChildProcess & { pid: number }, runtime, clusterPath, log, order.onExit);
  if (!ready) {
    await server.stop();
    throw new FailedLaunch('it was not ready within ten minutes');
  }
  return server;
}

/** Where the system does not tell whose a process number is, only a person can. */
function adviceOn(said: string, { clusterPath }: Launch): string {
  return /lock file "postmaster.pid" already exists/.test(said)
    ? `; if no PostgreSQL runs there, remove ${clusterPath}/postmaster.pid`
    : '';
}

function lastComplaint(said: string): string {
  const lines = said.trim().split('\n');
  const line = lines.findLast((text) => /FATAL|PANIC|ERROR/.test(text)) ?? lines.at(-1) ?? '';
  return line.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '') || 'it said nothing';
}

/** `preferred` where nobody listens there, else a port that the system chooses. */
async function freePort(preferred: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => {
      if (preferred !== 0 && ['EADDRINUSE', 'EACCES'].includes(errorCode(error) ?? '')) resolve(freePort(0));
      else reject(error);
    });
    probe.listen({ port: preferred, host: HOST, exclusive: true }, () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
