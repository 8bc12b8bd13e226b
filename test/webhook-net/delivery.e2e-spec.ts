import type { Socket } from 'node:net';
import { startDeafListener } from '../support/whatsapp/full-backlog.js';
import { deferred } from '../support/deferred.js';
import { waitFor } from '../support/wait-for.js';
import {
  clientFor,
  closeAll,
  closeLater,
  deliver,
  FakeResolver,
  HOST,
  NO_LIMIT,
  trusted,
  receive,
} from './delivery-stage.js';
import { RawReceiver, Receiver, Tripwire, type Answerer } from './receiver.js';

afterEach(closeAll);

async function receiveRaw(react: (socket: Socket) => void, secure = true): Promise<RawReceiver> {
  const receiver = await RawReceiver.start(react, secure ? trusted : undefined);
  closeLater(() => receiver.stop());
  return receiver;
}

/** Says these bytes as soon as a request comes, and calls `after` once they are written. */
function saying(text: string, after: (socket: Socket) => void = () => {}): (socket: Socket) => void {
  return (socket) =>
    socket.once('data', () => {
      socket.write(text, () => after(socket));
    });
}

const ok: Answerer = (response) => response.writeHead(204).end();

describe('a delivery', () => {
  it('reaches the receiver as it was asked for', async () => {
    const receiver = await receive(ok);
    const result = await deliver(clientFor(receiver.port));
    expect(result).toMatchObject({ kind: 'answered', status: 204, retryAfterMs: null });
    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        url: '/webhooks?from=herald',
        body: '{"type":"webhook.test"}',
        headers: { host: HOST, 'webhook-id': 'evt_1', 'content-length': '23', connection: 'close' },
      },
    ]);
  });

  it('goes to port 443', async () => {
    const client = clientFor(443, { httpsPort: undefined });
    const receiver = await Receiver.start(ok, trusted, 443).catch((error: NodeJS.ErrnoException) => error.code);
    if (receiver instanceof Receiver) {
      closeLater(() => receiver.stop());
      expect(await deliver(client)).toMatchObject({ kind: 'answered', status: 204 });
      expect(receiver.received[0]?.headers.host).toBe(HOST);
    } else {
      // An ordinary user may not listen there, and another process may already.
      expect(['EACCES', 'EADDRINUSE']).toContain(receiver);
    }
  });

  it('carries every byte of a large body', async () => {
    const receiver = await receive(ok);
    const body = `{"text":"${'Olá, 世界 👋'.repeat(20_000)}"}`;
    expect(await deliver(clientFor(receiver.port), { body })).toMatchObject({ status: 204 });
    expect(await deliver(clientFor(receiver.port), { body: Buffer.from(body) })).toMatchObject({ status: 204 });
    expect(receiver.received.every((received) => received.body === body)).toBe(true);
  });

  it.each([200, 201, 204, 299, 300, 301, 302, 303, 304, 307, 308, 400, 404, 410, 500, 503])(
    'reports a %d, and follows nothing',
    async (status) => {
      const receiver = await receive((response) =>
        response.writeHead(status, { location: `https://${HOST}/elsewhere` }).end(),
      );
      expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'answered', status });
      expect(receiver.received).toHaveLength(1);
    },
  );

  it.each([
    ['7', 7_000],
    ['soon', null],
  ])('reports how long to wait: %s', async (header, retryAfterMs) => {
    const receiver = await receive((response) => response.writeHead(429, { 'retry-after': header }).end());
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ status: 429, retryAfterMs });
  });

  it('asks no proxy of the environment', async () => {
    const receiver = await receive(ok);
    const wire = await Tripwire.start('127.0.0.1', 0);
    closeLater(async () => wire?.stop());
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = `http://127.0.0.1:${wire?.port}`;
    try {
      expect(await deliver(clientFor(receiver.port))).toMatchObject({ status: 204 });
    } finally {
      names.forEach((name, index) => {
        if (before[index] === undefined) delete process.env[name];
        else process.env[name] = before[index];
      });
    }
    expect(wire?.touched).toBe(0);
  });

  it('tries the next address where no server listens on the first', async () => {
    const receiver = await receive(ok);
    const client = clientFor(receiver.port, {
      resolver: new FakeResolver(() => ['127.0.0.9', '127.0.0.8', '127.0.0.1']),
      extraNetworks: ['127.0.0.0/8'],
    });
    expect(await deliver(client)).toMatchObject({ status: 204 });
  });

  it('with a header that would end its line is not sent', async () => {
    const receiver = await receive(ok);
    const headers = { 'webhook-id': 'evt_1\r\nhost: inner' };
    expect(await deliver(clientFor(receiver.port), { headers })).toMatchObject({ error: 'request_not_valid' });
    expect(receiver.received).toHaveLength(0);
  });
});

