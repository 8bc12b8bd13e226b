import { once } from 'node:events';
import { createServer, type AddressInfo, type LookupFunction, type Socket } from 'node:net';
import { waitFor } from '../../../test/support/wait-for.js';
import { isPlatformAddress, MediaClient, publicLookup, type UploadOutcome } from './media-client.js';
import type { LookupAddress } from 'node:dns';

/** A body without an end, and the state of its iterator. */
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

describe('an upload that breaks half way', () => {
  const closers: (() => unknown)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  async function upload(
    body: AsyncIterable<Buffer>,
    breakOff: (socket: Socket) => void,
    idleTimeoutMs = 10_000,
  ): Promise<UploadOutcome> {
    const server = createServer((socket) => {
      let size = 0;
      socket.on('error', () => undefined);
      socket.on('data', (chunk) => {
        size += chunk.length;
        if (size > 500_000) breakOff(socket);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const request = () => Promise.reject(new Error('an upload makes no other call'));
    const client = new MediaClient({ baseUrl, apiVersion: 'v26.0', idleTimeoutMs }, { request });
    closers.push(
      () => client.close(),
      () => server.close(),
    );
    const open = () => Promise.resolve(body);
    const file = { filename: 'endless.jpg', mimeType: 'image/jpeg', sizeBytes: 1_000_000_000, open };
    return client.uploadMedia({ phoneNumberId: '106540352242922', token: 'EAAtest', ...file });
  }

  it.each([
    ['cut', (socket: Socket) => void socket.resetAndDestroy(), false],
    ['ended', (socket: Socket) => void socket.end(), false],
    ['no longer read', (socket: Socket) => void socket.pause(), true],
  ])('because it is %s is an answer, and no error of the file', async (_name, breakOff, timedOut) => {
    const { body, ended } = endless();
    expect(await upload(body, breakOff, timedOut ? 300 : undefined)).toMatchObject({
      kind: 'unknown',
      written: true,
      platformMessage: timedOut
        ? 'The request was sent and no answer came in time.'
        : 'The request was sent and the connection broke.',
    });
    await waitFor(() => ended.length > 0);
    expect(ended).toEqual(['returned']);
  });

  it('because its source fails throws what the source threw', async () => {
    const error = new Error('the disk');
    const iterator = { next: () => Promise.reject(error) };
    await expect(upload({ [Symbol.asyncIterator]: () => iterator }, () => undefined)).rejects.toBe(error);
  });
});

describe('isPlatformAddress', () => {
  const BASE = 'http://127.0.0.1:3001';

  it.each([
    'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1',
    'https://LOOKASIDE.FBSBX.COM/a',
    'https://graph.facebook.com/a',
    'https://mmg.whatsapp.net/a',
    'https://scontent.xx.fbcdn.net/a',
    'https://lookaside.fbsbx.com:443/a',
    'http://127.0.0.1:3001/files/1',
  ])('takes %s', (url) => {
    expect(isPlatformAddress(new URL(url), BASE)).toBe(true);
  });

  it.each([
    'http://lookaside.fbsbx.com/a',
    'https://lookaside.fbsbx.com:8443/a',
    'https://fbsbx.com.evil.test/a',
    'https://evilfbsbx.com/a',
    'https://fbsbx.com/a',
    'https://lookaside.fbsbx.com./a',
    'https://user:pass@lookaside.fbsbx.com/a',
    'https://evil.test/?x=.fbsbx.com',
    'https://evil.test/.facebook.com',
    'https://157.240.1.1/a',
    'https://[2a03:2880::1]/a',
    'http://127.0.0.1:3002/a',
    'https://127.0.0.1:3001/a',
    'http://127.0.0.1:3001@evil.test/a',
    'http://user@127.0.0.1:3001/a',
    'http://169.254.169.254/latest',
    'ftp://lookaside.fbsbx.com/a',
    'file:///etc/passwd',
  ])('refuses %s', (url) => {
    expect(isPlatformAddress(new URL(url), BASE)).toBe(false);
  });
});

describe('publicLookup', () => {
  const found = (...addresses: string[]): LookupFunction =>
    publicLookup((_host, options, callback) => {
      const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      if (options.all === true) callback(null, all);
      else callback(null, all[0]?.address ?? '', all[0]?.family);
    });
  const all = (lookup: LookupFunction): Promise<string[] | string> =>
    new Promise((resolve) => {
      lookup('mmg.whatsapp.net', { all: true }, (error, address) => {
        resolve(error === null ? (address as LookupAddress[]).map((each) => each.address) : (error.code ?? ''));
      });
    });

  it('gives public addresses', async () => {
    expect(await all(found('157.240.1.1', '2a03:2880::1'))).toEqual(['157.240.1.1', '2a03:2880::1']);
  });

  it('leaves out those of our own network', async () => {
    expect(await all(found('10.0.0.1', '157.240.1.1', '::1'))).toEqual(['157.240.1.1']);
  });

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.31.0.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '64:ff9b::7f00:1',
    'fc00::1',
    'fe80::1',
    '2002:7f00:1::',
    '2001:db8::1',
  ])('knows no %s', async (address) => {
    expect(await all(found(address))).toBe('EPRIVATE');
  });

  it('gives a single address where one is asked for', async () => {
    const one = (lookup: LookupFunction): Promise<unknown[]> =>
      new Promise((resolve) => {
        lookup('mmg.whatsapp.net', {}, (error, address, family) => resolve([error?.code, address, family]));
      });
    expect(await one(found('157.240.1.1'))).toEqual([undefined, '157.240.1.1', 4]);
    expect((await one(found('127.0.0.1')))[0]).toBe('EPRIVATE');
  });

  it("passes the resolver's own error on", async () => {
    const lookup = publicLookup((_host, _options, callback) => {
      callback(Object.assign(new Error('none'), { code: 'ENOTFOUND' }), []);
    });
    expect(await all(lookup)).toBe('ENOTFOUND');
  });
});
