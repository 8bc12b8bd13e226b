import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { EmbeddedChild, makeClone, nativeOf, type Said } from '../../../../test/support/embedded-clone.js';
import { EmbeddedSite, QUICK } from '../../../../test/support/embedded-site.js';
import { processesOn } from './server.js';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const site = new EmbeddedSite();
let home = '';
let count = 0;

// What the machine allows decides which tests can be run; the names of the skipped ones say why.
const asRoot = isRoot ? it : it.skip;
const canBeNobody = isRoot && spawnSync(process.execPath, ['-e', '0'], { cwd: '/', ...NOBODY }).status === 0;
const asNobody = canBeNobody ? it : it.skip;
const mayUnshare =
  isRoot && spawnSync('unshare', ['-U', '--map-user=65534', '--map-group=65534', 'true'], { cwd: '/' }).status === 0;
const inNamespace = mayUnshare ? it : it.skip;
const withAccess = isRoot && spawnSync('setpriv', ['--version']).status === 0 ? it : it.skip;

beforeAll(() => site.prepare());
afterAll(() => site.remove());
beforeEach(() => {
  home = join(site.root, `home-${++count}`);
  mkdirSync(home);
});
afterEach(async () => {
  await site.clear();
  for (const name of readdirSync(home)) {
    for (const pid of await processesOn(join(home, name, 'postgres'))) process.kill(pid, 'SIGKILL');
  }
});

interface Run {
  clone?: string;
  dataDir?: string;
  uid?: number;
  gid?: number;
  /** Where the child finds `unshare`, `id` and such. */
  path?: string;
}

/** Starts in a process of its own, asks who runs the server, stops it. */
async function run({ clone = site.clone, dataDir = join(home, '.data'), ...as }: Run = {}): Promise<
  Said & { log: string; serverUid?: number }
> {
  const child = new EmbeddedChild(clone, { dataDir, settings: QUICK }, as);
  const said = await child.outcome();
  const serverUid = said.started === true && isRoot ? statSync(join('/proc', pidOf(dataDir))).uid : undefined;
  await child.stop();
  return { ...said, log: child.log, serverUid };
}

/** Number of the server's process, as text. */
function pidOf(dataDir: string): string {
  return readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0] ?? '';
}

/** A folder of programs with nothing that changes identities but those named. */
function pathWith(...programs: string[]): string {
  const path = join(home, 'bin');
  mkdirSync(path);
  for (const name of programs) {
    const found = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(found, join(path, name));
  }
  return path;
}

describe('an ordinary user', () => {
  asNobody('runs it as themself, in a home that is closed to all others (needs root, to become one)', async () => {
    chmodSync(home, 0o700);
    chownSync(home, NOBODY.uid, NOBODY.gid);
    expect(await run(NOBODY)).toMatchObject({ started: true, createdNow: true, serverUid: NOBODY.uid });
    expect(await run(NOBODY)).toMatchObject({ started: true, createdNow: false });
  });

  asNobody('names the owner of the data where root was first (needs root)', async () => {
    chmodSync(home, 0o777);
    await run();
    expect(await run(NOBODY)).toMatchObject({
      error: 'EmbeddedPostgresError',
      message: expect.stringMatching(
        /^This user cannot write to the data folder .* \(EACCES\): start Herald as the user who did before/,
      ),
    });
    chownSync(join(home, '.data'), NOBODY.uid, NOBODY.gid);
    chownSync(join(home, '.data/postgres'), 54_321, 54_321);
    expect(await run(NOBODY)).toMatchObject({
      error: 'EmbeddedPostgresError',
      message: expect.stringMatching(/belongs to another user \(uid \d+\), who started Herald here first/),
    });
  });

  inNamespace('may be a number without a name, as in a container (needs root and user namespaces)', async () => {
    const nameless = { uid: 54_321, gid: 54_321 };
    chownSync(home, nameless.uid, nameless.gid);
    expect(await run(nameless)).toMatchObject({ started: true, serverUid: nameless.uid });
  });
});

