import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ProxiedConnection } from './proxied-connection.js';
import type { Scope } from './scope.js';

/** How bytes pass; for connections that are open now and for new ones, until it is changed. */
export type ProxyFault =
  | { kind: 'none' }
  /** Every byte comes so much later, in both directions; as many may be on the way as want to. */
  | { kind: 'delay'; ms: number }
  /** In each direction of each connection. */
  | { kind: 'slow'; bytesPerSecond: number }
  /**
   * Nothing passes and neither side is notified. What was written meanwhile arrives once it is over, as TCP's repeats
   * do.
   */
  | { kind: 'black_hole' }
  /**
   * The target's side of every connection is gone for good and the client is not notified, as after a lost host or a
   * forgotten entry of a NAT. Connections made meanwhile are accepted and never answered.
   */
  | { kind: 'half_open' }
  /** Of each connection's answers so many more bytes pass; then it is reset. */
  | { kind: 'truncate'; bytes: number }
  /** New connections are reset at once; open ones are left alone. */
  | { kind: 'refuse' };

/**
 * What is done with bytes that a client writes: `cut` closes the connection before they pass, `lose_answer` lets them
 * pass and cuts at the first byte of the answer, which does not. A function is called when the answer begins to come, just
 * before it passes: what was asked for has taken effect then, and the client does not know.
 */
export type Verdict = 'pass' | 'cut' | 'lose_answer' | (() => void);

/** Stands between a client and a server on TCP and breaks the connection as networks do, on command. */
export class TcpProxy {
  /** Asked for every piece that a client writes; null: all pass. */
  inspect: ((bytes: Buffer) => Verdict) | null = null;
  private readonly open = new Set<ProxiedConnection>();
  private current: ProxyFault = { kind: 'none' };

  private constructor(
    private readonly server: Server,
    private target: { host: string; port: number },
  ) {}

  /** Listens on a free port of 127.0.0.1 until the scope closes. */
  static async start(scope: Scope, target: { host: string; port: number }): Promise<TcpProxy> {
    const server = createServer({ noDelay: true, allowHalfOpen: true });
    const proxy = new TcpProxy(server, target);
    server.on('connection', (client) => proxy.accept(client));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    scope.defer(() => proxy.close());
    return proxy;
  }

  /** Between callers and the server that this address names. */
  static before(scope: Scope, url: string): Promise<TcpProxy> {
    const { hostname, port } = new URL(url);
    return TcpProxy.start(scope, { host: hostname, port: Number(port) });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get fault(): ProxyFault {
    return this.current;
  }

  /** Connections that the client has not closed. */
  get connections(): number {
    return this.open.size;
  }

  /** The same address through this proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(this.port);
    return changed.href.replace(/\/$/, url.endsWith('/') ? '/' : '');
  }

  /** New connections lead to the server that this address names. */
  leadTo(url: string): void {
    const { hostname, port } = new URL(url);
    this.target = { host: hostname, port: Number(port) };
  }

  set(fault: ProxyFault): void {
    this.current = fault;
    for (const connection of this.open) connection.faultChanged();
  }

  heal(): void {
    this.set({ kind: 'none' });
  }

  /** Closes every connection on both sides (FIN); returns how many. */
  cut(): number {
    const many = this.open.size;
    for (const connection of this.open) connection.cut();
    return many;
  }

  /** Resets every connection on both sides (RST); returns how many. */
  reset(): number {
    const many = this.open.size;
    for (const connection of this.open) connection.reset();
    return many;
  }

  private accept(client: Socket): void {
    if (this.current.kind === 'refuse') {
      client.on('error', () => undefined);
      client.resetAndDestroy();
      return;
    }
    const target = this.current.kind === 'half_open' ? null : connect({ ...this.target, allowHalfOpen: true });
    target?.setNoDelay(true);
    const connection = new ProxiedConnection(client, target, {
      fault: () => this.current,
      inspect: (bytes) => this.inspect?.(bytes) ?? 'pass',
      gone: () => this.open.delete(connection),
    });
    this.open.add(connection);
    connection.faultChanged();
  }

  private async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.reset();
    await closed;
  }
}
