import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** What to do with one complete request: answer, drip, reset, or keep silent. */
export type Reaction = (socket: Socket, request: string, index: number) => void;

/** An HTTP server made by hand on 127.0.0.1, for answers that no proper server gives. */
export class RawServer {
  /** Complete requests, head and body, in the order in which they came. */
  readonly requests: string[] = [];
  connections = 0;
  port = 0;
  private readonly sockets = new Set<Socket>();
  private greeting = '';

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  static async start(react: Reaction, certificate?: { key: string; cert: string }): Promise<RawServer> {
    const onSocket = (socket: Socket): void => instance.serve(socket, react);
    const server = certificate === undefined ? createServer(onSocket) : createTlsServer(certificate, onSocket);
    const instance = new RawServer(server, certificate === undefined ? 'http' : 'https');
    // A client that refuses the certificate ends the handshake; that is its good right.
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    instance.port = (server.address() as AddressInfo).port;
    return instance;
  }

  get url(): string {
    return `${this.scheme}://127.0.0.1:${this.port}`;
  }

  get openSockets(): number {
    return this.sockets.size;
  }

  /** Says this first on every connection from now on, unasked. */
  greet(text: string): void {
    this.greeting = text;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) {
      socket.destroy();
    }
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
    });
  }

  private serve(socket: Socket, react: Reaction): void {
    this.connections += 1;
    this.sockets.add(socket);
    let received = '';
    socket.setEncoding('latin1');
    socket.setNoDelay(true);
    socket.on('error', () => {});
    if (this.greeting !== '') {
      socket.write(this.greeting);
    }
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('data', (chunk: string) => {
      received += chunk;
      for (let length = requestLength(received); length !== null; length = requestLength(received)) {
        const request = received.slice(0, length);
        received = received.slice(length);
        this.requests.push(request);
        react(socket, request, this.requests.length - 1);
      }
    });
  }
}

/** Bytes of the first request in the text; null while it is not complete. */
function requestLength(text: string): number | null {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) {
    return null;
  }
  const declared = /content-length: (\d+)/i.exec(text.slice(0, head))?.[1] ?? '0';
  const length = head + 4 + Number(declared);
  return text.length >= length ? length : null;
}

/** A whole HTTP answer. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`HTTP/1.1 ${status} Answer`, ...lines, `content-length: ${Buffer.byteLength(text)}`, '', text].join('\r\n');
}

/** What the platform answers to a send that it took. */
export function accepted(id = 'wamid.TEST'): string {
  return answer(200, {
    messaging_product: 'whatsapp',
    contacts: [{ input: '+5511999990000', wa_id: '551199990000' }],
    messages: [{ id }],
  });
}

/** The platform's error envelope. */
export function graphError(code: number, more: Record<string, unknown> = {}): { error: Record<string, unknown> } {
  return { error: { message: `(#${code}) Refused`, type: 'OAuthException', code, fbtrace_id: 'Az8trace', ...more } };
}
