import { randomBytes } from 'node:crypto';
import {
  access,
  constants,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { runAs } from './account.js';
import { EmbeddedPostgresError, errorCode } from './embedded-postgres.errors.js';
import { type ExistingCluster, type RuntimeAccount, giveTo } from './runtime-account.js';

const INITDB_TIMEOUT_MS = 120_000;
const NOTES = 'herald.json';
export const SUPERUSER = 'herald';

/** What Herald keeps inside the cluster's folder, mode 0600, so that password and data are made and lost together. */
export interface ClusterNotes {
  password: string;
  /** Where the server last listened; taken again if it is free. */
  port: number;
}

export function clusterLink(dataDir: string): string {
  return join(dataDir, 'postgres');
}

/**
 * Finds the cluster of a data folder; undefined before the first start.
 * @throws EmbeddedPostgresError where something else lies in its place, or it belongs to another user
 */
export async function findCluster(dataDir: string): Promise<ExistingCluster | undefined> {
  const link = clusterLink(dataDir);
  const present = await lstat(link).catch(missing);
  if (present === undefined) return undefined;
  const path = await realpath(link).catch(missing);
  if (path === undefined) {
    throw new EmbeddedPostgresError(
      `${link} leads to a folder that is gone; restore that, or remove the link to begin with an empty database.`,
    );
  }
  const { uid, gid } = await stat(path);
  const ours = process.getuid?.();
  if (ours !== undefined && ours !== 0 && ours !== uid) {
    throw new EmbeddedPostgresError(
      `The database in ${dataDir} belongs to another user (uid ${uid}), who started Herald here first: start it as that user, choose another DATA_DIR, or set DATABASE_URL.`,
    );
  }
  if ((await readdir(path)).length === 0) {
    await rmdir(path);
    if (present.isSymbolicLink()) await rm(link);
    return undefined;
  }
  if ((await stat(join(path, 'PG_VERSION')).catch(missing)) === undefined) {
    throw new EmbeddedPostgresError(`${link} is not a PostgreSQL cluster; move it away, or choose another DATA_DIR.`);
  }
  return { path, uid, gid };
}

function missing(error: unknown): undefined {
  if (errorCode(error) === 'ENOENT') return undefined;
  throw error;
}

/**
 * Makes a cluster beside its place and moves it there whole, so that a first start cut short leaves nothing half made.
 * @param durable false leaves out the flush to disk, for tests
 */
export async function createCluster(
  runtime: RuntimeAccount,
  dataDir: string,
  durable: boolean,
): Promise<ExistingCluster> {
  const { account, programs, home } = runtime;
  const staging = await mkdtemp(join(home, 'postgres.new-'));
  try {
    await giveTo(account, staging);
    const data = join(staging, 'data');
    const notes: ClusterNotes = { password: randomBytes(24).toString('hex'), port: 0 };
    const passwordFile = join(staging, 'password');
    await writePrivately(passwordFile, `${notes.password}\n`, runtime);
    await runAs(
      account,
      programs.initdb,
      [
        `--pgdata=${data}`,
        `--username=${SUPERUSER}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        '--encoding=UTF8',
        // The same order of text on every system, whatever its libraries.
        '--locale-provider=builtin',
        '--builtin-locale=C.UTF-8',
        '--locale=C',
        '--no-instructions',
        ...(durable ? [] : ['--no-sync']),
      ],
      INITDB_TIMEOUT_MS,
    );
    await writePrivately(join(data, NOTES), JSON.stringify(notes), runtime);
    const path = join(home, 'postgres');
    if (home !== dataDir) {
      // The data folder was removed, its database elsewhere was not: set aside, never deleted.
      await rename(path, `${path}.${Date.now()}`).catch(missing);
    }
    await rename(data, path);
    if (durable) await flushFolder(home);
    if (home !== dataDir) await symlink(path, clusterLink(dataDir));
    const { uid, gid } = await stat(path);
    return { path, uid, gid };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL could not make its data folder in ${home}: ${(error as Error).message}`,
      { cause: error },
    );
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Removes what a start that was killed left beside the cluster. Only for the holder of the start lock. */
export async function removeLeftovers(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    if (/^postgres\.(new|try)-/.test(name)) await rm(join(home, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

/** @throws EmbeddedPostgresError where the password of this cluster is lost */
export async function readNotes(clusterPath: string): Promise<ClusterNotes> {
  const file = join(clusterPath, NOTES);
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ClusterNotes;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${file} holds the password of the embedded PostgreSQL and cannot be read; restore it, or remove ${clusterPath} to begin with an empty database.`,
      { cause: error },
    );
  }
}

/** Replaces the notes as a whole: a crash leaves the old ones or the new. */
export async function writeNotes(clusterPath: string, notes: ClusterNotes, runtime: RuntimeAccount): Promise<void> {
  const file = join(clusterPath, NOTES);
  await writePrivately(`${file}.new`, JSON.stringify(notes), runtime);
  await rename(`${file}.new`, file);
}

async function writePrivately(file: string, text: string, { account }: RuntimeAccount): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await giveTo(account, file);
}

async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes the data folder. @throws EmbeddedPostgresError where this user may not write there */
export async function openDataDir(dataDir: string): Promise<string> {
  try {
    await mkdir(dataDir, { recursive: true });
    const path = await realpath(dataDir);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return path;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `This user cannot write to the data folder ${dataDir} (${errorCode(error) ?? String(error)}): start Herald as the user who did before, choose another DATA_DIR, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}
