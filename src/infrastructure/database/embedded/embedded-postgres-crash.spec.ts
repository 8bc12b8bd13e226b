import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedSite, queryOn } from '../../../../test/support/embedded-site.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { isAlive, processesOn } from './server.js';

const site = new EmbeddedSite();
beforeAll(() => site.prepare());
beforeEach(() => site.useMade());
afterEach(() => site.clear());
afterAll(() => site.remove());

// Elsewhere the system does not report which processes work on a folder, and PostgreSQL decides by itself.
const onLinux = process.platform === 'linux' ? it : it.skip;

describe('after kill -9', () => {
  it('of Herald the next start stops its server, and has its data at the same address', async () => {
    const child = site.spawn();
    const { url } = await child.outcome();
    await queryOn(url, 'create table kept as select 42 as answer');
    const pid = await site.postmasterPid();
    await child.kill();
    expect(await isAlive(pid)).toBe(true);

    const next = await site.start();
    expect(next).toMatchObject({ url, createdNow: false });
    expect(await isAlive(pid)).toBe(false);
    expect(await queryOn(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await site.spawn().outcome()).toMatchObject({ error: 'EmbeddedPostgresInUseError' });
  });

  onLinux('of the server, a child that works on is ended and nothing committed is lost', async () => {
    const child = site.spawn({ settings: {} });
    const { url } = await child.outcome();
    await queryOn(url, 'create table kept as select 42 as answer');
    const busy = queryOn(url, 'do $$ begin loop end loop; end $$').catch(() => undefined);
    const isBusy = async (): Promise<boolean> =>
      (await queryOn(url, `select 1 from pg_stat_activity where query like 'do $$%' and state = 'active'`)).length ===
      1;
    await waitFor(isBusy, { what: 'a busy connection' });
    process.kill(await site.postmasterPid(), 'SIGKILL');
    await child.kill();
    const orphans = await processesOn(site.clusterPath);
    expect(orphans.length).toBeGreaterThan(0);

    const next = await site.start();
    await busy;
    for (const pid of orphans) expect(await isAlive(pid)).toBe(false);
    expect(await queryOn(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('of both at once, the next start succeeds', async () => {
    const child = site.spawn({ settings: {} });
    const { url } = await child.outcome();
    await queryOn(url, 'create table kept as select 42 as answer');
    process.kill(await site.postmasterPid(), 'SIGKILL');
    await child.kill();
    const next = await site.start();
    expect(await queryOn(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it.each<[string, () => boolean]>([
    ['as it tries the programs', () => filesOf(site.dataDir).some((name) => name.startsWith('postgres.try-'))],
    ['as it begins with the files', () => filesOf(site.dataDir).some((name) => name.startsWith('postgres.new-'))],
    ['as it has made the files', () => existsSync(site.clusterPath)],
    ['as the server starts', () => existsSync(join(site.clusterPath, 'postmaster.pid'))],
  ])('of Herald in its first start, %s, the next start succeeds', async (_when, isThere) => {
    site.useNew();
    const child = site.spawn();
    await waitFor(isThere, { everyMs: 1 });
    await child.kill();
    const next = await site.start();
    expect(await queryOn(next.url, 'select current_database() as name')).toEqual([{ name: 'herald' }]);
  });

  const pidFile = (pid: number): string => `${pid}\n/elsewhere\n1700000000\n5432\n\n127.0.0.1\n  5432 77\nready   \n`;
  onLinux.each([
    ['that names no process', (): string | Promise<string> => pidFile(2_000_000_000)],
    ['whose number is another process by now', () => pidFile(process.pid)],
    ['whose process has ended and was not collected', async () => pidFile(await uncollected())],
    ['that is empty', () => ''],
  ])('of the machine, a postmaster.pid %s is no obstacle', async (_, contents) => {
    const { uid, gid } = statSync(site.clusterPath);
    const file = join(site.clusterPath, 'postmaster.pid');
    writeFileSync(file, await contents(), { mode: 0o600 });
    if (process.getuid?.() === 0) chownSync(file, uid, gid);
    expect(await site.start()).toMatchObject({ createdNow: false });
  });
});

const filesOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : []);

const parents: ChildProcess[] = [];
afterEach(() => {
  for (const parent of parents.splice(0)) parent.kill('SIGKILL');
});

/** Number of a process that has ended while its parent does not care, as in a container without an init. */
function uncollected(): Promise<number> {
  const file = join(site.root, `pid-${parents.length}`);
  // The shell's place is taken by sleep, which waits for no child; the child ends after that.
  const child = `sh -c 'until grep -q sleep "/proc/$PPID/comm"; do :; done'`;
  parents.push(spawn('sh', ['-c', `${child} & echo $! > "$1"; exec sleep 60`, 'sh', file], { stdio: 'ignore' }));
  const ended = (): number | null => {
    const pid = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    return pid !== '' && / Z /.test(readFileSync(join('/proc', pid, 'stat'), 'utf8')) ? Number(pid) : null;
  };
  return waitFor(ended, { what: 'the end of the child' });
}
