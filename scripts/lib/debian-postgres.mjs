// A PostgreSQL installed from the system's packages, for machines where the embedded one is not there.
import { spawn, execFileSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';

const ROOT = '/usr/lib/postgresql';

export async function startDebianPostgres({ dataDir, settings }) {
  const version = existsSync(ROOT) ? readdirSync(ROOT).sort((a, b) => Number(b) - Number(a))[0] : undefined;
  if (version === undefined) throw new Error('no PostgreSQL was found: `npm ci`, or `apt-get install postgresql`');
  const bin = join(ROOT, version, 'bin');
  const user = process.getuid() === 0 ? ids() : {};
  if (user.uid !== undefined) chownSync(dataDir, user.uid, user.gid);
  const data = join(dataDir, 'pg');
  const env = { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' };
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    ...user,
    env,
    cwd: dataDir,
    stdio: 'pipe',
  });
  const port = await freePort();
  const options = { ...settings, port: String(port), listen_addresses: '127.0.0.1', unix_socket_directories: '' };
  const child = spawn(
    join(bin, 'postgres'),
    ['-D', data, ...Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...user, env, cwd: dataDir, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  await new Promise((resolve, reject) => {
    let log = '';
    child.stderr.on('data', (chunk) => {
      log = (log + chunk).slice(-4_000);
      if (log.includes('ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      if (child.exitCode !== null) return;
      child.kill('SIGINT');
      await once(child, 'exit');
    },
  };
}

function ids() {
  const [, , uid, gid] = execFileSync('getent', ['passwd', 'postgres'], { encoding: 'utf8' }).split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
