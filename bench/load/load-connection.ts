import { connect, type Socket } from 'node:net';

export interface Reply {
  status: number;
  body: string;
}

const HEAD_END = '\r\n\r\n';

/**
 * One keep-alive HTTP/1.1 connection with one request at a time. It understands just what the servers measured here
 * answer (a status and a Content-Length), because every cycle it takes is one that the server under test does not get:
 * for the same requests autocannon and undici took more than twice as much.
 */
export class LoadConnection {
  private socket: Socket | null = null;
  private received = '';
  private settle: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;

  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {}

  /** Sends bytes and resolves with the answer. @throws Error when the connection breaks before it */
  async exchange(request: Buffer): Promise<Reply> {
    const socket = this.socket ?? (await this.open());
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      socket.write(request);
    });
  }

  close(): void {
    this.socket?.destroy();
    this.socket = null;
  }

  private open(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.host, port: this.port, noDelay: true });
      socket.setEncoding('latin1');
      socket.once('error', reject);
      socket.once('connect', () => {
        this.socket = socket;
        resolve(socket);
      });
      socket.on('data', (chunk: string) => this.take(chunk));
      socket.once('close', () => this.broken());
    });
  }

  private take(chunk: string): void {
    this.received = this.received === '' ? chunk : this.received + chunk;
    const headEnd = this.received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const head = this.received.slice(0, headEnd);
    const length = /\r\ncontent-length: *(\d+)/i.exec(head);
    if (length === null) {
      this.fail(new Error(`an answer without Content-Length: ${head.slice(0, 200)}`));
      return;
    }
    const end = headEnd + HEAD_END.length + Number(length[1]);
    if (this.received.length < end) return;
    const reply = { status: Number(head.slice(9, 12)), body: this.received.slice(headEnd + HEAD_END.length, end) };
    this.received = '';
    const settle = this.settle;
    this.settle = null;
    settle?.resolve(reply);
  }

  private broken(): void {
    this.socket = null;
    this.fail(new Error('the server closed the connection'));
  }

  private fail(error: Error): void {
    this.received = '';
    const settle = this.settle;
    this.settle = null;
    settle?.reject(error);
  }
}
