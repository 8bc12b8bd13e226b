import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { waitFor } from '../../../test/support/wait-for.js';
import type { Exchange } from './http-exchanger.js';
import { MediaHttp } from './media-http.js';

/** A body without an end, and what became of its iterator. */
function endless(): { body: AsyncIterable<Buffer>; ended: string[] } {
  const ended: string[] = [];
  const end = (how: string) => (): Promise<IteratorResult<Buffer>> => {
    ended.push(how);
    return Promise.resolve({ done: true, value: undefined });
  };
  const iterator: AsyncIterator<Buffer> = {
    next: () => Promise.resolve({ done: false, value: Buffer.alloc(65_536) }),
    return: end('returned'),
    throw: end('thrown into'),
  };
  return { body: { [Symbol.asyncIterator]: () => iterator }, ended };
}

describe('a post that breaks half way', () => {
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function post(
    body: AsyncIterable<Buffer>,
    breakOff: (socket: Socket) => void,
    idleTimeoutMs = 10_000,
  ): Promise<Exchange> {
    const server = createServer((socket) => {
      let size = 0;
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        size += chunk.length;
        if (size > 500_000) breakOff(socket);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const http = new MediaHttp({ origin, connectTimeoutMs: 10_000, idleTimeoutMs, connections: 1 });
    closers.push(
      () => http.close(),
      () => server.close(),
    );
    const headers = { 'content-length': '1000000000' };
    return http.post({ path: '/', headers, body, timeoutMs: 30_000, signal: undefined });
  }

  it.each([
    ['cut', (socket: Socket) => void socket.resetAndDestroy(), false],
    ['ended', (socket: Socket) => void socket.end(), false],
    ['no longer read', (socket: Socket) => void socket.pause(), true],
  ])('because it is %s is an answer, and no fault of the file', async (_name, breakOff, timedOut) => {
    const { body, ended } = endless();
    expect(await post(body, breakOff, timedOut ? 300 : undefined)).toMatchObject({
      kind: 'broken',
      written: true,
      timedOut,
    });
    await waitFor(() => ended.length > 0);
    expect(ended).toEqual(['returned']);
  });

  it('because its source fails throws what the source threw', async () => {
    const fault = new Error('the disk');
    const iterator = { next: () => Promise.reject(fault) };
    await expect(post({ [Symbol.asyncIterator]: () => iterator }, () => undefined)).rejects.toBe(fault);
  });
});
