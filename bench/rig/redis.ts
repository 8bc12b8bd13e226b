import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { temporaryFolder } from './folder.js';
import { freePort } from './free-port.js';
import type { Scope } from './scope.js';

const run = promisify(execFile);

/** Whether `redis-server` is installed. */
export async function hasRedis(): Promise<boolean> {
  try {
    await run('redis-server', ['--version']);
    return true;
  } catch {
    return false;
  }
}

/** A Redis with the settings that BullMQ asks for; returns its URL. It is stopped when the scope closes. */
export async function startRedis(scope: Scope): Promise<string> {
  const port = await freePort();
  const dir = temporaryFolder(scope, 'bench-redis');
  const settings = { bind: '127.0.0.1', port, dir, save: '', appendonly: 'yes', 'maxmemory-policy': 'noeviction' };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const server = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(server, 'exit');
  scope.defer(async () => {
    if (server.exitCode === null) server.kill('SIGTERM');
    await ended;
  });
  for await (const chunk of server.stdout) {
    if (String(chunk).includes('Ready to accept connections')) break;
  }
  return `redis://127.0.0.1:${port}`;
}
