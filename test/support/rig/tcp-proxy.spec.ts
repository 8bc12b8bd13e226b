import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { waitFor } from '../wait-for.js';
import { Scope } from './scope.js';
import { TcpProxy } from './tcp-proxy.js';

const { jest } = import.meta;

describe('TcpProxy', () => {
  let scope: Scope;
  let echo: Server;
  let accepted: Socket[];
  let proxy: TcpProxy;

  beforeEach(async () => {
    scope = new Scope();
    accepted = [];
    echo = createServer((socket) => {
      accepted.push(socket);
      socket.on('error', () => undefined);
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
    proxy = await TcpProxy.start(scope, { host: '127.0.0.1', port: (echo.address() as AddressInfo).port });
  });

  afterEach(async () => {
    await scope.close();
    for (const socket of accepted) socket.destroy();
    await new Promise((resolve) => echo.close(resolve));
  });

  /** A connection, everything that it was answered so far, and how it ended. */
  class Client {
    text = '';
    ended: string | null = null;
    private constructor(readonly socket: Socket) {
      socket.on('data', (bytes) => (this.text += bytes.toString()));
      socket.on('error', (error: NodeJS.ErrnoException) => (this.ended = error.code ?? 'error'));
      socket.on('close', () => (this.ended ??= 'closed'));
    }

    static async open(): Promise<Client> {
      const socket = connect(proxy.port, '127.0.0.1');
      const client = new Client(socket);
      scope.defer(() => void socket.destroy());
      await once(socket, 'connect');
      return client;
    }

    async says(text: string): Promise<void> {
      await waitFor(() => this.text === text, { what: `"${text}"` });
    }

    async ends(): Promise<string> {
      return waitFor(() => this.ended, { what: 'the end of a connection' });
    }
  }

  /** To the target and back, past the proxy. */
  async function roundTrip(): Promise<void> {
    const direct = connect((echo.address() as AddressInfo).port, '127.0.0.1');
    scope.defer(() => void direct.destroy());
    direct.write('direct');
    await once(direct, 'data');
  }

  it('passes bytes both ways and closes with either side', async () => {
    const client = await Client.open();
    client.socket.write('hello');
    await client.says('hello');
    expect(proxy.connections).toBe(1);
    client.socket.end('bye');
    await client.says('hellobye');
    expect(await client.ends()).toBe('closed');
    await waitFor(() => proxy.connections === 0, { what: 'it to be forgotten' });
  });

  describe('by the clock', () => {
    afterEach(() => void jest.useRealTimers());

    /** A connection whose time is the test's; resolves with what each socket of the proxy has read. */
    async function open() {
      const client = await Client.open();
      await waitFor(() => accepted.length === 1);
      const [connection] = proxy['open'];
      jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
      const hasRead = (who: 'proxy' | 'target' | 'proxy, of the answer', bytes: number) => {
        const sockets = {
          proxy: connection?.['client'],
          target: accepted[0],
          'proxy, of the answer': connection?.['target'],
        };
        return waitFor(() => sockets[who]?.bytesRead === bytes, { everyMs: 1, what: `${bytes} bytes for the ${who}` });
      };
      return { client, hasRead, pass: (ms: number) => jest.advanceTimersByTimeAsync(ms) };
    }

    it('delays every byte, without holding up what follows it', async () => {
      const { client, hasRead, pass } = await open();
      proxy.set({ kind: 'delay', ms: 300 });
      const letters = 'abcdefghijklmnopqrstuvwxyz';
      for (const [index, letter] of [...letters].entries()) {
        client.socket.write(letter);
        await hasRead('proxy', index + 1);
      }
      await pass(299);
      await hasRead('target', 0);
      // A timer takes a millisecond at least; one delay after the other would be 26 times 300.
      await pass(1 + letters.length);
      await hasRead('target', letters.length);
      await hasRead('proxy, of the answer', letters.length);
      await pass(299 - letters.length);
      expect(client.text).toBe('');
      await pass(1 + 2 * letters.length);
      await client.says(letters);
    });

    it('is slow', async () => {
      const { client, hasRead, pass } = await open();
      proxy.set({ kind: 'slow', bytesPerSecond: 1_000 });
      client.socket.write('x'.repeat(200));
      await hasRead('target', 20);
      await pass(100);
      await hasRead('target', 120);
      await pass(79);
      await hasRead('target', 180);
      await pass(1);
      await hasRead('target', 200);
      await waitFor(async () => {
        await pass(20);
        return client.text.length >= 200;
      });
      expect(client.text).toBe('x'.repeat(200));
    });
  });

  it('cuts, which both sides see as a normal end', async () => {
    const client = await Client.open();
    client.socket.write('a');
    await client.says('a');
    const theirs = once(accepted[0] as Socket, 'close');
    expect(proxy.cut()).toBe(1);
    expect(await client.ends()).toBe('closed');
    await theirs;
  });

  it('resets, which the client sees as an error', async () => {
    const client = await Client.open();
    client.socket.write('a');
    await client.says('a');
    expect(proxy.reset()).toBe(1);
    expect(await client.ends()).toBe('ECONNRESET');
  });

  it('swallows nothing in a black hole: it comes late', async () => {
    const client = await Client.open();
    client.socket.write('a');
    await client.says('a');
    proxy.set({ kind: 'black_hole' });
    let asked = '';
    proxy.inspect = (bytes) => {
      asked += bytes.toString();
      return 'pass';
    };
    client.socket.write('b');
    await waitFor(() => asked === 'b');
    await roundTrip();
    expect([client.text, client.ended]).toEqual(['a', null]);
    proxy.heal();
    await client.says('ab');
  });

  it('never answers on half-open connections, nor on new ones until it is over', async () => {
    const old = await Client.open();
    old.socket.write('a');
    await old.says('a');
    proxy.set({ kind: 'half_open' });
    const fresh = await Client.open();
    await waitFor(() => proxy.connections === 2, { what: 'the new one to be taken' });
    fresh.socket.write('b');
    old.socket.write('b');
    proxy.heal();
    const after = await Client.open();
    after.socket.write('c');
    await after.says('c');
    expect([old.text, old.ended, fresh.text, fresh.ended]).toEqual(['a', null, '', null]);
  });

  it('truncates answers after so many bytes', async () => {
    const client = await Client.open();
    proxy.set({ kind: 'truncate', bytes: 3 });
    client.socket.write('abcdef');
    await client.ends();
    expect(client.text).toBe('abc');
  });

  it('refuses new connections and leaves open ones alone', async () => {
    const old = await Client.open();
    old.socket.write('a');
    await old.says('a');
    proxy.set({ kind: 'refuse' });
    const fresh = connect(proxy.port, '127.0.0.1');
    const [error] = (await once(fresh, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    old.socket.write('b');
    await old.says('ab');
  });

  it.each([
    ['cut', ''],
    ['lose_answer', 'COMMIT'],
  ] as const)('inspects what clients write: %s', async (verdict, arrived) => {
    let seen = '';
    echo.on('connection', (socket: Socket) => socket.on('data', (bytes: Buffer) => (seen += bytes.toString())));
    proxy.inspect = (bytes) => (bytes.includes('COMMIT') ? verdict : 'pass');
    const client = await Client.open();
    client.socket.write('COMMIT');
    await client.ends();
    expect([client.text, seen]).toEqual(['', arrived]);
  });

  it('reports when an answer comes', async () => {
    let answered = 0;
    proxy.inspect = (bytes) => (bytes.includes('COMMIT') ? () => answered++ : 'pass');
    const client = await Client.open();
    client.socket.write('BEGIN');
    await client.says('BEGIN');
    expect(answered).toBe(0);
    client.socket.write('COMMIT');
    await client.says('BEGINCOMMIT');
    expect(answered).toBe(1);
  });

  it('names the same address through itself', () => {
    const through = `127.0.0.1:${proxy.port}`;
    expect(proxy.through('postgres://me:secret@db.test:5432/herald?a=b')).toBe(
      `postgres://me:secret@${through}/herald?a=b`,
    );
    expect(proxy.through('http://127.0.0.1:1')).toBe(`http://${through}`);
  });
});