describe('root', () => {
  asRoot('runs it as another user, who owns nothing else of the data folder (needs root)', async () => {
    const said = await run();
    expect(said).toMatchObject({ started: true, createdNow: true });
    expect(said.serverUid).not.toBe(0);
    expect(statSync(join(home, '.data/postgres')).uid).toBe(said.serverUid);
    expect(statSync(join(home, '.data')).uid).toBe(0);
  });

  asNobody('continues as the user who was first, who can then go on (needs root)', async () => {
    chownSync(home, NOBODY.uid, NOBODY.gid);
    await run(NOBODY);
    expect(await run()).toMatchObject({ started: true, createdNow: false, serverUid: NOBODY.uid });
    expect(await run(NOBODY)).toMatchObject({ started: true, createdNow: false });
  });

  describe('in a home closed to all others', () => {
    let clone = '';
    beforeEach(() => {
      clone = join(home, 'closed/herald');
      makeClone(clone);
      chmodSync(join(home, 'closed'), 0o700);
    });

    inNamespace('runs it in a user namespace, without a privilege (needs root and user namespaces)', async () => {
      const dataDir = join(clone, '.data');
      expect(await run({ clone, dataDir })).toMatchObject({ started: true, serverUid: 0 });
      const again = await run({ clone, dataDir });
      expect(again).toMatchObject({ started: true, createdNow: false });
      expect(again.log).toContain('in a user namespace');
    });

    withAccess('runs it as another user where namespaces are forbidden (needs root and setpriv)', async () => {
      const dataDir = join(clone, '.data');
      const path = pathWith('setpriv');
      const said = await run({ clone, dataDir, path });
      expect(said).toMatchObject({ started: true, createdNow: true, serverUid: NOBODY.uid });
      const again = await run({ clone, dataDir, path });
      expect(again).toMatchObject({ started: true, createdNow: false, url: said.url });
    });

    withAccess(
      'continues a database that a link leads to, as earlier versions made (needs root and setpriv)',
      async () => {
        const dataDir = join(clone, '.data');
        const { url } = await run({ clone, dataDir });
        renameSync(join(dataDir, 'postgres'), join(home, 'elsewhere'));
        symlinkSync(join(home, 'elsewhere'), join(dataDir, 'postgres'));
        expect(await run({ clone, dataDir, path: pathWith('setpriv') })).toMatchObject({
          started: true,
          createdNow: false,
          url,
        });
      },
    );

    asRoot('goes another way with the same data when the first is closed (needs root)', async () => {
      const dataDir = join(clone, '.data');
      chmodSync(join(home, 'closed'), 0o755);
      const first = await run({ clone, dataDir, path: pathWith() });
      expect(first.serverUid).not.toBe(0);
      if (!mayUnshare) return;
      chmodSync(join(home, 'closed'), 0o700);
      expect(await run({ clone, dataDir })).toMatchObject({
        started: true,
        createdNow: false,
        serverUid: 0,
        url: first.url,
      });
    });

    asRoot('reports what was tried, and what to do, where nothing works (needs root)', async () => {
      const said = await run({ clone, dataDir: join(clone, '.data'), path: pathWith() });
      expect(said.message).toMatch(
        /^The embedded PostgreSQL does not run here, so start Herald as an ordinary user, or set DATABASE_URL \(tried as user 65534: .*; in a user namespace: .*; as user 65534 with access to all folders: .*\)\.$/,
      );
      expect(readdirSync(join(clone, '.data'))).toEqual([]);
    });
  });
});

describe('the programs', () => {
  it('are fixed where install scripts did not run', async () => {
    const clone = join(home, 'herald');
    makeClone(clone, { ownFiles: true });
    const native = nativeOf(clone);
    const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    for (const { target } of links) rmSync(join(native, '..', target));
    const programs = readdirSync(join(native, 'bin'));
    for (const name of programs) chmodSync(join(native, 'bin', name), 0o644);

    expect(await run({ clone })).toMatchObject({ started: true });
    for (const { target } of links) {
      expect(lstatSync(join(native, '..', target)).isSymbolicLink()).toBe(true);
      expect(existsSync(join(native, '..', target))).toBe(true);
    }
    for (const name of programs) expect(statSync(join(native, 'bin', name)).mode & 0o111).toBe(0o111);
  });

  it('are asked for by name where they are not installed', async () => {
    const clone = join(home, 'herald');
    makeClone(clone, { withoutPostgres: true });
    expect(await run({ clone })).toMatchObject({
      error: 'EmbeddedPostgresError',
      message: expect.stringMatching(/^Set DATABASE_URL: the embedded PostgreSQL is not installed here/),
    });
  });
});
