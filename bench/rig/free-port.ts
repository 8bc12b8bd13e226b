import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that a system gives to outgoing connections: one of them could take the port before it is used. */
const LOWEST = 10_000;
const COUNT = 10_000;

/** A port of 127.0.0.1 that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + randomInt(COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen(port, '127.0.0.1', () => void server.close(() => resolve(true)));
  });
}
