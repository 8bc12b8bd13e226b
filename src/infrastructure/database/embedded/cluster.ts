import { randomBytes } from 'node:crypto';
import {
  access,
  constants,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, errorCode } from './embedded-postgres.errors.js';
import { type Account, giveTo, isRoot, type Programs, runAs } from './programs.js';

const INITDB_TIMEOUT_MS = 120_000;
const NOTES = 'herald.json';
export const SUPERUSER = 'herald';

/** What Herald keeps inside the cluster's folder, mode 0600, so that password and data are made and lost together. */
export interface ClusterNotes {
  password: string;
  /** Where the server last listened; taken again if it is free. */
  port: number;
}

export interface Cluster {
  /** Real path: earlier versions could put a link to another folder into the data folder. */
  path: string;
  uid: number;
  gid: number;
}

/**
 * Finds the cluster of a data folder; undefined before the first start.
 * @throws EmbeddedPostgresError where something else lies in its place, or it belongs to another user
 */
export async function findCluster(dataDir: string): Promise<Cluster | undefined> {
  const path = await realpath(join(dataDir, 'postgres')).catch(missing);
  if (path === undefined) return undefined;
  const { uid, gid } = await stat(path);
  if (process.getuid !== undefined && !isRoot() && process.getuid() !== uid) {
    throw new EmbeddedPostgresError(
      `The database in ${dataDir} belongs to another user (uid ${uid}), who started Herald here first: start it as that user, choose another DATA_DIR, or set DATABASE_URL.`,
    );
  }
  const names = await readdir(path);
  if (names.length === 0) return undefined;
  if (!names.includes('PG_VERSION')) {
    throw new EmbeddedPostgresError(`${path} is not a PostgreSQL cluster; move it away, or choose another DATA_DIR.`);
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
  account: Account,
  programs: Programs,
  dataDir: string,
  durable: boolean,
): Promise<string> {
  const staging = await mkdtemp(join(dataDir, 'postgres.new-'));
  try {
    await giveTo(account, staging);
    const data = join(staging, 'data');
    const notes: ClusterNotes = { password: randomBytes(24).toString('hex'), port: 0 };
    const passwordFile = join(staging, 'password');
    await writePrivately(passwordFile, `${notes.password}\n`, account);
    const args = [
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
    ];
    await runAs(account, programs.initdb, args, INITDB_TIMEOUT_MS);
    await writePrivately(join(data, NOTES), JSON.stringify(notes), account);
    const path = join(dataDir, 'postgres');
    await rename(data, path);
    if (durable) await flushFolder(dataDir);
    return path;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The embedded PostgreSQL could not make its data folder in ${dataDir}: ${(error as Error).message}`,
      { cause: error },
    );
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 5 });
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
export async function writeNotes(clusterPath: string, notes: ClusterNotes, account: Account): Promise<void> {
  const file = join(clusterPath, NOTES);
  await writePrivately(`${file}.new`, JSON.stringify(notes), account);
  await rename(`${file}.new`, file);
}

async function writePrivately(file: string, text: string, account: Account): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flush: true });
  await giveTo(account, file);
}

async function flushFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
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
