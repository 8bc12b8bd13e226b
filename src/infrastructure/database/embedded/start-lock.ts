import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedPostgresInUseError, errorCode } from './embedded-postgres.errors.js';

/**
 * Makes sure that one process at a time starts the server of a data folder. The lock is a name in the kernel, not a
 * file: it goes with the process, however that ends.
 * @returns a function that gives the lock back
 * @throws EmbeddedPostgresInUseError where another start is under way
 */
export async function takeStartLock(dataDir: string): Promise<() => Promise<void>> {
  const name = `herald-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const address = addressOf(name);
  let server = await listen(address);
  if (server === undefined && process.platform !== 'linux' && process.platform !== 'win32') {
    // Elsewhere the name is a file, which a killed process leaves behind.
    if (!(await answers(address))) {
      await rm(address, { force: true });
      server = await listen(address);
    }
  }
  if (server === undefined) {
    throw new EmbeddedPostgresInUseError(
      `Another Herald is starting in ${dataDir} right now; use that one, or choose another DATA_DIR.`,
      undefined,
      undefined,
    );
  }
  const held = server;
  return () => new Promise((resolve) => held.close(() => resolve()));
}

function addressOf(name: string): string {
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), `${name}.sock`);
}

async function listen(path: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (errorCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen({ path, exclusive: true }, () => resolve(server));
  });
}

async function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
