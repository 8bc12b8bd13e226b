import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Webhook } from 'standardwebhooks';

/** A delivery as it came in. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** The header `webhook-id`. */
  id: string;
  /** performance.now() at its end. */
  at: number;
}

export interface Envelope {
  id: string;
  type: string;
  created_at: string;
  organization_id: string;
  data: Record<string, unknown>;
}

/** `hang` never answers. */
export type Answer = { status: number; headers?: Record<string, string>; delayMs?: number } | 'hang';

/** A customer's web server. Each endpoint of a test has a path of its own. */
export class Receiver {
  readonly received: Received[] = [];
  /** What is answered to a delivery; `nth` counts the deliveries of its event so far, from 1. */
  answer: (delivery: Received, nth: number) => Answer = () => ({ status: 204 });
  /** False: only counts, for long runs. */
  keep = true;
  /** Most deliveries that waited for their answer at once, by path. */
  readonly mostAtOnce = new Map<string, number>();
  private readonly waiting = new Map<string, number>();
  private readonly seen = new Map<string, number>();
  private readonly sockets = new Set<Socket>();

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
    server.on('request', (request, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('error', () => undefined);
      request.on('end', () => {
        const id = String(request.headers['webhook-id']);
        const body = Buffer.concat(chunks).toString();
        const delivery = { path: request.url ?? '', headers: request.headers, body, id, at: performance.now() };
        const nth = (this.seen.get(id) ?? 0) + 1;
        this.seen.set(id, nth);
        if (this.keep) this.received.push(delivery);
        this.enter(delivery.path);
        response.on('close', () => this.waiting.set(delivery.path, (this.waiting.get(delivery.path) ?? 1) - 1));
        reply(response, this.answer(delivery, nth));
      });
    });
  }

  static async start(): Promise<Receiver> {
    const server = createServer({ keepAliveTimeout: 60_000 });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Receiver(server);
  }

  /** An endpoint's address at this server. */
  url(path = '/hook'): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}${path}`;
  }

  /** Deliveries of an event, or to a path. */
  of(idOrPath: string): Received[] {
    return this.received.filter(({ id, path }) => id === idOrPath || path === idOrPath);
  }

  get isListening(): boolean {
    return this.server.listening;
  }

  /** Resolves when all that its callers had sent is read and they are gone. */
  async drained(): Promise<void> {
    await Promise.all([...this.sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  }

  private enter(path: string): void {
    const waiting = (this.waiting.get(path) ?? 0) + 1;
    this.waiting.set(path, waiting);
    this.mostAtOnce.set(path, Math.max(waiting, this.mostAtOnce.get(path) ?? 0));
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Verifies as an integrator does, with the published library. @throws Error where the signature is not good. */
export function verify(secret: string, delivery: Received): Envelope {
  return new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>) as Envelope;
}

export function verifies(secret: string, delivery: Received): boolean {
  try {
    verify(secret, delivery);
    return true;
  } catch {
    return false;
  }
}

function reply(response: ServerResponse, answer: Answer): void {
  if (answer === 'hang') return;
  const end = (): void => void response.writeHead(answer.status, answer.headers).end();
  if (answer.delayMs === undefined) end();
  else setTimeout(end, answer.delayMs);
}
