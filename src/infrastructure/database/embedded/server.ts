import { execFile, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chown, copyFile, type FileHandle, open, readdir, readFile, readlink } from 'node:fs/promises';
import { rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '../../../common/describe-error.js';
import { type Account, commandAs, EmbeddedPostgresError, isRoot } from './cluster.js';

const HOST = '127.0.0.1';
/** Replaying the log after a crash takes time; max_wal_size limits it. */
const READY_WITHIN_MS = 600_000;
const RETRY_WITHIN_MS = 20_000;
const onLinux = process.platform === 'linux';
const LOG_LIMIT_BYTES = 8 * 1_048_576;

/** Differences from PostgreSQL's defaults, which otherwise suit a laptop with two cores and are durable. */
const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: HOST,
  // No socket file: its path may be too long, or closed to the server's user, and no client uses it.
  unix_socket_directories: '',
  cluster_name: 'herald',
  random_page_cost: '1.1',
  // Compiling pays off for long reports only.
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};

export interface ServerExit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Log = (line: string) => void;

export interface Launch {
  account: Account;
  clusterPath: string;
  logFile: string;
  settings: Readonly<Record<string, string>>;
  /** Tried first; 0: any. */
  port: number;
  log: Log;
  /** Called once when the server ends and was not stopped. */
  onExit: (exit: ServerExit) => void;
}

/**
 * Starts PostgreSQL and waits until the server accepts connections. The server ends at an ordinary exit of this
 * process, or by `stop`.
 *
 * @throws EmbeddedPostgresError with the server's own last error
 */
export async function launch(order: Launch): Promise<{ port: number; stop: () => Promise<void> }> {
  let port = order.port || anyPort();
  const until = performance.now() + RETRY_WITHIN_MS;
  for (;;) {
    const launched = await launchOn(order, port);
    if (typeof launched !== 'string') return { port, stop: launched };
    const portTaken = /could not (bind|create any TCP)/.test(launched);
    // Where leftover processes of a killed server cannot be listed, the new server reports their shared memory.
    const leftovers = /shared memory block .* is still in use/.test(launched);
    if ((!portTaken && !leftovers) || performance.now() > until) {
      const lines = launched.trim().split('\n');
      const line = lines.findLast((text) => /FATAL|PANIC|ERROR/.test(text)) ?? lines.at(-1) ?? '';
      const message = line.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '');
      throw new EmbeddedPostgresError(`The embedded PostgreSQL did not start: ${message} (its log: ${order.logFile}).`);
    }
    if (portTaken) port = anyPort();
  }
}

/**
 * Starts the server on this port. Returns the function that stops the server, or, if the server ended before it was
 * ready, what the server has written to the log.
 */
async function launchOn(order: Launch, port: number): Promise<(() => Promise<void>) | string> {
  const { account, clusterPath, logFile, log } = order;
  const settings = Object.entries({ ...SETTINGS, ...order.settings, port: String(port) });
  const flags = settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const { file, args, options } = commandAs(account, account.programs.postgres, ['-D', clusterPath, ...flags]);
  const output = await openLog(logFile);
  const { size } = await output.stat();
  // Logs to a file rather than a pipe, because the server outlives a killed Herald. Runs in its own session, so that
  // Ctrl-C on the terminal does not reach the server before Herald has finished.
  const child = spawn(file, args, { ...options, detached: true, stdio: ['ignore', output.fd, output.fd] });
  try {
    await once(child, 'spawn');
  } finally {
    await output.close();
  }
  child.unref();
  const { pid = 0 } = child;
  const isReady = async (): Promise<boolean> => {
    const postmaster = await readPostmaster(clusterPath);
    return postmaster?.pid === pid && postmaster.status === 'ready';
  };
  const notice = setTimeout(() => log('PostgreSQL is still starting; after a crash it first replays its log'), 10_000);
  await waitUntil(async () => (await isReady()) || !(await isAlive(pid)), READY_WITHIN_MS);
  clearTimeout(notice);
  if (!(await isReady()) || child.exitCode !== null || child.signalCode !== null) {
    await stopServer(pid, log);
    return (await readFile(logFile)).subarray(size).toString('utf8');
  }
  let stopping: Promise<void> | undefined;
  // At process exit nothing can be awaited.
  const onProcessExit = (): void => void signalTo(pid, 'SIGINT');
  process.on('exit', onProcessExit);
  child.once('exit', (code, signal) => {
    process.off('exit', onProcessExit);
    if (stopping === undefined) order.onExit({ code, signal });
  });
  return () => (stopping ??= stopServer(pid, log));
}

/** Opens the log file for appending. The server itself writes to the file, also when Herald is gone. */
export async function openLog(logFile: string): Promise<FileHandle> {
  const handle = await open(logFile, 'a', 0o600);
  if (isRoot()) {
    // The owner of the data folder must be able to continue the log.
    const { uid, gid } = await stat(dirname(logFile));
    await chown(logFile, uid, gid);
  }
  return handle;
}