describe('an answer', () => {
  it('counts from its head on, though its body breaks off', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf';
    const receiver = await receiveRaw(saying(head, (socket) => socket.destroy()));
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('counts though its body has no end, and is cut off', async () => {
    let written = 0;
    let cutOff: Socket | undefined;
    const receiver = await receiveRaw((socket) =>
      socket.once('data', () => {
        cutOff = socket;
        socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
        const chunk = Buffer.concat([Buffer.from('4000\r\n'), Buffer.alloc(0x4000, 'x'), Buffer.from('\r\n')]);
        const more = (): void => {
          if (socket.destroyed) return;
          written += 0x4000;
          if (socket.write(chunk)) setImmediate(more);
          else socket.once('drain', more);
        };
        more();
      }),
    );
    const client = clientFor(receiver.port, { limits: NO_LIMIT });
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ kind: 'answered', status: 200 });
    const soFar = written;
    await waitFor(() => cutOff?.destroyed);
    // What lay in the buffers of two kernels, and not the endless rest.
    expect(written - soFar).toBeLessThan(64 * 1_048_576);
  });

  it('counts though its body drips, and is given up', async () => {
    let givenUp: Socket | undefined;
    const receiver = await receiveRaw((socket) =>
      socket.once('data', () => {
        givenUp = socket;
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
        const timer = setInterval(() => socket.write('x'), 20);
        socket.once('close', () => clearInterval(timer));
      }),
    );
    const client = clientFor(receiver.port, { limits: { ...NO_LIMIT, bodyMs: 200 } });
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ kind: 'answered', status: 200 });
    await waitFor(() => givenUp?.destroyed);
  });

  it('may be announced', async () => {
    const receiver = await receiveRaw(
      saying('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    );
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'answered', status: 200 });
  });

  it.each([
    ['no HTTP', 'hello, world\r\n\r\n', 'answer_is_not_http'],
    ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(17_000)}`, 'answer_headers_too_large'],
    [
      'too many headers',
      `HTTP/1.1 200 OK\r\n${'x: yyyyyyyyyyyyyyyy\r\n'.repeat(1_000)}\r\n`,
      'answer_headers_too_large',
    ],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nxx', 'answer_is_not_http'],
    [
      'an upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      'connection_closed',
    ],
  ])('that is %s is none', async (_title, text, error) => {
    const receiver = await receiveRaw(saying(text));
    expect(await deliver(clientFor(receiver.port))).toMatchObject({ kind: 'failed', error });
    await waitFor(() => receiver.open === 0);
  });

  it('that never comes is a timeout, also when announcements keep coming', async () => {
    const receiver = await receiveRaw((socket) =>
      socket.once('data', () => {
        const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 20);
        socket.once('close', () => clearInterval(timer));
      }),
    );
    const client = clientFor(receiver.port, { limits: { ...NO_LIMIT, headersMs: 200 } });
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'timeout' });
    await waitFor(() => receiver.open === 0);
  });

  it.each([
    ['closes', (socket: Socket) => socket.end(), 'connection_closed'],
    ['resets', (socket: Socket) => socket.resetAndDestroy(), 'connection_reset'],
  ])('is none where the server %s', async (_title, react, error) => {
    const receiver = await receiveRaw((socket) => socket.once('data', () => react(socket)), false);
    const client = clientFor(0, { allowPrivate: true });
    const url = `http://localhost:${receiver.port}/`;
    expect(await deliver(client, { url })).toMatchObject({ kind: 'failed', error });
  });
});

describe('no connection', () => {
  it('where no server listens', async () => {
    const receiver = await Receiver.start(ok);
    const { port } = receiver;
    await receiver.stop();
    expect(await deliver(clientFor(port))).toMatchObject({ kind: 'failed', error: 'connection_refused' });
  });

  it('where not even the kernel answers', async () => {
    const deaf = await startDeafListener();
    closeLater(() => deaf.stop());
    await deaf.fill();
    const result = await deliver(clientFor(deaf.port, { limits: { connectMs: 200 } }));
    expect(result).toMatchObject({ kind: 'failed', error: 'connect_timeout' });
  });

  it.each(['unresolvable', 'dns_timeout', 'dns_failed'])('where the name leads nowhere: %s', async (fault) => {
    const { HostUnresolved } = await import('../../src/modules/webhook/address/resolver.js');
    const resolver = new FakeResolver(() => Promise.reject(new HostUnresolved(fault as 'dns_failed')));
    expect(await deliver(clientFor(1, { resolver }))).toMatchObject({ kind: 'failed', error: fault });
  });

  it('where the resolver never answers', async () => {
    const resolver = new FakeResolver(() => new Promise(() => {}));
    const client = clientFor(1, { resolver, limits: { dnsMs: 100 } });
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'dns_timeout' });
  });

  it.each([
    ['the resolver', () => new Promise<string[]>(() => {}), 'dns_timeout'],
    ['the server', () => ['127.0.0.1'], 'timeout'],
  ])('takes no longer than allowed for all of it together: %s never answers', async (_title, answer, error) => {
    const receiver = await receiveRaw(() => {});
    const limits = { ...NO_LIMIT, totalMs: 300 };
    const client = clientFor(receiver.port, { resolver: new FakeResolver(answer), limits });
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error });
  });
});

describe('giving up', () => {
  it('before the start sends nothing', async () => {
    const receiver = await receive(ok);
    expect(await deliver(clientFor(receiver.port), { signal: AbortSignal.abort() })).toMatchObject({
      error: 'aborted',
    });
    expect(receiver.connections).toBe(0);
  });

  it('while the answer is awaited ends the connection', async () => {
    const receiver = await receiveRaw(() => {});
    const patience = new AbortController();
    const client = clientFor(receiver.port);
    const results = Array.from({ length: 20 }, () => deliver(client, { signal: patience.signal }));
    await waitFor(() => receiver.bytes > 20 * 100);
    patience.abort();
    expect(await Promise.all(results)).toEqual(Array(20).fill(expect.objectContaining({ error: 'aborted' })));
    await waitFor(() => receiver.open === 0);
    expect(client.inFlight).toBe(0);
  });

  it('close lets what is under way come to its end and takes nothing more', async () => {
    const answered = deferred();
    const receiver = await receive((response) => void answered.promise.then(() => response.writeHead(204).end()));
    const client = clientFor(receiver.port);
    const underWay = deliver(client, { endpoint: 'one' });
    await waitFor(() => receiver.received.length === 1);
    const closed = client.close();
    expect(await deliver(client)).toMatchObject({ kind: 'failed', error: 'aborted' });
    answered.resolve();
    expect(await underWay).toMatchObject({ status: 204 });
    await closed;
    await waitFor(() => receiver.sockets.size === 0);
  });
});
