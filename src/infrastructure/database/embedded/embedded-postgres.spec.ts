import { rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { Said } from '../../../../test/support/embedded-clone.js';
import { EmbeddedSite, queryOn, QUICK } from '../../../../test/support/embedded-site.js';
import { EmbeddedPostgresInUseError } from './embedded-postgres.js';
import { isAlive, processesOn } from './server.js';

const site = new EmbeddedSite();
beforeAll(() => site.prepare());
beforeEach(() => site.useMade());
afterEach(() => site.clear());
afterAll(() => site.remove());

describe('a start', () => {
  it('makes the database at first, and finds its data again later', async () => {
    site.useNew();
    const first = await site.start({ settings: {} });
    expect(first).toMatchObject({ createdNow: true });
    await queryOn(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    await expect(queryOn(first.url, 'select 1')).rejects.toThrow('ECONNREFUSED');

    const second = await site.start({ settings: {} });
    expect(second).toMatchObject({ createdNow: false, url: first.url });
    expect(await queryOn(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('gives a durable server in UTF-8 that listens on this machine only', async () => {
    const { url } = await site.start({ settings: {} });
    const names = ['fsync', 'synchronous_commit', 'full_page_writes', 'autovacuum', 'max_connections', 'max_wal_size'];
    names.push('listen_addresses', 'unix_socket_directories', 'password_encryption', 'server_encoding', 'TimeZone');
    const shown = await queryOn(
      url,
      `select name, current_setting(name) as value from unnest('{${names.join()}}'::text[]) name`,
    );
    expect(Object.fromEntries(shown.map(({ name, value }) => [name, value]))).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      autovacuum: 'on',
      max_connections: '100',
      max_wal_size: '1GB',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      password_encryption: 'scram-sha-256',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
    });
  });

  it('takes settings of the caller, and keeps a database that can be used as a template', async () => {
    const { url } = await site.start({ settings: { ...QUICK, max_connections: '300' } });
    expect(
      await queryOn(url, `select current_setting('max_connections') as max, current_setting('fsync') as fsync`),
    ).toEqual([{ max: '300', fsync: 'off' }]);
    // Its own connections are to another database.
    const admin = new URL(url);
    admin.pathname = '/postgres';
    await queryOn(admin.href, 'create database copy template herald');
  });

  it('asks for a password that only its files know', async () => {
    const { url } = await site.start();
    const wrong = new URL(url);
    wrong.password = 'guess';
    await expect(queryOn(wrong.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
    const notes = join(site.clusterPath, 'herald.json');
    expect(JSON.parse(await readFile(notes, 'utf8'))).toMatchObject({ password: new URL(url).password });
    expect(statSync(notes).mode & 0o777).toBe(0o600);
    expect(statSync(site.clusterPath).mode & 0o777).toBe(0o700);
  });

  it('takes another port where its own is taken', async () => {
    const first = await site.start();
    await first.stop();
    const stranger = await new Promise<Server>((resolve) => {
      const server = createServer().listen(first.port, '127.0.0.1', () => resolve(server));
      // Another stranger may have been quicker.
      server.once('error', () => resolve(server));
    });
    try {
      const second = await site.start();
      expect(second.port).not.toBe(first.port);
      expect(await queryOn(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      stranger.close();
    }
  });

  it('says what to do where something else lies in its place', async () => {
    const first = await site.start();
    await first.stop();
    rmSync(join(site.clusterPath, 'PG_VERSION'));
    await expect(site.start()).rejects.toThrow(/is not a PostgreSQL cluster; move it away/);
  });
});

describe('two at once', () => {
  it('refuses a second one, naming the process that has it and where it answers', async () => {
    const child = site.spawn();
    const { url } = await child.outcome();
    const refusal = await site.start().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(EmbeddedPostgresInUseError);
    expect(refusal).toMatchObject({ url, holderPid: child.pid });
    expect((refusal as Error).message).toContain(`Another Herald (process ${child.pid}) is running in ${site.dataDir}`);
    expect(await queryOn(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('lets exactly one of several first starts win', async () => {
    site.useNew();
    const outcomes = await Promise.all([1, 2, 3].map(() => site.spawn().outcome()));
    expect(outcomes.filter((said) => said.started === true)).toHaveLength(1);
    const refused = outcomes.filter((said) => said.error !== undefined);
    expect(refused.map((said) => said.error)).toEqual(Array(2).fill('EmbeddedPostgresInUseError'));
    for (const { message } of refused)
      expect(message).toMatch(/^Another Herald (\(process \d+\) )?is (starting|running) in /);
  });
});

describe('an end', () => {
  it('leaves no process when stopped, however often', async () => {
    const postgres = await site.start();
    const pid = await site.postmasterPid();
    await Promise.all([postgres.stop(), postgres.stop()]);
    expect(await isAlive(pid)).toBe(false);
    expect(await processesOn(site.clusterPath)).toEqual([]);
  });

  it('of the process without a stop takes the server along, and the next start waits for it', async () => {
    const child = site.spawn();
    await child.outcome();
    const pid = await site.postmasterPid();
    child.command('exit');
    await child.ended;
    const next = await site.start();
    expect(await queryOn(next.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await isAlive(pid)).toBe(false);
  });

  it('by Ctrl-C reaches Herald, not the server', async () => {
    const child = site.spawn({ ignoreSigint: true });
    const { url } = await child.outcome();
    child.interruptGroup();
    await child.says((said) => said.sigint === true);
    expect(await queryOn(url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await child.stop();
    expect(child.said.at(-1)).toEqual({ stopped: true });
    expect(await processesOn(site.clusterPath)).toEqual([]);
  });

  it('of the server without a stop is reported once', async () => {
    const child = site.spawn();
    await child.outcome();
    process.kill(await site.postmasterPid(), 'SIGKILL');
    const hasExited = (said: Said): boolean => said.exit !== undefined;
    expect(await child.says(hasExited)).toEqual({ exit: { code: null, signal: 'SIGKILL' } });
    await child.stop();
    expect(child.said.filter(hasExited)).toHaveLength(1);
  });
});
