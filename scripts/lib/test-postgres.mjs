// One throw-away PostgreSQL for a test run.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const PREFIX = 'herald-test-';
const EMBEDDED = new URL('../../dist/src/infrastructure/database/embedded/embedded-postgres.js', import.meta.url);

// What makes a disposable server quick: nothing of it has to survive a power cut.
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

/**
 * Starts a server in a folder of its own under the system's temporary folder.
 *
 * @returns {Promise<{url: string, stop: () => Promise<void>}>} `url`: administrator's; `stop` also removes the folder.
 */
export async function startTestPostgres() {
  await removeAbandoned();
  const dataDir = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const { startEmbeddedPostgres } = await import(EMBEDDED.href);
  const server = await startEmbeddedPostgres({ dataDir, settings: SETTINGS });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Stops servers of runs that were killed, by the process id in their own folders, and removes the folders. */
async function removeAbandoned() {
  for (const name of readdirSync(tmpdir())) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner === undefined || isAlive(Number(owner))) continue;
    const folder = join(tmpdir(), name);
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
