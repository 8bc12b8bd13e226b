import { rawRequest, request } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

const UUID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';

let small: SmallApp;
let key: string;

beforeAll(async () => {
  small = await startSmallApp({
    controllers: [ThingsController],
    env: { AUTH_FAILURES_PER_MINUTE: '100000', CONSOLE: 'false' },
  });
  const workspace = await small.factories.workspace({ ratePerSecond: 100_000, rateBurst: 100_000 });
  key = (await small.factories.apiKey({ organizationId: workspace.id })).text;
});

afterAll(() => small.close());

describe('addresses without a version', () => {
  it('are the same routes, marked as deprecated with a pointer to the versioned one', async () => {
    const { status, headers, body } = await small.api.get(`/api/things/${UUID}?`, { key });
    expect(status).toBe(200);
    expect(body.data.id).toBe(UUID);
    expect(headers.get('deprecation')).toMatch(/^@\d{10}$/);
    expect(headers.get('link')).toBe(
      `</api/v1/things/${UUID}>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"`,
    );
    expect(headers.get('sunset')).toBeNull();
    expect(headers.get('x-herald-api-version')).toBe('v1');
  });

  it('ask for a key and answer errors as the versioned ones do', async () => {
    const { status, headers } = await small.api.get('/api/things');
    expect(status).toBe(401);
    expect(headers.get('deprecation')).not.toBeNull();
  });

  it('are no longer than needed: versioned ones have no such header', async () => {
    const { headers } = await small.api.get('/things', { key });
    expect(headers.get('deprecation')).toBeNull();
    expect(headers.get('link')).toBeNull();
  });

  it('write nothing into the pointer that could end it', async () => {
    const { headers } = await rawRequest(small.port, request('GET /api/x>;"<y HTTP/1.1'));
    expect(headers.link).toBe(
      '</api/v1/x%3E;%22%3Cy>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"',
    );
  });
});

describe('versions that do not exist', () => {
  it.each(['/api/v0/things', '/api/v2/things', '/api/v27/things', '/api/v2', '/api/V1/things', '/api/v1.1/things'])(
    '%s is 404 before any key is looked at',
    async (path) => {
      const { status, body, headers } = await small.api.get(path);
      expect(status).toBe(404);
      expect(body.error.code).toBe('API_VERSION_NOT_SUPPORTED');
      expect(headers.get('x-herald-api-version')).toBe('v1');
    },
  );
});

describe('routes that do not exist', () => {
  it.each(['/api/v1/nothing', '/api/nothing', '/nothing', '/api', '/api/v1', '/api/v1/', `/api/v1/things/${UUID}/x`])(
    '%s is 404 before any key is looked at',
    async (path) => {
      const { status, headers, body } = await rawRequest(small.port, request(`GET ${path} HTTP/1.1`));
      expect(status).toBe(404);
      expect(JSON.parse(body).error.code).toBe('ROUTE_NOT_FOUND');
      expect(headers['x-herald-api-version']).toBe('v1');
    },
  );
});

describe('the bare address', () => {
  it('leads a browser to /docs', async () => {
    const { status, headers } = await rawRequest(small.port, request('GET / HTTP/1.1', ['Accept: text/html,*/*']));
    expect([status, headers.location]).toEqual([302, '/docs']);
  });

  it('lists all addresses for programs', async () => {
    const { status, body } = await rawRequest(small.port, request('GET / HTTP/1.1'));
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      name: 'Herald',
      api_url: `${small.baseUrl}/api/v1`,
      docs_url: `${small.baseUrl}/docs`,
    });
  });
});

