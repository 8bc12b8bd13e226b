import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { errorText } from './embedded-postgres.errors.js';

const run = promisify(execFile);
/** `nobody` of practically every system; PostgreSQL wants its user to have a name. */
const NOBODY = 65_534;

/** As whom PostgreSQL's programs run. It refuses to be root. */
export interface Account {
  /** self: as this process; user: with `uid` and `gid`, which only root can do; namespace: as this process, under another name. */
  kind: 'self' | 'user' | 'namespace';
  uid?: number;
  gid?: number;
  label: string;
}

export const SELF: Account = { kind: 'self', label: 'this user' };

/**
 * In a user namespace where this process's user is called nobody: files stay its own and reachable, and PostgreSQL
 * does not see root. Linux only, and not allowed everywhere.
 */
export const NAMESPACE: Account = { kind: 'namespace', label: 'nobody in a user namespace' };

export interface Command {
  file: string;
  args: string[];
  options: { uid?: number; gid?: number; cwd?: string; windowsHide?: boolean };
}

/** The command line that runs `program` as that account. `unshare` executes it in place, so the pid is the program's. */
export function commandAs(account: Account, program: string, args: readonly string[]): Command {
  // The caller's working folder may be closed to that account.
  const base = process.platform === 'win32' ? { windowsHide: true } : { cwd: '/' };
  if (account.kind === 'namespace') {
    const map = ['-U', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
    return { file: 'unshare', args: [...map, program, ...args], options: base };
  }
  const options = account.kind === 'user' ? { ...base, uid: account.uid, gid: account.gid } : base;
  return { file: program, args: [...args], options };
}

/** Runs a program to its end. @throws Error whose message is the program's own last words */
export async function runAs(
  account: Account,
  program: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<void> {
  const { file, args: argv, options } = commandAs(account, program, args);
  try {
    await run(file, argv, {
      ...options,
      timeout: timeoutMs,
      maxBuffer: 1_048_576,
    });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().split('\n');
    throw new Error(said?.find((line) => line !== '') ?? errorText(error), { cause: error });
  }
}

/** Looks up a user of this system; undefined where there is none of that name. */
export async function findUser(name: string): Promise<Account | undefined> {
  try {
    const [uid, gid] = await Promise.all(
      ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, name])).stdout)),
    );
    if (!Number.isInteger(uid) || !Number.isInteger(gid) || uid === 0) return undefined;
    return { kind: 'user', uid, gid, label: `user ${name}` };
  } catch {
    return undefined;
  }
}

/** Makes the system user `postgres`, without a home or a login; undefined where this system cannot. */
export async function createPostgresUser(): Promise<Account | undefined> {
  const flags = ['--system', '--no-create-home', '--home-dir', '/nonexistent', '--shell', '/usr/sbin/nologin'];
  try {
    await run('useradd', [...flags, '--user-group', 'postgres']);
  } catch {
    return undefined;
  }
  return findUser('postgres');
}
