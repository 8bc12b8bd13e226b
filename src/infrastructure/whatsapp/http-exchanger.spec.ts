import { Deadline } from '../../common/deadline.js';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';
import { selfSigned } from '../../../test/support/certificates.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { accepted, RawServer, type Reaction } from '../../../test/support/whatsapp/raw-server.js';
import {
  closers,
  serve,
  exchangerOf,
  post,
  turns,
  LOCAL,
  IMPATIENT_TO_CONNECT,
  IMPATIENT,
  WRITTEN,
  UNWRITTEN,
} from '../../../test/support/fixtures/http-exchanger.js';
import { HttpExchanger } from './http-exchanger.js';

function bodiesOf(server: RawServer): string[] {
  return server.requests.map((request) => request.split('\r\n\r\n')[1] ?? '');
}

/** What came after all: of an exchanger with one socket, what it wrote again would come before this last request. */
async function allBodies(http: HttpExchanger, server: RawServer): Promise<string[]> {
  await post(http, { body: Buffer.from('last') });
  await waitFor(() => bodiesOf(server).includes('last'));
  return bodiesOf(server);
}

describe('nothing was written', () => {
  it('where no server listens', async () => {
    const server = await serve(() => {});
    await server.stop();
    expect(await post(exchangerOf(server.url))).toEqual({ ...UNWRITTEN, code: 'ECONNREFUSED' });
  });

  it('where the name is unknown', async () => {
    const lookup: LookupFunction = (hostname, _options, callback) => {
      callback(Object.assign(new Error(`no ${hostname}`), { code: 'ENOTFOUND' }), []);
    };
    expect(await post(exchangerOf('http://graph.invalid', { lookup }))).toEqual({ ...UNWRITTEN, code: 'ENOTFOUND' });
  });

  it('where the name is asked for once, however many wait for it', async () => {
    const asked: string[] = [];
    const lookup: LookupFunction = (hostname, _options, callback) => {
      asked.push(hostname);
      setImmediate(() => callback(Object.assign(new Error('no'), { code: 'EAI_AGAIN' }), []));
    };
    const http = exchangerOf('http://graph.invalid', { lookup });
    const exchanges = await Promise.all(Array.from({ length: 8 }, () => post(http)));
    exchanges.forEach((exchange) => expect(exchange).toEqual({ ...UNWRITTEN, code: 'EAI_AGAIN' }));
    expect(asked).toEqual(['graph.invalid']);
  });

  it('where the name server hangs', async () => {
    const http = exchangerOf('http://graph.invalid', { ...IMPATIENT_TO_CONNECT, lookup: () => {} });
    expect(await post(http)).toEqual({ ...UNWRITTEN, code: 'UND_ERR_CONNECT_TIMEOUT' });
  });

  it('where TLS meets a plain port that talks back', async () => {
    const server = await serve(() => {});
    server.greet('220 ready\r\n');
    const exchange = await post(exchangerOf(server.url.replace('http:', 'https:')));
    expect(exchange).toMatchObject(UNWRITTEN);
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['signed by itself', selfSigned({ names: LOCAL }), false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired', selfSigned({ names: LOCAL, fromHours: -48, untilHours: -1 }), true, 'CERT_HAS_EXPIRED'],
    ['of another host', selfSigned({ names: ['elsewhere.test'] }), true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('where the certificate is %s', async (_name, certificate, trusted, code) => {
    const server = await serve((socket) => socket.write(accepted()), certificate);
    const http = exchangerOf(server.url, { ca: trusted ? certificate.cert : undefined });
    expect(await post(http)).toEqual({ ...UNWRITTEN, code });
    expect(server.requests).toHaveLength(0);
  });
});

describe('over TLS', () => {
  it('a trusted certificate does', async () => {
    const certificate = selfSigned({ names: LOCAL });
    const server = await serve((socket) => socket.write(accepted()), certificate);
    expect(await post(exchangerOf(server.url, { ca: certificate.cert }))).toMatchObject({
      kind: 'answered',
      status: 200,
    });
  });
});

describe('it may have been written', () => {
  it('where the answer does not come in time', async () => {
    const server = await serve(() => {});
    expect(await post(exchangerOf(server.url, IMPATIENT))).toMatchObject({ ...WRITTEN, timedOut: true });
    await waitFor(() => server.requests.length > 0);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, Reaction]>([
    ['resets after reading', (socket) => socket.resetAndDestroy()],
    ['closes after reading', (socket) => socket.end()],
    ['breaks off in the status line', (socket) => socket.end('HTTP/1.1 2')],
    ['breaks off in the headers', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')],
    ['breaks off after an early hint', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n')],
  ])('where the server %s', async (_name, react) => {
    const server = await serve(react);
    const http = exchangerOf(server.url, { connections: 1 });
    expect(await post(http)).toMatchObject({ ...WRITTEN, timedOut: false });
    expect(await allBodies(http, server)).toEqual(['{"to":"+5511"}', 'last']);
  });
});

describe('a status that came', () => {
  it('is kept where the body breaks off', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 400 Bad\r\ncontent-length: 100\r\n\r\n{"error"', () => socket.resetAndDestroy());
    });
    expect(await post(exchangerOf(server.url))).toMatchObject({ kind: 'answered', status: 400 });
  });

  it('is kept where the body drips without end', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const http = exchangerOf(server.url, { headersTimeoutMs: 1_000, bodyTimeoutMs: 300 });
    // The body's length would end it after half an hour only.
    expect(await post(http)).toMatchObject({ kind: 'answered', status: 200 });
  });
});

describe('a kept connection that the server closes', () => {
  it('while it is idle is not used again', async () => {
    let close = (): void => undefined;
    const server = await serve((socket) => {
      socket.write(accepted());
      close = () => socket.end();
    });
    const http = exchangerOf(server.url);
    for (let i = 0; i < 5; i += 1) {
      expect(await post(http)).toMatchObject({ kind: 'answered' });
      close();
      await waitFor(() => server.openSockets === 0);
    }
    expect(server.requests).toHaveLength(5);
  });

  it('just as it is used again ends unknown at worst, and never sends twice', async () => {
    const server = await serve((socket) => {
      socket.write(accepted());
      void turns(2 + (server.requests.length % 5)).then(() => socket.resetAndDestroy());
    });
    const http = exchangerOf(server.url);
    const rounds = 300;
    const seen = { answered: 0, unwritten: 0, doubtful: 0 };
    const unwritten = new Set<string>();
    for (let i = 0; i < rounds; i += 1) {
      const exchange = await post(http, { body: Buffer.from(`{"n":${i}}`) });
      if (exchange.kind === 'answered') {
        seen.answered += 1;
      } else if (exchange.written) {
        seen.doubtful += 1;
      } else {
        seen.unwritten += 1;
        unwritten.add(`{"n":${i}}`);
      }
      await turns(i % 4);
    }
    const bodies = bodiesOf(server);
    expect(new Set(bodies).size).toBe(bodies.length);
    expect(bodies.filter((body) => unwritten.has(body))).toEqual([]);
    expect(bodies.length).toBeGreaterThanOrEqual(seen.answered);
    expect(seen.answered).toBeGreaterThan(rounds / 2);
  });

  it('before it reads the next request is written to, and so ends unknown', async () => {
    let breakOff = (): void => undefined;
    const server = await serve((socket, _request, index) => {
      socket.write(accepted());
      if (index > 0) return;
      // Reads no more; closes when the second request has arrived in the kernel.
      socket.pause();
      breakOff = () => socket.resetAndDestroy();
    });
    const http = exchangerOf(server.url, { connections: 1 });
    expect(await post(http)).toMatchObject({ kind: 'answered' });
    let headersSent = 0;
    const onHeaders = (): void => void headersSent++;
    subscribe('undici:client:sendHeaders', onHeaders);
    const second = post(http);
    await waitFor(() => headersSent > 0);
    unsubscribe('undici:client:sendHeaders', onHeaders);
    breakOff();
    expect(await second).toMatchObject({ ...WRITTEN, timedOut: false });
    expect(await allBodies(http, server)).toEqual(['{"to":"+5511"}', 'last']);
  });
});

describe('notAfter', () => {
  it('that has passed writes nothing and opens no connection', async () => {
    const server = await serve((socket) => socket.write(accepted()));
    const http = exchangerOf(server.url);
    for (const ms of [-1, -Infinity, NaN]) {
      expect(await post(http, { notAfter: Deadline.in(ms) })).toEqual({ ...UNWRITTEN, code: 'TOO_LATE' });
    }
    expect(server.connections).toBe(0);
  });

  it('without end waits as long as it takes', async () => {
    const server = await serve((socket) => socket.write(accepted()));
    expect(await post(exchangerOf(server.url), { notAfter: Deadline.in(Infinity) })).toMatchObject({
      kind: 'answered',
    });
  });

  it('ends the wait for a socket, and the request is not written when one comes free', async () => {
    let answerFirst = (): void => undefined;
    const server = await serve((socket, _request, index) => {
      if (index === 0) answerFirst = () => socket.write(accepted());
      else socket.write(accepted());
    });
    const http = exchangerOf(server.url, { connections: 1, headersTimeoutMs: 20_000 });
    const first = post(http, { notAfter: Deadline.in(Infinity) });
    await waitFor(() => server.requests.length === 1);
    const notAfter = Deadline.in(100);
    const waiting = await Promise.all([1, 2, 3].map(() => post(http, { notAfter })));
    answerFirst();
    expect(waiting).toEqual(waiting.map(() => ({ ...UNWRITTEN, code: 'TOO_LATE' })));
    expect(await first).toMatchObject({ kind: 'answered' });
    expect(await post(http, { body: Buffer.from('last') })).toMatchObject({ kind: 'answered' });
    expect(bodiesOf(server)).toEqual(['{"to":"+5511"}', 'last']);
  });

  it('ends the wait for a connection', async () => {
    const http = exchangerOf('http://graph.invalid', { lookup: () => {}, connectTimeoutMs: 15_000 });
    const notAfter = Deadline.in(100);
    // And not with the code of the connection's own limit.
    expect(await post(http, { notAfter })).toEqual({ ...UNWRITTEN, code: 'TOO_LATE' });
  });

  // The monotonic clock stands still while a machine is suspended.
  it.each([
    ['monotonic clock', performance],
    ['time of day', Date],
  ])('is asked again in the very moment of writing, not only by a timer: the %s', async (_name, clockOf) => {
    const server = await serve((socket) => socket.write(accepted()));
    const http = exchangerOf(server.url);
    const notAfter = Deadline.in(10_000);
    // Undici announces a new socket and writes to it in one breath: no timer can fire in between.
    const clock = import.meta.jest.spyOn(clockOf as { now: () => number }, 'now');
    const over = clockOf.now() + 10_001;
    const standStill = (): void => void clock.mockReturnValue(over);
    subscribe('undici:client:connected', standStill);
    try {
      expect(await post(http, { notAfter })).toEqual({ ...UNWRITTEN, code: 'TOO_LATE' });
    } finally {
      unsubscribe('undici:client:connected', standStill);
      clock.mockRestore();
    }
    // The socket that was refused to this request serves the next.
    expect(await post(http, { body: Buffer.from('next') })).toMatchObject({ kind: 'answered' });
    expect(bodiesOf(server)).toEqual(['next']);
    expect(server.connections).toBe(1);
  });
});

describe('what the header channel of undici reports', () => {
  it('is the moment of writing, for each request its own', async () => {
    const server = await serve((socket) => socket.write(accepted()));
    const pool = new Pool(server.url, { connections: 1, pipelining: 1 });
    closers.unshift(() => pool.destroy());
    const events: string[] = [];
    const onHeaders = (message: unknown): void => {
      const { request } = message as { request: { path: string } };
      events.push(`headers ${request.path}`);
    };
    subscribe('undici:client:sendHeaders', onHeaders);
    try {
      await Promise.all(
        ['/a', '/b'].map(
          (path) =>
            new Promise<void>((resolve, reject) => {
              pool.dispatch(
                { method: 'POST', path, body: Buffer.from('x') },
                {
                  onRequestStart: () => events.push(`start ${path}`),
                  onResponseStart: () => {},
                  onResponseData: () => {},
                  onResponseEnd: () => {
                    events.push(`end ${path}`);
                    resolve();
                  },
                  onResponseError: (_controller, error) => reject(error),
                },
              );
            }),
        ),
      );
    } finally {
      unsubscribe('undici:client:sendHeaders', onHeaders);
    }
    // The gate in `onRequestStart` rests on this: the second request, waiting, is started only when it is written.
    expect(events).toEqual(['start /a', 'headers /a', 'end /a', 'start /b', 'headers /b', 'end /b']);
  });

  it('is not mixed up between two clients at work', async () => {
    const good = await serve((socket) => socket.write(accepted()));
    const bad = await serve(() => {});
    await bad.stop();
    const [toGood, toBad] = [exchangerOf(good.url), exchangerOf(bad.url)];
    const exchanges = await Promise.all(Array.from({ length: 50 }, (_, i) => post(i % 2 === 0 ? toGood : toBad)));
    exchanges.forEach((exchange, i) => expect(exchange).toMatchObject(i % 2 === 0 ? { kind: 'answered' } : UNWRITTEN));
  });
});
