import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Server } from 'node:http';
import { Drain } from '../../src/infrastructure/http/drain.js';
import { waitFor } from '../support/wait-for.js';
import { rawRequest } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';
import { Wire } from './wire.js';

let small: SmallApp;
let key: string;

async function newKeyOf(app: SmallApp): Promise<string> {
  const { id } = await app.factories.workspace();
  return (await app.factories.apiKey({ organizationId: id })).text;
}

/** What each slow client got; they are slow while the other tests run. */
let slowAnswers: Promise<{ name: string; status: number; closed: boolean }[]>;
let slowClients: [name: string, text: string, status: number][];

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
  key = await newKeyOf(small);
  const post =
    `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    'Content-Type: application/json\r\n';
  slowClients = [
    ['silence', '', 408],
    ['headers', 'GET /api/v1/things HTTP/1.1\r\nHost: x\r\n', 408],
    ['a body', `${post}Content-Length: 20\r\n\r\n{"a":`, 400],
    ['a chunk that was announced', `${post}Transfer-Encoding: chunked\r\n\r\nff\r\n{`, 400],
    ['a body for an unknown route', 'POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n', 404],
  ];
  slowAnswers = Promise.all(
    slowClients.map(async ([name, text]) => {
      const { status, isClosed: closed } = await rawRequest(small.port, text, 20_000);
      return { name, status, closed };
    }),
  );
});

afterAll(() => small.close());

describe('what is no HTTP', () => {
  it.each([
    ['garbage', 'hello\r\n\r\n', 400],
    ['no Host', 'GET /api/v1/things HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['two Hosts', 'GET /api/v1/things HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    [
      'length and chunks',
      'POST /api/v1/things HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['headers that never end', `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s is answered as everything else is', async (_name, text, status) => {
    const answer = await rawRequest(small.port, text);
    expect(answer.status).toBe(status);
    expect(answer.headers['x-herald-api-version']).toBe('v1');
    const { error } = JSON.parse(answer.body) as { error: { code: string; request_id: string; doc_url: string } };
    expect(error.code).toBe('INVALID_REQUEST');
    expect(error.request_id).toBe(answer.headers['x-request-id']);
    expect(error.doc_url).toBe(`${small.baseUrl}/docs/errors#INVALID_REQUEST`);
  });

  it('takes nothing from clients that use it', async () => {
    await rawRequest(small.port, 'hello\r\n\r\n');
    expect((await small.api.get('/things', { key })).status).toBe(200);
  });
});

