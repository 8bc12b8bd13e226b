import { createServer } from 'node:net';

/** Below those that a system gives to outgoing connections: one of them could take the port before it is used. */
const MIN_PORT = 10_000;
/** Each process has ports of its own: one that is given out and not bound yet is given to no other. */
const RANGES = 100;
const IN_RANGE = 200;
let given = 0;

/** A port of 127.0.0.1 without a listener. This process gets it again only after 199 others. */
export async function freePort(): Promise<number> {
  const from = MIN_PORT + (process.pid % RANGES) * IN_RANGE;
  for (let tried = 0; tried < IN_RANGE; tried++) {
    const port = from + (given++ % IN_RANGE);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${from} to ${from + IN_RANGE - 1}`);
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
