import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

const LISTENER = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** A port of 127.0.0.1 with a listener that never accepts. */
export interface DeafListener {
  readonly port: number;
  /** Fills the backlog, so that from now on not even the kernel completes a connection. */
  fill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a listener whose thread sleeps. Until `fill`, the kernel completes the first few connections for it. */
export async function startDeafListener(): Promise<DeafListener> {
  const worker = new Worker(LISTENER, { eval: true });
  const port = await new Promise<number>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  const fillers: Socket[] = [];
  return {
    port,
    async fill() {
      // A connection that hangs for 300 ms on the loopback is one that the kernel has let fall.
      for (let hangs = false; !hangs;) {
        const socket = connect(port, '127.0.0.1');
        socket.on('error', () => {});
        fillers.push(socket);
        hangs = await new Promise<boolean>((resolve) => {
          // What the kernel completed while this process was paused is reported between a timer and the next immediate.
          const timer = setTimeout(() => setImmediate(() => resolve(true)), 300);
          socket.once('connect', () => {
            clearTimeout(timer);
            resolve(false);
          });
        });
      }
    },
    async stop() {
      for (const socket of fillers) {
        socket.destroy();
      }
      await worker.terminate();
    },
  };
}