describe('connections', () => {
  const good = (text: string): string[] => text.match(/HTTP\/1\.1 200/g) ?? [];
  const two = (text: string): boolean => good(text).length === 2;

  it('are kept alive', async () => {
    const text = `GET /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    const answer = await rawRequest(small.port, text + text, 10_000, two);
    expect(good(answer.text)).toHaveLength(2);
    expect(answer.headers['keep-alive']).toBe('timeout=65');
  });

  it('survive a body that a route does not read', async () => {
    const head = `GET /health/live HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`;
    const answer = await rawRequest(small.port, head + head, 10_000, two);
    expect(good(answer.text)).toHaveLength(2);
  });
});

describe('connections of refused requests', () => {
  const post = (bytes: number, body: string): string =>
    `POST /api/v1/things HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n${body}`;

  it('end where the body is still to come, which is said, and the answer is complete', async () => {
    for (const bytes of [300_000, 5_000_000]) {
      const { status, headers, body, isClosed } = await rawRequest(small.port, post(bytes, 'x'.repeat(100_000)));
      expect({ status, connection: headers.connection, isClosed }).toEqual({
        status: 413,
        connection: 'close',
        isClosed: true,
      });
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
    }
  });

  it('are closed once the body has come, also where the client does not close its side', async () => {
    const accepted = once(small.app.getHttpServer(), 'connection') as Promise<[Socket]>;
    const client = connect({ port: small.port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    const [connection] = await accepted;
    client.write(post(900_000, 'x'.repeat(100_000)));
    await once(client, 'end');
    expect(connection.destroyed).toBe(false);
    client.write('x'.repeat(800_000));
    await waitFor(() => connection.destroyed);
    client.destroy();
  });

  it('are cut off where the body has no end, and little of it is read', async () => {
    const accepted = once(small.app.getHttpServer(), 'connection') as Promise<[Socket]>;
    const client = connect({ port: small.port, host: '127.0.0.1', allowHalfOpen: true }).resume();
    client.on('error', () => undefined);
    const [connection] = await accepted;
    client.write(post(1e12, ''));
    const piece = Buffer.alloc(1_024 * 1_024, 'x');
    const sending = setInterval(() => client.writableNeedDrain || client.write(piece), 10);
    try {
      await waitFor(() => connection.destroyed, { timeoutMs: 10_000 });
      expect(connection.bytesRead).toBeLessThan(32 * piece.length);
    } finally {
      clearInterval(sending);
      client.destroy();
    }
  });

  it('are kept where the body has come', async () => {
    const { headers } = await rawRequest(small.port, post(3, 'x:y'), 10_000, (text) =>
      text.includes('INVALID_REQUEST'),
    );
    expect(headers.connection).toBe('keep-alive');
  });
});

describe('the documentation', () => {
  it('may run its own scripts and no others', async () => {
    const { status, headers, body } = await small.api.get<string>('/docs');
    expect(status).toBe(200);
    expect(body).toContain('swagger-ui-bundle.js');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).not.toMatch(/script-src|unsafe-eval/);
    expect(body).not.toMatch(/<script>[^<]/);
    for (const asset of ['/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui-init.js']) {
      expect((await small.api.get(asset)).status).toBe(200);
    }
  });
});

it('/docs/index.html leads to the page whose styles are found', async () => {
  const { status, headers } = await small.api.get<unknown>('/docs/index.html');
  expect([status, headers.get('location')]).toEqual([302, '/docs']);
});

describe('in production', () => {
  it('neither the page nor the description is served unless that is wanted; where errors lead to is', async () => {
    const env = {
      NODE_ENV: 'production',
      WHATSAPP_API_URL: 'https://127.0.0.1:9',
      WHATSAPP_APP_SECRET: randomBytes(16).toString('hex'),
      WHATSAPP_VERIFY_TOKEN: 'lighthouse',
      ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
    };
    const statuses = async (more: Record<string, string>): Promise<number[]> => {
      const app = await startSmallApp({ controllers: [ThingsController], beside: small, env: { ...env, ...more } });
      const paths = [
        '/docs',
        '/docs/swagger-ui-init.js',
        '/openapi.json',
        '/openapi.yaml',
        '/postman.json',
        '/docs/errors',
      ];
      const answers = await Promise.all(paths.map((path) => app.api.get<unknown>(path)));
      await app.close();
      return answers.map(({ status }) => status);
    };
    expect(await statuses({})).toEqual([404, 404, 404, 404, 404, 200]);
    expect(await statuses({ API_DOCS: 'true' })).toEqual([200, 200, 200, 200, 200, 200]);
  });
});

describe('health', () => {
  it('live says only that the process runs', async () => {
    const { status, body } = await small.api.get<unknown>('/health/live');
    expect([status, body]).toEqual([200, { status: 'live' }]);
  });

  it('ready reports part by part', async () => {
    const { status, body } = await small.api.get<{ status: string; parts: Record<string, { ok: boolean }> }>(
      '/health/ready',
    );
    expect(status).toBe(200);
    expect(body.status).toBe('ready');
    expect(Object.keys(body.parts).sort()).toEqual(['accepting', 'database', 'migrations', 'sweeps']);
  });

  it.each([
    ['missing', `delete from schema_migration where name like 'Tags%'`, /^missing: Tags\d+$/],
    ['edited', `update schema_migration set checksum = 'x' where name like 'Tags%'`, /by another build/],
  ])('ready is 503 while a migration is %s', async (_what, change, detail) => {
    const fresh = await startSmallApp({ controllers: [ThingsController] });
    try {
      await fresh.database.execute(change);
      const { status, body } = await fresh.api.get<{ parts: Record<string, { ok: boolean; detail?: string }> }>(
        '/health/ready',
      );
      expect(status).toBe(503);
      expect(body.parts.migrations).toEqual({ ok: false, detail: expect.stringMatching(detail) });
    } finally {
      await fresh.close();
    }
  });
});

describe('a stop', () => {
  it('lets requests under way finish, closes idle connections and takes no new ones', async () => {
    const app = await startSmallApp({ controllers: [ThingsController], beside: small });
    const ownKey = await newKeyOf(small);
    const server: Server = app.app.getHttpServer();
    const drain = app.app.get(Drain);
    const idle = connect(app.port, '127.0.0.1');
    const idleClosed = new Promise<void>((resolve) => idle.once('close', () => resolve()));
    idle.on('error', () => undefined);
    await app.api.get('/things', { key: ownKey });

    const underWay = app.api.get('/things/slow?ms=600', { key: ownKey });
    await waitFor(() => drain.inFlight === 1);
    const stopping = drain.stop(server, 5_000);
    expect(drain.stopping).toBe(true);
    await idleClosed;
    await expect(app.api.get('/things', { key: ownKey })).rejects.toThrow();
    expect((await underWay).status).toBe(200);
    expect(await stopping).toBe(0);
    await app.close();
  });

  it('answers what is still on its way with Connection: close and not ready', async () => {
    const app = await startSmallApp({ controllers: [ThingsController], beside: small });
    app.app.get(Drain).announce();
    const answer = await rawRequest(app.port, 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer.status).toBe(503);
    expect(answer.headers.connection).toBe('close');
    // Not kept alive for its 65 s.
    expect(answer.isClosed).toBe(true);
    await app.close();
  });

  it('cuts off what takes longer than its time', async () => {
    const app = await startSmallApp({ controllers: [ThingsController], beside: small });
    const ownKey = await newKeyOf(small);
    const underWay = app.api.get('/things/slow?ms=8000', { key: ownKey }).catch(() => 'cut off');
    await waitFor(() => app.app.get(Drain).inFlight === 1);
    expect(await app.app.get(Drain).stop(app.app.getHttpServer(), 200)).toBe(1);
    expect(await underWay).toBe('cut off');
    await app.close();
  });
});

describe('without the database', () => {
  it('answers 503 with Retry-After, health names the part, and all is well once it is back', async () => {
    const url = new URL(small.config.database.url ?? '');
    const wire = new Wire({ host: url.hostname, port: Number(url.port) });
    url.port = String(await wire.open());
    const app = await startSmallApp({
      controllers: [ThingsController],
      beside: small,
      env: { DATABASE_URL: url.toString() },
    });
    try {
      const fresh = await newKeyOf(small);
      await wire.cut();
      const { status, body, headers } = await app.api.get('/things', { key: fresh });
      expect([status, body.error.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(headers.get('retry-after')).toBe('1');
      const ready = await app.api.get<{ parts: Record<string, { ok: boolean }> }>('/health/ready');
      expect(ready.status).toBe(503);
      expect(ready.body.parts.database?.ok).toBe(false);
      expect((await app.api.get('/health/live')).status).toBe(200);

      await wire.open();
      await waitFor(async () => (await app.api.get('/things', { key: fresh })).status === 200);
      await waitFor(async () => (await app.api.get('/health/ready')).status === 200);
    } finally {
      await app.close();
      await wire.cut();
    }
  });
});

describe('slow clients', () => {
  it('are answered and closed within 10 s, wherever they stop', async () => {
    expect(await slowAnswers).toEqual(slowClients.map(([name, , status]) => ({ name, status, closed: true })));
    expect((await small.api.get('/things', { key })).status).toBe(200);
  });
});