describe('methods', () => {
  it.each(['PATCH', 'DELETE', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s where it is not taken is 405 with Allow, before any key is looked at',
    async (method) => {
      const { status, headers, body } = await rawRequest(small.port, request(`${method} /api/v1/things HTTP/1.1`));
      expect(status).toBe(405);
      expect(headers.allow).toBe('GET, HEAD, POST');
      expect(JSON.parse(body).error.code).toBe('METHOD_NOT_ALLOWED');
    },
  );

  it('HEAD is GET without a body, with the same guard', async () => {
    const { status, headers } = await small.api.request({ method: 'HEAD', path: '/things', key });
    expect(status).toBe(200);
    expect(headers.get('ratelimit')).not.toBeNull();
    expect((await small.api.request({ method: 'HEAD', path: '/things' })).status).toBe(401);
    for (const path of ['/things', '/nothing']) {
      const get = await small.api.get(path, { key });
      const head = await small.api.request({ method: 'HEAD', path, key });
      expect(get.headers.get('content-length')).toMatch(/^\d+$/);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    }
  });

  it('X-HTTP-Method-Override changes nothing', async () => {
    const headers = { 'x-http-method-override': 'DELETE' };
    const { status } = await small.api.post('/things', {}, { key, headers });
    expect(status).toBe(400);
  });
});

describe('other ways to write a path', () => {
  // None of these may reach a handler without a key: either the guard answers, or there is no such route.
  it.each([
    '//api/v1/things',
    '/api//v1/things',
    '/api/v1//things',
    '/api/v1/things/',
    '/api/v1/THINGS',
    '/API/v1/things',
    '/api/v1/%74hings',
    '/api/v%31/things',
    '/%61pi/v1/things',
    '/api/v1/./things',
    '/api/v1/x/../things',
    '/api/v1/x/%2e%2e/things',
    '/api/v1/things%2f',
    '/api/v1/things%00',
    '/api/v1/things;x=1',
    '/api/v1\\things',
    '/api/v1/things?key=x',
    '/api/v1/things#x',
    'http://herald.test/api/v1/things',
    'http://herald.test/api/things',
    'http://elsewhere.test//api/v1/things',
  ])('%s asks for a key or does not exist', async (target) => {
    const { status } = await rawRequest(small.port, request(`GET ${target} HTTP/1.1`));
    expect([400, 401, 404]).toContain(status);
  });

  it.each(['%', '%zz', '%ff'])('%s encodes nothing, and the answer says so', async (id) => {
    const { status, body } = await small.api.get(`/things/${id}`, { key });
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error.details).toMatchObject([{ rule: 'path', message: expect.stringContaining('percent-encoded') }]);
  });

  it('the absolute form means the same as the path alone', async () => {
    const bearer = [`Authorization: Bearer ${key}`];
    const plain = await rawRequest(small.port, request('GET http://x.test/api/v1/things HTTP/1.1', bearer));
    expect(plain.status).toBe(200);
    expect(plain.headers.deprecation).toBeUndefined();
    const alias = await rawRequest(small.port, request('GET http://x.test/api/things HTTP/1.1', bearer));
    expect(alias.status).toBe(200);
    expect(alias.headers.deprecation).toBeDefined();
    const version = await rawRequest(small.port, request('GET http://x.test/api/v9/things HTTP/1.1', bearer));
    expect(version.status).toBe(404);
  });

  it('a percent sign that encodes nothing is 400 with the usual body', async () => {
    const answer = await rawRequest(small.port, request('GET /api/v1/things/%E0%A4%A HTTP/1.1'));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.code).toBe('INVALID_REQUEST');
  });

  it('a malformed id in the path is 400', async () => {
    const { status, body } = await small.api.get('/things/no-uuid', { key });
    expect(status).toBe(400);
    expect(body.error.details).toEqual([{ field: 'id', rule: 'format', message: 'id must be a UUID.' }]);
  });

  it('an id in upper case is the same id', async () => {
    const { body } = await small.api.get(`/things/${UUID.toUpperCase()}`, { key });
    expect(body.data.id).toBe(UUID);
  });
});

describe('query parameters', () => {
  it('become the types that the route declares', async () => {
    const { body } = await small.api.get('/things?limit=7&active=true', { key });
    expect(body.data).toEqual({ limit: 7, active: true });
  });

  it('that are unknown are refused, whatever they are named', async () => {
    const { status, body } = await small.api.get('/things?limit=7&__proto__[x]=1&constructor=2&utm=3', { key });
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error.details?.map(({ field, rule }) => `${rule} ${field}`)).toEqual([
      'unknown_field __proto__[x]',
      'unknown_field constructor',
      'unknown_field utm',
    ]);
  });

  it('of any number make a short answer', async () => {
    const query = Array.from({ length: 900 }, (_unused, n) => `${'x'.repeat(8)}${n}=1`).join('&');
    const { status, body } = await small.api.get(`/things?${query}`, { key });
    expect(status).toBe(400);
    expect(body.error.details).toHaveLength(20);
  });

  it.each([
    ['limit=0', 'range limit'],
    ['limit=101', 'range limit'],
    ['limit=ten', 'type limit'],
    ['limit=', 'type limit'],
    ['limit=1.5', 'type limit'],
    ['limit=0x10', 'type limit'],
    ['active=1', 'type active'],
    ['limit=1&limit=2', 'repeated limit'],
    ['limit=%00', 'text limit'],
  ])('%s is 400', async (query, violation) => {
    const { status, body } = await small.api.get(`/things?${query}`, { key });
    expect(status).toBe(400);
    expect(body.error.details?.map(({ field, rule }) => `${rule} ${field}`)).toEqual([violation]);
  });
});
