// One throw-away PostgreSQL for a test run.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const PREFIX = 'herald-test-';
const EMBEDDED = new URL('../../dist/src/infrastructure/database/embedded/embedded-postgres.js', import.meta.url);

// What makes a disposable server quick: nothing of it has to survive a power cut.
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  // A test that needs statistics makes them: plans do not depend on the minute at which it runs.
  autovacuum: 'off',
  max_connections: '300',
  // A run connects some thousand times; the usual 4,096 rounds take 3 ms of either side.
  scram_iterations: '1',
};

// Each test file makes and removes a database of 500 files, which on a disk is half of PostgreSQL's processor time.
const MEMORY = '/dev/shm';
/** A run has 1 GB in it at most; a container may have only 64 MB there. */
const MEMORY_NEEDED = 4 * 2 ** 30;

/**
 * A folder for everything that a run writes: in memory where there is room, else under the system's temporary folder. What runs
 * that were killed left behind is removed.
 *
 * @returns {Promise<{path: string, temporary: string, remove: () => void}>} `temporary`: for the tests' own files.
 */
export async function makeRunFolder() {
  for (const parent of new Set([MEMORY, tmpdir()])) if (existsSync(parent)) await removeAbandoned(parent);
  const path = mkdtempSync(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), `${PREFIX}${process.pid}-`));
  const temporary = join(path, 'tmp');
  mkdirSync(temporary);
  // PostgreSQL runs as another user where this one is root.
  chmodSync(path, 0o711);
  chmodSync(temporary, 0o1777);
  return { path, temporary, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function hasRoom(folder) {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= MEMORY_NEEDED;
  } catch {
    return false;
  }
}

/**
 * Starts a server with its data in `folder`.
 *
 * @returns {Promise<{url: string, stop: () => Promise<void>}>} `url`: administrator's.
 */
export async function startTestPostgres(folder) {
  const { startEmbeddedPostgres } = await import(EMBEDDED.href);
  const server = await startEmbeddedPostgres({ dataDir: folder, settings: SETTINGS });
  await withQuickPassword(server.url);
  return server;
}

/** The same password, hashed with as few rounds as `scram_iterations` says. */
async function withQuickPassword(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { username, password } = new URL(url);
    const { rows } = await client.query("select format('alter role %I password %L', $1::text, $2::text) as sql", [
      username,
      decodeURIComponent(password),
    ]);
    await client.query(rows[0].sql);
  } finally {
    await client.end();
  }
}

/** Stops servers of runs that were killed, by the process id in their own folders, and removes the folders. */
async function removeAbandoned(parent) {
  for (const name of readdirSync(parent)) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const folder = join(parent, name);
    for (const pidFile of findPidFiles(folder)) await stopServer(pidFile);
    rmSync(folder, { recursive: true, force: true });
  }
}

function findPidFiles(folder) {
  return ['.', ...readdirSync(folder)]
    .map((name) => join(folder, name, 'postmaster.pid'))
    .filter((path) => existsSync(path));
}

async function stopServer(pidFile) {
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (!Number.isInteger(pid) || pid <= 1 || !isPostgres(pid)) return;
  try {
    process.kill(pid, 'SIGINT');
  } catch {
    return;
  }
  for (let waited = 0; waited < 5_000 && existsSync(pidFile); waited += 50) await sleep(50);
}

/** The number may have gone to another program since; where the system does not report it, the file is believed. */
function isPostgres(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres');
  } catch {
    return !existsSync('/proc/self');
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}
