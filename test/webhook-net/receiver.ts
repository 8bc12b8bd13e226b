import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Credentials } from '../support/certificates.js';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Number of the connection that it came on, counted from 1. */
  readonly connection: number;
}

export type Answerer = (response: ServerResponse, received: Received) => void;

/** Answers nothing before so many requests have come, and then all of them. */
export function onceThereAre(count: number): Answerer {
  const held: Parameters<Answerer>[0][] = [];
  return (response) => {
    held.push(response);
    if (held.length >= count) for (const each of held.splice(0)) each.writeHead(200).end();
  };
}

/** A webhook receiver on 127.0.0.1: HTTPS with credentials, else HTTP. */
export class Receiver {
  readonly received: Received[] = [];
  connections = 0;
  readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(answer: Answerer, credentials?: Credentials, port = 0): Promise<Receiver> {
    const numbers = new WeakMap<Socket, number>();
    const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
      const chunks: Buffer[] = [];
      request.on('error', () => {});
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = '', url = '', headers } = request;
        const body = Buffer.concat(chunks).toString('utf8');
        const received = { method, url, headers, body, connection: numbers.get(request.socket) ?? 0 };
        receiver.received.push(received);
        answer(response, received);
      });
    };
    const server = credentials === undefined ? createHttpServer(onRequest) : createHttpsServer(credentials, onRequest);
    const receiver = new Receiver(server);
    server.keepAliveTimeout = 30_000;
    server.on('tlsClientError', () => {});
    server.on(credentials === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
      receiver.connections += 1;
      numbers.set(socket, receiver.connections);
      receiver.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => receiver.sockets.delete(socket));
    });
    await listen(server, '127.0.0.1', port);
    return receiver;
  }

  get port(): number {
    return portOf(this.server);
  }

  async stop(): Promise<void> {
    await stop(this.server, this.sockets);
  }
}

/** A server made by hand, for whatever no HTTP server says. `react` gets every connection, for TLS after its handshake. */
export class RawReceiver {
  connections = 0;
  /** Bytes of requests: of what comes after the handshake, for TLS. */
  bytes = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {}

  static async start(react: (socket: Socket) => void, credentials?: Credentials, port = 0): Promise<RawReceiver> {
    const onSocket = (socket: Socket): void => {
      receiver.sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => receiver.sockets.delete(socket));
      socket.on('data', (chunk: Buffer) => {
        receiver.bytes += chunk.length;
      });
      react(socket);
    };
    const server = credentials === undefined ? createTcpServer(onSocket) : createTlsServer(credentials, onSocket);
    const receiver = new RawReceiver(server);
    server.on('connection', () => {
      receiver.connections += 1;
    });
    server.on('tlsClientError', () => {});
    await listen(server, '127.0.0.1', port);
    return receiver;
  }

  /** Sockets open now. */
  get open(): number {
    return this.sockets.size;
  }

  get port(): number {
    return portOf(this.server);
  }

  async stop(): Promise<void> {
    await stop(this.server, this.sockets);
  }
}

/** Listens where no connection may ever arrive, and counts those that do. */
export class Tripwire {
  touched = 0;

  private constructor(
    private readonly server: Server,
    readonly address: string,
  ) {}

  /** On this very address and port; null where the machine has no such address. */
  static async start(address: string, port: number): Promise<Tripwire | null> {
    const server = createTcpServer((socket) => {
      tripwire.touched += 1;
      socket.destroy();
    });
    const tripwire = new Tripwire(server, address);
    try {
      await listen(server, address, port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') throw error;
      return null;
    }
    return tripwire;
  }

  get port(): number {
    return portOf(this.server);
  }

  async stop(): Promise<void> {
    await stop(this.server, new Set());
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1_024 }, resolve);
  });
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function stop(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) {
    socket.destroy();
  }
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}
