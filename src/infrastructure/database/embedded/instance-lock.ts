import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { errorCode } from './embedded-postgres.errors.js';

/** A process that is alive answers at once, unless it is very busy. */
const ANSWER_WITHIN_MS = 10_000;

/** What the process that has the lock says of itself; empty where it does not answer. */
export interface Holder {
  pid?: number;
  /** Of its server, once that is ready. */
  port?: number;
}

/**
 * Makes sure that one process at a time has the server of a data folder. The lock is a name in the kernel, not a file:
 * it ends with the process, however that ends. A process that connects to it is answered who has it.
 */
export class InstanceLock {
  /** Set once the server is ready. */
  port: number | undefined;

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      socket.on('error', () => undefined).end(JSON.stringify({ pid: process.pid, port: this.port }));
    });
    // It does not keep the process from ending.
    server.unref();
  }

  /** Takes the lock, or returns who has it. */
  static async take(dataDir: string): Promise<InstanceLock | Holder> {
    const name = `herald-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
    const file = join(tmpdir(), `${name}.sock`);
    const address = { linux: `\0${name}`, win32: `\\\\.\\pipe\\${name}` }[process.platform as string] ?? file;
    for (;;) {
      const server = await listen(address);
      if (server !== undefined) return new InstanceLock(server);
      const holder = await ask(address);
      if (holder !== undefined) return holder;
      // Its holder has ended. Where the name is a file, that is left behind.
      if (address === file) await rm(file, { force: true });
    }
  }

  async release(): Promise<void> {
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Undefined where the address is taken. */
async function listen(path: string): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (errorCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)));
    server.listen({ path, exclusive: true }, () => resolve(server));
  });
}

/** Undefined where no process listens any more. */
async function ask(path: string): Promise<Holder | undefined> {
  try {
    const socket = connect(path);
    socket.setTimeout(ANSWER_WITHIN_MS, () => socket.destroy());
    return JSON.parse(await text(socket)) as Holder;
  } catch (error) {
    return ['ECONNREFUSED', 'ENOENT'].includes(errorCode(error) ?? '') ? undefined : {};
  }
}
