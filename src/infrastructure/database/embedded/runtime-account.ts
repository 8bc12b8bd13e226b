import { createHash } from 'node:crypto';
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Account, createPostgresUser, findUser, NAMESPACE, runAs, SELF } from './account.js';
import { EmbeddedPostgresError, errorText } from './embedded-postgres.errors.js';
import { copyPrograms, type Programs } from './programs.js';

const PROBE_TIMEOUT_MS = 10_000;

/** Who runs PostgreSQL, from which programs, and in which folder its cluster lies. */
export interface RuntimeAccount {
  account: Account;
  programs: Programs;
  /** Folder that holds the cluster's folder `postgres`. */
  home: string;
}

export interface ExistingCluster {
  /** Real path, behind a link. */
  path: string;
  uid: number;
  gid: number;
}

export interface RuntimeAccountRequest {
  dataDir: string;
  /** Where root puts copies when nothing else works. */
  systemDir: string;
  existing: ExistingCluster | undefined;
  programs: Programs;
  log: (line: string) => void;
}

/**
 * Decides by trial, not by rule, how PostgreSQL can run here: each way is tried with its own programs on a folder
 * beside the data, and the first that works is taken.
 * @throws EmbeddedPostgresError saying what was tried and what to do
 */
export async function findRuntimeAccount(request: RuntimeAccountRequest): Promise<RuntimeAccount> {
  const refusals: string[] = [];
  const isRoot = process.getuid?.() === 0;
  for (const way of isRoot ? waysOfRoot(request) : waysOfUser(request)) {
    try {
      const runtime = await way.take();
      if (runtime === undefined) continue;
      await probe(runtime);
      return runtime;
    } catch (error) {
      refusals.push(`${way.label}: ${errorText(error)}`);
    }
  }
  const advice = isRoot ? 'start Herald as an ordinary user, or set DATABASE_URL' : 'set DATABASE_URL';
  throw new EmbeddedPostgresError(
    `The embedded PostgreSQL does not run here, so ${advice} (tried ${refusals.join('; ')}).`,
  );
}

interface Way {
  label: string;
  /** Undefined where this way does not apply. */
  take(): Promise<RuntimeAccount | undefined>;
}

function homeOf({ dataDir, existing }: RuntimeAccountRequest): string {
  return existing === undefined ? dataDir : dirname(existing.path);
}

function inNamespace(request: RuntimeAccountRequest): Way {
  return {
    label: 'in a user namespace',
    take: async () =>
      process.platform === 'linux'
        ? { account: NAMESPACE, programs: request.programs, home: homeOf(request) }
        : undefined,
  };
}

function waysOfUser(request: RuntimeAccountRequest): Way[] {
  const { programs } = request;
  return [
    { label: 'directly', take: async () => ({ account: SELF, programs, home: homeOf(request) }) },
    // A container may give us a number without a name, which initdb refuses.
    inNamespace(request),
  ];
}

function waysOfRoot(request: RuntimeAccountRequest): Way[] {
  const { dataDir, existing, programs } = request;
  const home = homeOf(request);
  const asUser = (uid: number, gid: number): RuntimeAccount => ({ account: userOf(uid, gid), programs, home });
  const asBefore: Way = {
    label: 'as the owner of its files',
    take: async () => (existing === undefined || existing.uid === 0 ? undefined : asUser(existing.uid, existing.gid)),
  };
  const unprivileged: Way = {
    label: 'as an unprivileged user',
    take: async () => {
      const account = await unprivilegedUser(request, home);
      return account === undefined ? undefined : { account, programs, home };
    },
  };
  const ownerOfFolder: Way = {
    label: 'as the owner of the folder',
    take: async () => {
      // Root may just have made the data folder, in somebody's home.
      for (const folder of [dataDir, dirname(dataDir)]) {
        const { uid, gid } = await stat(folder);
        if (uid !== 0) return asUser(uid, gid);
      }
      return undefined;
    },
  };
  const copies: Way = { label: 'from copies', take: () => copiesOf(request) };
  const namespace = inNamespace(request);
  // Files of root's own were made in a namespace.
  return existing?.uid === 0
    ? [namespace, unprivileged, ownerOfFolder, copies]
    : [asBefore, unprivileged, namespace, ownerOfFolder, copies];
}

async function copiesOf(request: RuntimeAccountRequest): Promise<RuntimeAccount | undefined> {
  const { dataDir, systemDir, existing, programs } = request;
  // A cluster that lies elsewhere already is not moved: two copies of a database are one too many.
  if (existing !== undefined && !existing.path.startsWith(join(systemDir, '/'))) return undefined;
  const account =
    existing === undefined || existing.uid === 0
      ? ((await findUser('postgres')) ?? (await createPostgresUser()) ?? (await findUser('nobody')))
      : userOf(existing.uid, existing.gid);
  if (account === undefined) return undefined;
  const own = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  const home = existing === undefined ? join(systemDir, own) : dirname(existing.path);
  const copied = await copyPrograms(programs, systemDir);
  await mkdir(home, { recursive: true, mode: 0o755 });
  await Promise.all([chmod(systemDir, 0o755), chmod(home, 0o755)]);
  return { account, programs: copied, home };
}

function userOf(uid: number, gid: number): Account {
  return { kind: 'user', uid, gid, label: `user ${uid}` };
}

/** `postgres`, made where it is missing and of use; else `nobody`. */
async function unprivilegedUser({ programs, log }: RuntimeAccountRequest, home: string): Promise<Account | undefined> {
  const postgres = await findUser('postgres');
  if (postgres !== undefined) return postgres;
  const nobody = await findUser('nobody');
  if (nobody === undefined) return undefined;
  // A stranger who cannot reach the folders stays one under any name, so no user is made in vain.
  await probe({ account: nobody, programs, home });
  const made = await createPostgresUser();
  if (made !== undefined) log('made the system user postgres to run PostgreSQL, which refuses to run as root');
  return made ?? nobody;
}

/** Runs the programs as that account on a folder of its own in `home`. */
async function probe({ account, programs, home }: RuntimeAccount): Promise<void> {
  const folder = await mkdtemp(join(home, 'postgres.try-'));
  try {
    await giveTo(account, folder);
    // Resolves the account's name, and runs `postgres -V` from beside itself.
    await runAs(account, programs.initdb, ['--show', '-D', folder], PROBE_TIMEOUT_MS);
    // Opens the folder, hence every folder on the way to it.
    await runAs(account, programs.initdb, ['--sync-only', '-D', folder], PROBE_TIMEOUT_MS);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Makes a file or an empty folder the account's own. */
export async function giveTo(account: Account, path: string): Promise<void> {
  if (account.uid !== undefined && account.gid !== undefined) await chown(path, account.uid, account.gid);
}

/** Makes a whole cluster the account's own, where it is another's: root may have had to run it in another way before. */
export async function takeOver(account: Account, existing: ExistingCluster): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const [uid, gid] = [account.uid ?? 0, account.gid ?? 0];
  if (existing.uid !== uid) await chownTree(existing.path, uid, gid);
}

async function chownTree(path: string, uid: number, gid: number): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name);
    if (entry.isDirectory()) await chownTree(child, uid, gid);
    else await lchown(child, uid, gid);
  }
  await chown(path, uid, gid);
}
