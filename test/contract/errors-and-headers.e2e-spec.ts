import type { ApiResponse } from '../support/api-client.js';
import { Readiness } from '../../src/infrastructure/operations/readiness.js';
import { waitFor } from '../support/wait-for.js';
import { rawRequest, request } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

const UUID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';
const VALID = { connection_id: UUID, text: { body: 'Hello' } };

let small: SmallApp;
let key: string;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
  const workspace = await small.factories.workspace();
  key = (await small.factories.apiKey({ organizationId: workspace.id })).text;
});

afterAll(() => small.close());

interface Case {
  status: number;
  code?: string;
  run: () => Promise<ApiResponse>;
}

const cases: Record<string, Case> = {
  'an answer with data': { status: 200, run: () => small.api.get('/things', { key }) },
  'a condition on an answer that has no validator': {
    status: 200,
    // With a directive of its own, else `fetch` adds no-cache, which asks for the whole answer anyway.
    run: () => small.api.get('/things', { key, headers: { 'if-none-match': '*', 'cache-control': 'max-age=60' } }),
  },
  'an accepted request': { status: 202, run: () => small.api.post('/things', VALID, { key }) },
  'an answer without a body': {
    status: 204,
    run: () => small.api.request({ method: 'DELETE', path: `/things/${UUID}`, key }),
  },
  'an invalid field': { status: 400, code: 'INVALID_REQUEST', run: () => small.api.post('/things', {}, { key }) },
  'broken JSON': { status: 400, code: 'INVALID_REQUEST', run: () => small.api.post('/things', '{', { key }) },
  'no key': { status: 401, code: 'API_KEY_MISSING', run: () => small.api.get('/things') },
  'a scope that the key lacks': {
    status: 403,
    code: 'SCOPE_REQUIRED',
    run: async () => {
      const { id } = await small.factories.workspace();
      const poor = await small.factories.apiKey({ organizationId: id, scopes: ['media:read'] });
      return small.api.get('/things', { key: poor.text });
    },
  },
  'an unknown route': { status: 404, code: 'ROUTE_NOT_FOUND', run: () => small.api.get('/nothing', { key }) },
  'an unknown version': {
    status: 404,
    code: 'API_VERSION_NOT_SUPPORTED',
    run: () => small.api.get('/api/v2/things', { key }),
  },
  'a wrong method': {
    status: 405,
    code: 'METHOD_NOT_ALLOWED',
    run: () => small.api.request({ method: 'PATCH', path: '/things', key }),
  },
  'a body that is too large': {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    run: () => small.api.post('/things', { x: 'x'.repeat(300_000) }, { key }),
  },
  'another content type': {
    status: 415,
    code: 'UNSUPPORTED_CONTENT_TYPE',
    run: () =>
      small.api.post('/things', 'a=b', { key, headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  },
  'a text that cannot be stored, where violations of the body are 422': {
    status: 422,
    code: 'VALIDATION_FAILED',
    run: () => small.api.post('/things/echo', { a: ['\u0000'] }, { key }),
  },
  'too many requests': {
    status: 429,
    code: 'RATE_LIMITED',
    run: async () => {
      const { id } = await small.factories.workspace({ ratePerSecond: 1, rateBurst: 1 });
      const { text } = await small.factories.apiKey({ organizationId: id });
      return waitFor(async () => {
        const answer = await small.api.get('/things', { key: text });
        return answer.status === 429 && answer;
      });
    },
  },
  'an internal error': { status: 500, code: 'INTERNAL_ERROR', run: () => small.api.get('/things/explode', { key }) },
};

describe.each(Object.entries(cases))('%s', (_name, { status, code, run }) => {
  let answer: ApiResponse;

  beforeAll(async () => {
    answer = await run();
  });

  it(`is ${status}${code === undefined ? '' : ` ${code}`}`, () => {
    expect(answer.status).toBe(status);
    expect(answer.body?.error?.code).toBe(code);
  });

  it('has the version and the request id', () => {
    expect(answer.headers.get('x-herald-api-version')).toBe('v1');
    expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  });

  it('may not be cached, framed or sniffed, and does not name the server software', () => {
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'");
    expect(answer.headers.get('x-powered-by')).toBeNull();
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('is JSON in UTF-8, or has no body', () => {
    expect(answer.headers.get('content-type')).toBe(status === 204 ? null : 'application/json; charset=utf-8');
  });

  if (code === undefined) return;

  it('says what to do, whose request it was, and where more is written', () => {
    const { error } = answer.body;
    expect(error.message).toMatch(/^[A-Z].*[.]$|^[a-z_.[\]0-9]+ .*[.]$/);
    expect(error.request_id).toBe(answer.headers.get('x-request-id'));
    expect(error.doc_url).toBe(`${small.baseUrl}/docs/errors#${code}`);
  });
});

describe('error bodies', () => {
  it('name each invalid field, its rule and what to do', async () => {
    const body = { connection_id: 5, text: { body: '', color: 'red' }, items: [{ type: 'X' }], ttl: 7, more: 1 };
    const { body: answer } = await small.api.post('/things', body, { key });
    const details = answer.error.details as { field: string; rule: string; message: string }[];
    expect(details.sort((a, b) => (a.field < b.field ? -1 : 1))).toEqual([
      { field: 'connection_id', rule: 'format', message: 'connection_id must be a UUID.' },
      { field: 'items[0].type', rule: 'one_of', message: 'items[0].type must be HEADER or BODY.' },
      {
        field: 'more',
        rule: 'unknown_field',
        message: 'more is not known here; allowed: connection_id, text, items, ttl.',
      },
      { field: 'text.body', rule: 'length', message: 'text.body must be 1 to 4096 characters long.' },
      {
        field: 'text.color',
        rule: 'unknown_field',
        message: 'text.color is not known here; allowed: body, preview_url.',
      },
      { field: 'ttl', rule: 'range', message: 'ttl must be at least 60.' },
    ]);
  });

  it('say which required fields are missing', async () => {
    const { body } = await small.api.post('/things', {}, { key });
    expect(body.error.details?.map(({ field, rule }) => `${rule} ${field}`)).toEqual([
      'required connection_id',
      'required text',
    ]);
  });

  it('give the scope that is missing', async () => {
    const answer = await cases['a scope that the key lacks']?.run();
    expect(answer?.body.error.required_scope).toBe('messages:read');
  });

  it('give the supported versions', async () => {
    const { body } = await small.api.get('/api/v27/things');
    expect(body.error.supported_versions).toEqual(['v1']);
  });

  it('give the limit of a body', async () => {
    const { body } = await small.api.post('/things', { x: 'x'.repeat(300_000) }, { key });
    expect(body.error.limit_bytes).toBe(262_144);
  });

  it('never contain internal details; the log does, under the same id', async () => {
    const { body, headers } = await small.api.get('/things/explode', { key });
    expect(JSON.stringify(body)).not.toMatch(/hunter2|at .*\.ts|Error:/);
    const requestId = headers.get('x-request-id') ?? '';
    const line = small.logged
      .map((text) => JSON.parse(text))
      .find((entry) => entry.err && entry.request_id === requestId);
    expect(line).toMatchObject({ level: 'error', request_id: requestId });
    expect(line.err.message).toContain('hunter2');
  });
});

describe('the page of errors', () => {
  it('has a place for every code that an answer points to', async () => {
    const { body, headers } = await small.api.get<string>('/docs/errors');
    expect(headers.get('content-type')).toContain('text/html');
    for (const { code } of Object.values(cases)) if (code !== undefined) expect(body).toContain(`id="${code}"`);
  });
});

describe('X-Request-Id', () => {
  it.each(['abc', 'A.b_c-1', 'x'.repeat(128)])('%s is kept', async (id) => {
    const { headers, body } = await small.api.get('/things', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toBe(id);
    expect(body.error.request_id).toBe(id);
  });

  it.each(['', 'a b', 'é', 'x'.repeat(129), 'a"b', '<x>'])('%j is replaced', async (id) => {
    const { headers } = await small.api.get('/things', { headers: { 'x-request-id': id } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is on the access line, with the route and the key but neither path, query nor token', async () => {
    // Refused for its query, which must not be on the line.
    const id = 'line-1';
    await small.api.get(`/things/${UUID}?to=15550100001`, { key, headers: { 'x-request-id': id } });
    const line = await waitFor(() =>
      small.logged.find((text) => text.includes(id) && text.includes('"msg":"request"')),
    );
    expect(JSON.parse(line)).toMatchObject({ method: 'GET', route: '/api/v1/things/:id', status: 400 });
    expect(JSON.parse(line).key_id).toBe(key.slice(10, 22));
    expect(JSON.parse(line).address).toBe('127.0.0.1');
    expect(line).not.toContain('15550100001');
    expect(small.logged.join('')).not.toContain(key);
  });
});

it('a probe that is answered well has no line', async () => {
  const app = await startSmallApp({ controllers: [ThingsController], beside: small, env: { LOG_LEVEL: 'info' } });
  try {
    await app.api.get('/health/live', { headers: { 'x-request-id': 'probe-1' } });
    await app.api.get('/metrics', { headers: { 'x-request-id': 'probe-2' } });
    // Why it is not ready, a line of its own says once.
    app.app.get(Readiness).register('of this test', () => Promise.resolve({ ok: false, detail: 'it is away' }));
    expect((await app.api.get('/health/ready', { headers: { 'x-request-id': 'probe-3' } })).status).toBe(503);
    await app.api.get('/health/ready', { headers: { 'x-request-id': 'probe-3' } });
    await app.api.get('/things', { headers: { 'x-request-id': 'behind-the-probes' } });
    await waitFor(() => app.logged.join('').includes('behind-the-probes'));
    expect(app.logged.filter((line) => /"request_id":"probe-\d"/.test(line))).toEqual([
      expect.stringContaining('not ready: of this test: it is away'),
    ]);
  } finally {
    await app.close();
  }
});

describe("the caller's address on the access line", () => {
  const lineOf = async (app: SmallApp, id: string, forwarded: string): Promise<Record<string, unknown>> => {
    await app.api.get('/things', { headers: { 'x-request-id': id, 'x-forwarded-for': forwarded } });
    const line = await waitFor(() => app.logged.find((text) => text.includes(id) && text.includes('"msg":"request"')));
    return JSON.parse(line) as Record<string, unknown>;
  };

  it.each([
    ['what the trusted proxy says', { TRUST_PROXY: '1' }, '198.51.100.7, 203.0.113.9', '203.0.113.9'],
    ['nothing that is no address', { TRUST_PROXY: '1' }, '+15550100001', undefined],
    ['what the connection says where no proxy is trusted', {}, '203.0.113.9', '127.0.0.1'],
    ['nothing with LOG_ADDRESSES=false', { LOG_ADDRESSES: 'false' }, '203.0.113.9', undefined],
  ])('is %s', async (_what, env, forwarded, address) => {
    const app = await startSmallApp({ controllers: [ThingsController], beside: small, env });
    try {
      expect((await lineOf(app, 'line-of-address', forwarded)).address).toBe(address);
    } finally {
      await app.close();
    }
  });
});

describe('refused keys', () => {
  it('are counted by the code of their answer', async () => {
    const { id } = await small.factories.workspace();
    const narrow = (await small.factories.apiKey({ organizationId: id, scopes: ['messages:write'] })).text;
    const revoked = await small.factories.apiKey({ organizationId: id, revokedAt: new Date(Date.now() - 60_000) });
    const count = async (code: string): Promise<number> => {
      const { body } = await small.api.get<string>('/metrics');
      return Number(new RegExp(`^herald_keys_refused_total\\{code="${code}"\\} (\\d+)$`, 'm').exec(body)?.[1] ?? 0);
    };
    const codes = ['API_KEY_MISSING', 'API_KEY_INVALID', 'API_KEY_REVOKED', 'SCOPE_REQUIRED'];
    const before = await Promise.all(codes.map(count));
    await small.api.get('/things', { key: null });
    await small.api.get('/things', { key: `${narrow.slice(0, -1)}-` });
    await small.api.get('/things', { key: revoked.text });
    await small.api.get('/things', { key: narrow });
    expect(await Promise.all(codes.map(count))).toEqual(before.map((number) => number + 1));
  });
});

describe('an answer that fails halfway', () => {
  it('breaks the connection instead of pretending to be whole', async () => {
    await expect(small.api.get('/things/half', { key })).rejects.toThrow();
  });
});

it('an expectation that the server does not know is passed over', async () => {
  const lines = [`Authorization: Bearer ${key}`, 'Expect: the-impossible', 'X-Request-Id: expecting'];
  const answer = await rawRequest(small.port, request('GET /api/v1/things HTTP/1.1', lines));
  expect(answer).toMatchObject({ status: 200, headers: { 'x-request-id': 'expecting', 'x-herald-api-version': 'v1' } });
});
