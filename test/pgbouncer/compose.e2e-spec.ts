import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { parseYaml } from '@redocly/openapi-core';
import pg from 'pg';
import { freePort } from '../support/rig/free-port.js';
import { deployed, hasPgBouncer } from '../support/rig/pgbouncer.js';
import { hasRedis } from '../support/rig/redis.js';
import { Scope } from '../support/rig/scope.js';
import { requireDatabase } from '../../src/bootstrap/database.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { readProjectFile } from '../support/project-files.js';
import { createTestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

interface Service {
  command: string[];
  healthcheck: { test: string[] };
}

const run = promisify(execFile);
const { services } = parseYaml(readProjectFile('compose.yaml')) as { services: Record<string, Service | undefined> };
const scope = new Scope();

afterAll(() => scope.close());

function service(name: string): Service {
  const found = services[name];
  if (found === undefined) throw new Error(`compose.yaml has no service ${name}`);
  return found;
}

/** Starts the command of a service, of which texts are exchanged for this machine's. */
function start(
  name: string,
  changes: readonly (readonly [string, string])[],
  env: Record<string, string>,
): ChildProcess {
  const words = service(name).command.map((word) =>
    changes.reduce((text, [from, to]) => text.replaceAll(from, to), word.replaceAll('$$', '$')),
  );
  const [program = '', ...args] = words;
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' });
  scope.defer(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  return child;
}

/** Runs the health check, on this machine's port, until it passes. */
function healthy(
  name: string,
  changed: (words: string[]) => string[],
  env: Record<string, string> = {},
): Promise<true> {
  const [, ...words] = service(name).healthcheck.test;
  const [program = '', ...args] = changed(words);
  const passes = (): Promise<boolean> =>
    run(program, args, { env: { PATH: process.env.PATH, ...env } }).then(
      () => true,
      () => false,
    );
  return waitFor(passes, { what: `the health check of ${name}` });
}

const redis = (await hasRedis()) ? it : it.skip;
const pgbouncer = (await hasPgBouncer()) ? it : it.skip;

redis('the command of redis starts, and its health check passes', async () => {
  const port = String(await freePort());
  const env = { REDISCLI_AUTH: 'of-the-test' };
  start('redis', [['redis-server ', `redis-server --port ${port} --bind 127.0.0.1 `]], env);
  await healthy('redis', ([program = '', ...args]) => [program, '-e', '-p', port, ...args], env);
  // It holds nothing that is not in PostgreSQL, and must forget nothing of what it holds.
  const { stdout } = await run('redis-cli', ['-p', port, 'config', 'get', 'maxmemory-policy'], {
    env: { PATH: process.env.PATH, ...env },
  });
  expect(stdout).toContain('noeviction');
});

pgbouncer('the command of pgbouncer starts, its health check passes, and Herald may use it', async () => {
  const stored = await createTestDatabase();
  scope.defer(() => stored.drop());
  const { file, users, port } = await deployed(scope, stored.url);
  // In its container it is no root, who may not run it.
  const asNobody = [
    ['exec pgbouncer', 'exec pgbouncer --user nobody'],
    ['umask 077', 'umask 022'],
  ] as const;
  const here = [
    ['/tmp/userlist.txt', users],
    ['/etc/pgbouncer/herald.ini', file],
  ] as const;
  const { password } = new URL(stored.url);
  start('pgbouncer', [...here, ...(process.getuid?.() === 0 ? asNobody : [])], {
    DATABASE_PASSWORD: decodeURIComponent(password),
  });
  await healthy('pgbouncer', (words) => words.map((word) => word.replace('6432', String(port))));
  const client = new pg.Client({ connectionString: stored.url });
  await client.connect();
  const limits = readProjectFile('deploy/postgres/herald.sh').matchAll(/^ALTER ROLE herald (SET .*);$/gm);
  for (const [, limit] of limits)
    await client.query(`alter database ${new URL(stored.url).pathname.slice(1)} ${limit}`);
  await client.end();
  const pooled = Object.assign(new URL(stored.url), { port: String(port) });
  const env = { NODE_ENV: 'test', DATABASE_URL: pooled.href, DATABASE_DIRECT_URL: stored.url };
  const { database } = loadConfig({ env, persistSecrets: false });
  await requireDatabase(database);
  expect(database).toMatchObject({ pooling: 'transaction', directPooling: 'none' });
});

it('PostgreSQL knows every setting of its command, and its health check passes', async () => {
  const { hostname, port, username } = new URL(process.env.TEST_DATABASE_URL ?? '');
  const settings = service('postgres').command.filter((word) => word.includes('='));
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
  await client.connect();
  const names = settings.map((setting) => setting.split('=')[0]);
  const { rows } = await client.query('select name from pg_settings where name = any($1)', [names]);
  await client.end();
  expect(rows).toHaveLength(settings.length);
  const here = (word: string): string => (word === '127.0.0.1' ? hostname : word === 'herald' ? username : word);
  if (await run('pg_isready', ['--version']).catch(() => null)) {
    await healthy('postgres', ([program = '', ...args]) => [program, '-p', port, ...args.map(here)]);
  }
});
