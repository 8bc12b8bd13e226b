import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server of a test on 127.0.0.1. */
export class LocalServer {
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** @param port 0 takes any free one; another is one that such a server had before */
  static async start(
    receive: (request: IncomingMessage, response: ServerResponse) => unknown,
    port = 0,
  ): Promise<LocalServer> {
    const server = createServer((request, response) => void receive(request, response));
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return new LocalServer(server, (server.address() as AddressInfo).port);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Ends every connection, those of requests without an answer too. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
