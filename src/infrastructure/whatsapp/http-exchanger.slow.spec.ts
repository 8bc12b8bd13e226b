import { Deadline } from '../../common/deadline.js';
import { selfSigned } from '../../../test/support/certificates.js';
import { startDeafListener } from '../../../test/support/whatsapp/full-backlog.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { accepted } from '../../../test/support/whatsapp/raw-server.js';
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

describe('nothing was written', () => {
  it('where not even the kernel answers', async () => {
    const deaf = await startDeafListener();
    closers.push(() => deaf.stop());
    await deaf.fill();
    expect(await post(exchangerOf(`http://127.0.0.1:${deaf.port}`, IMPATIENT_TO_CONNECT))).toEqual({
      ...UNWRITTEN,
      code: 'UND_ERR_CONNECT_TIMEOUT',
    });
  });

  it('where TLS meets a plain port that says nothing', async () => {
    const server = await serve(() => {});
    const exchange = await post(exchangerOf(server.url.replace('http:', 'https:'), IMPATIENT_TO_CONNECT));
    expect(exchange).toEqual({ ...UNWRITTEN, code: 'UND_ERR_CONNECT_TIMEOUT' });
  });
});

describe('it may have been written', () => {
  it('where the kernel took the request and no process reads it', async () => {
    const deaf = await startDeafListener();
    closers.push(() => deaf.stop());
    const http = exchangerOf(`http://127.0.0.1:${deaf.port}`, { ...IMPATIENT, bodyTimeoutMs: 5_000 });
    expect(await post(http)).toEqual({
      ...WRITTEN,
      timedOut: true,
      code: 'UND_ERR_HEADERS_TIMEOUT',
    });
  });

  it('where headers drip without end', async () => {
    const server = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      const timer = setInterval(() => socket.write('x-drip: 1\r\n'), 20);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await post(exchangerOf(server.url, IMPATIENT))).toMatchObject({ ...WRITTEN, timedOut: true });
  });
});

describe('under a storm of faults', () => {
  it('ends every call, writes each at most once, and leaves nothing in flight', async () => {
    const seen = new Map<string, number>();
    const server = await serve((socket, request, index) => {
      const body = request.split('\r\n\r\n')[1] ?? '';
      seen.set(body, (seen.get(body) ?? 0) + 1);
      const react = [
        () => socket.write(accepted()),
        () => socket.resetAndDestroy(),
        () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{'),
        () => socket.write(accepted().replace('content-type', 'connection: close\r\ncontent-type')),
        () => setImmediate(() => socket.write(accepted())),
        () => socket.end(),
      ][(index * 7) % 6];
      react?.();
    });
    const http = exchangerOf(server.url, { connections: 16 });
    const exchanges = await Promise.all(
      Array.from({ length: 1_500 }, (_, i) =>
        turns(i % 97).then(() =>
          post(http, {
            body: Buffer.from(String(i)),
            notAfter: Deadline.in(i % 13 === 12 ? 20_000 : (i % 13) * 20),
          }),
        ),
      ),
    );
    const answered = exchanges.filter(({ kind }) => kind === 'answered').length;
    // One call in thirteen has all the time it needs, one has none: both ends are always there, on a slow machine too.
    expect(answered).toBeGreaterThan(20);
    expect(
      exchanges.filter((exchange) => exchange.kind === 'broken' && exchange.code === 'TOO_LATE').length,
    ).toBeGreaterThan(100);
    expect(Math.max(...seen.values())).toBe(1);
    exchanges.forEach((exchange, i) => {
      // What is said not to have been written never arrived.
      if (exchange.kind === 'broken' && !exchange.written) {
        expect(seen.has(String(i))).toBe(false);
      }
    });
    expect(http.inFlight).toBe(0);
    await http.close();
    await waitFor(() => server.openSockets === 0);
  });

  it('hundreds of bad certificates leave no socket behind', async () => {
    const server = await serve((socket) => socket.write(accepted()), selfSigned({ names: LOCAL }));
    const http = exchangerOf(server.url, { connections: 16 });
    for (let i = 0; i < 320; i += 16) {
      const exchanges = await Promise.all(Array.from({ length: 16 }, () => post(http)));
      exchanges.forEach((exchange) => expect(exchange).toMatchObject(UNWRITTEN));
    }
    expect(http.inFlight).toBe(0);
    await waitFor(() => server.openSockets === 0);
  });
});