/**
 * Copies a log over the limit to `.1` and empties the log in place: the server keeps the file open. The server opened
 * the file for appending, so its next line goes to the new end. Lines written between copying and emptying are lost.
 */
export async function shortenLog(logFile: string, limitBytes: number = LOG_LIMIT_BYTES): Promise<void> {
  const { size } = await stat(logFile).catch(() => ({ size: 0 }));
  if (size <= limitBytes) return;
  await copyFile(logFile, `${logFile}.1`);
  await truncate(logFile);
}

/** A random port below the range that systems use for outgoing connections: it is likely free at the next start too. */
const anyPort = (): number => randomInt(20_000, 32_000);

/**
 * The contents of `postmaster.pid`, which a running server writes; undefined where the file is missing or incomplete.
 */
export async function readPostmaster(clusterPath: string): Promise<{ pid: number; status: string } | undefined> {
  const text = await readFile(join(clusterPath, 'postmaster.pid'), 'utf8').catch(() => '');
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  // The status is starting, ready or stopping; it is empty just after the server has started.
  return Number.isInteger(pid) && pid > 0 ? { pid, status: (lines[7] ?? '').trim() } : undefined;
}

/** Whether a process runs. A zombie does not. */
export async function isAlive(pid: number, hasProc = onLinux): Promise<boolean> {
  if (!hasProc) return exists(pid);
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // `pid (name) S ...`; the name may hold anything, also brackets.
  return state !== undefined && !/^[ZX]/.test(state.slice(state.lastIndexOf(')') + 2));
}

/** Whether the process belongs to the server of this cluster, and is not another program with the same number. */
async function worksOn(clusterPath: string, pid: number): Promise<boolean> {
  // Some users may not read the working folder of other processes.
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  const reading = onLinux
    ? readFile(`/proc/${pid}/cmdline`, 'utf8')
    : promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).then(({ stdout }) => stdout);
  const command = (await reading.catch(() => '')).replaceAll('\0', ' ');
  const isPostgres = /^\S*postgres(:? |$)/.test(command);
  return isPostgres && (folder === clusterPath || command.includes(`-D ${clusterPath} `)) && isAlive(pid);
}

/** The ids of the processes of PostgreSQL that work on this cluster; always empty except on Linux. */
export async function processesOn(clusterPath: string): Promise<number[]> {
  if (!onLinux) return [];
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(pids.map((pid) => worksOn(clusterPath, pid)));
  return pids.filter((_, index) => found[index]);
}

/**
 * Ends the processes that a killed Herald or a killed server left on a cluster. A new server may start only after that.
 * A running server is stopped in order. Processes whose server is gone get two seconds to end by themselves, then they
 * are ended: the next server replays the log, so committed data is safe. Only the holder of the lock may call this.
 */
export async function endLeftovers(clusterPath: string, log: Log): Promise<void> {
  const { pid } = (await readPostmaster(clusterPath)) ?? {};
  if (pid !== undefined && (await worksOn(clusterPath, pid))) {
    log(`stopping PostgreSQL (process ${pid}), left by a killed Herald`);
    await stopServer(pid, log);
  }
  const areGone = async (): Promise<boolean> => (await processesOn(clusterPath)).length === 0;
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    if (await waitUntil(areGone, 2_000)) break;
    const orphans = await processesOn(clusterPath);
    log(`ending processes ${orphans.join(', ')} that a killed PostgreSQL left (${signal})`);
    for (const orphan of orphans) signalTo(orphan, signal);
  }
  // PostgreSQL would believe this file if any process, even of another program, has the process id in it.
  if (onLinux) await rm(join(clusterPath, 'postmaster.pid'), { force: true });
}

/**
 * Stops a server: first in order (the server closes its connections and writes everything), then by harder signals. The
 * process has ended when this returns.
 */
async function stopServer(pid: number, log: Log): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (signal !== 'SIGINT') log(`PostgreSQL (process ${pid}) does not stop; sending ${signal}`);
    if (!signalTo(pid, signal)) return;
    if (await waitUntil(async () => !(await isAlive(pid)), signal === 'SIGINT' ? 60_000 : 10_000)) return;
  }
  throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) cannot be stopped.`);
}

/** Waits until a condition holds, but not longer than `withinMs`. Returns whether the condition holds. */
async function waitUntil(condition: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > until) return false;
    await wait(5);
  }
  return true;
}

/** Sends a signal. Returns false where the process is gone. */
function signalTo(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') return false;
    if (codeOf(error) !== 'EPERM') throw error;
    throw new EmbeddedPostgresError(
      `PostgreSQL (process ${pid}) runs as another user: stop it as that user, or as root.`,
    );
  }
}

/** Whether a process with this id exists, of whatever user. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return codeOf(error) !== 'ESRCH';
  }
}
