import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { waitFor } from '../support/wait-for.js';

/** A connection to a server that a test can cut and restore. */
export class Wire {
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;
  private port = 0;

  constructor(private readonly target: { host: string; port: number }) {}

  /** Opens the wire, again on the same port, which it returns. */
  async open(): Promise<number> {
    const server = createServer((socket) => this.join(socket));
    this.server = server;
    await waitFor(
      async () => {
        server.listen(this.port, '127.0.0.1');
        await once(server, 'listening');
        return true;
      },
      { what: 'the port, which another process may use for a moment' },
    );
    this.port = (server.address() as { port: number }).port;
    return this.port;
  }

  /** Breaks every connection and takes no new one. */
  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server?.close(() => resolve()) ?? resolve());
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private join(socket: Socket): void {
    const far = connect(this.target);
    for (const [one, other] of [
      [socket, far],
      [far, socket],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}
