import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { errorCode } from './embedded-postgres.errors.js';

const ORPHAN_GRACE_MS = 2_000;

/** What a running server says of itself in `postmaster.pid`. */
export interface Postmaster {
  pid: number;
  /** NaN in its first moments. */
  port: number;
  /** starting, ready, stopping; empty in its first moments. */
  status: string;
}

/** Reads `postmaster.pid`; undefined where there is none, or it is not yet written out. */
export async function readPostmaster(clusterPath: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(clusterPath, 'postmaster.pid'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  });
  const lines = text.split('\n');
  const [pid, port] = [Number(lines[0]), Number(lines[3] ?? 'NaN')];
  return Number.isInteger(pid) && pid > 0 ? { pid, port, status: (lines[7] ?? '').trim() } : undefined;
}

/** Whether a process runs; one that has ended and was not collected by its parent does not. */
export async function isAlive(pid: number): Promise<boolean> {
  if (!exists(pid)) return false;
  if (process.platform !== 'linux') return true;
  const state = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // `pid (name) S ...`; the name may hold anything, also brackets.
  return state !== undefined && !/^[ZX]/.test(state.slice(state.lastIndexOf(')') + 2));
}

/** Whether the system knows that number, be it of a process that has ended. */
function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

export type Standing =
  /** It runs on this cluster. */
  | 'live'
  /** Its process is gone. */
  | 'dead'
  /** The number is another process's by now: that of the file is from before a restart of the machine or container. */
  | 'reused'
  /** Something of that number runs, and this system does not tell what. */
  | 'unknown';

/** Tells whether the process that `postmaster.pid` names is the server of this cluster. */
export async function standingOf(postmaster: Postmaster, clusterPath: string): Promise<Standing> {
  if (!(await isAlive(postmaster.pid))) return 'dead';
  if (process.platform !== 'linux') return 'unknown';
  try {
    // A server and all its children have the cluster as their working folder.
    return (await readlink(`/proc/${postmaster.pid}/cwd`)) === clusterPath ? 'live' : 'reused';
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'dead' : 'unknown';
  }
}

/**
 * Removes a `postmaster.pid` that would keep PostgreSQL from starting for no reason: it believes any number that exists,
 * be it another process's by now or that of an ended one that nobody has collected, and stumbles over an empty file,
 * as a crash of the machine may leave it. Only after `clearOrphans`: PostgreSQL itself would tell them by this file.
 */
export async function removeStalePostmaster(clusterPath: string): Promise<void> {
  const file = join(clusterPath, 'postmaster.pid');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) return;
  const postmaster = await readPostmaster(clusterPath);
  const standing = postmaster === undefined ? 'dead' : await standingOf(postmaster, clusterPath);
  const believed = postmaster !== undefined && exists(postmaster.pid);
  if (text.trim() === '' || standing === 'reused' || (standing === 'dead' && believed)) await rm(file, { force: true });
}

/** Process ids of PostgreSQL on this cluster; empty on systems that do not tell. */
export async function processesOn(clusterPath: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    if ((await readlink(`/proc/${name}/cwd`).catch(() => '')) !== clusterPath) continue;
    // Not the shell of someone who looks around in there.
    const program = await readFile(`/proc/${name}/comm`, 'utf8').catch(() => '');
    if (program.trim() === 'postgres' && (await isAlive(pid))) found.push(pid);
  }
  return found;
}

/** Waits until a condition holds, looking every `everyMs`. Returns whether it came to hold. */
export async function waitUntil(
  condition: () => Promise<boolean>,
  { withinMs, everyMs = 20 }: { withinMs: number; everyMs?: number },
): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > until) return false;
    await wait(everyMs);
  }
  return true;
}

/**
 * Sees off the children of a server that was killed: they hold its shared memory, and no new one may begin before they
 * are gone. They go by themselves once idle; one that does not is told to drop everything, then killed. Nothing
 * that was committed can be lost by that: their server is dead, and the next one replays its log.
 * @returns false where a live server turned up instead, one that had not written `postmaster.pid` yet
 */
export async function clearOrphans(clusterPath: string, log: (line: string) => void): Promise<boolean> {
  let live = false;
  const settled = async (): Promise<boolean> => {
    const postmaster = await readPostmaster(clusterPath);
    live = postmaster !== undefined && (await standingOf(postmaster, clusterPath)) === 'live';
    return live || (await processesOn(clusterPath)).length === 0;
  };
  if (await waitUntil(settled, { withinMs: ORPHAN_GRACE_MS })) return !live;
  for (const signal of ['SIGQUIT', 'SIGKILL'] as const) {
    const orphans = await processesOn(clusterPath);
    log(`ending processes ${orphans.join(', ')} that a killed PostgreSQL left (${signal})`);
    for (const pid of orphans) signalTo(pid, signal);
    if (await waitUntil(settled, { withinMs: ORPHAN_GRACE_MS })) break;
  }
  return !live;
}

/** Sends a signal; false where that process is gone. */
export function signalTo(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
    throw error;
  }
}
