import type { TLSSocket } from 'node:tls';
import { waitFor } from '../support/wait-for.js';
import {
  clientFor,
  closeAll,
  closeLater,
  deliver,
  FakeResolver,
  issue,
  HOST,
  trusted,
  receive,
} from './delivery-stage.js';
import { onceThereAre, RawReceiver, type Answerer, type Receiver } from './receiver.js';

afterEach(closeAll);

const ok: Answerer = (response) => response.writeHead(200).end('thanks');

const connectionsOf = (receiver: Receiver): number[] => receiver.received.map(({ connection }) => connection);

describe('a kept connection', () => {
  it('serves the deliveries of its endpoint one after the other', async () => {
    const receiver = await receive(ok);
    const client = clientFor(receiver.port);
    for (let index = 0; index < 20; index += 1) {
      expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 200 });
    }
    expect(receiver.connections).toBe(1);
    expect(receiver.received[0]?.headers.connection).toBe('keep-alive');
  });

  it('carries one delivery at a time', async () => {
    const receiver = await receive(onceThereAre(5));
    const client = clientFor(receiver.port);
    await Promise.all(Array.from({ length: 5 }, () => deliver(client, { endpoint: 'one' })));
    expect(new Set(connectionsOf(receiver)).size).toBe(5);
  });

  it('never serves another endpoint, though it has the same address', async () => {
    const receiver = await receive(ok);
    const client = clientFor(receiver.port);
    for (const endpoint of ['one', 'two', 'one', 'two', undefined, undefined]) {
      await deliver(client, { endpoint });
    }
    expect(connectionsOf(receiver)).toEqual([1, 2, 1, 2, 3, 4]);
  });

  it('never serves another host of its endpoint', async () => {
    const receiver = await receive(ok, issue([HOST, 'other.example.com']));
    const client = clientFor(receiver.port);
    await deliver(client, { endpoint: 'one' });
    await deliver(client, { endpoint: 'one', url: 'https://other.example.com/' });
    expect(connectionsOf(receiver)).toEqual([1, 2]);
  });

  it('is left alone once the name leads elsewhere', async () => {
    const receiver = await receive(ok);
    let addresses = ['127.0.0.1'];
    const client = clientFor(receiver.port, {
      resolver: new FakeResolver(() => addresses),
      extraNetworks: ['127.0.0.1/32', '127.0.0.7/32'],
    });
    await deliver(client, { endpoint: 'one' });
    addresses = ['127.0.0.7'];
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ error: 'connection_refused' });
    addresses = ['127.0.0.1', '10.0.0.1'];
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ error: 'private_address' });
    expect(receiver.received).toHaveLength(1);
  });

  it('that the server closed meanwhile is replaced', async () => {
    const receiver = await receive(ok);
    const client = clientFor(receiver.port);
    await deliver(client, { endpoint: 'one' });
    for (const socket of receiver.sockets) socket.destroy();
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 200 });
    expect(connectionsOf(receiver)).toEqual([1, 2]);
  });

  it('that the server closes over the very request is replaced once, and only a kept one', async () => {
    let requests = 0;
    const receiver = await RawReceiver.start((socket) => {
      socket.on('data', () => {
        requests += 1;
        if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
        else socket.destroy();
      });
    }, trusted);
    closeLater(() => receiver.stop());
    const client = clientFor(receiver.port);
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 200 });
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ kind: 'failed' });
    expect(requests).toBe(3);
  });

  it('is not sent a second time where the server was slow', async () => {
    let requests = 0;
    const receiver = await receive((response) => {
      requests += 1;
      if (requests === 1) response.writeHead(200).end();
    });
    const client = clientFor(receiver.port, { limits: { headersMs: 150 } });
    await deliver(client, { endpoint: 'one' });
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ error: 'timeout' });
    expect(requests).toBe(2);
  });

  it.each([
    ['connection: close', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'],
    ['keep-alive: timeout=1', 'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n'],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['an unrequested answer', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'.repeat(2)],
  ])('is closed after %s', async (_title, text) => {
    const receiver = await RawReceiver.start((socket) => socket.on('data', () => socket.write(text)), trusted);
    closeLater(() => receiver.stop());
    const client = clientFor(receiver.port);
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 200 });
    await waitFor(() => receiver.open === 0);
    expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 200 });
    expect(receiver.connections).toBe(2);
  });

  it('that is gone leaves its TLS session: the next handshake resumes it', async () => {
    const resumed: boolean[] = [];
    const receiver = await RawReceiver.start((socket) => {
      resumed.push((socket as TLSSocket).isSessionReused());
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'));
    }, trusted);
    closeLater(() => receiver.stop());
    const client = clientFor(receiver.port);
    // A session is garbage as soon as it is not in use: a collection between two deliveries may take it.
    for (let n = 0; n < 20 && !resumed.includes(true); n += 1) {
      expect(await deliver(client, { endpoint: 'one' })).toMatchObject({ status: 200 });
    }
    expect(resumed[0]).toBe(false);
    expect(resumed).toContain(true);
  });

  it('ends with the client', async () => {
    const receiver = await receive(ok);
    const client = clientFor(receiver.port);
    await Promise.all(['one', 'two', 'three'].map((endpoint) => deliver(client, { endpoint })));
    expect(receiver.sockets.size).toBe(3);
    await client.close();
    await waitFor(() => receiver.sockets.size === 0);
  });
});
