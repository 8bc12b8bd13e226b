import { Controller, Get } from '@nestjs/common';
import { formatKey, newKey } from '../../src/modules/keys/api-key-format.js';
import type { ApiResponse } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { rawRequest, request } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

let small: SmallApp;
let organizationId: string;
let key: string;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController], env: { AUTH_FAILURES_PER_MINUTE: '100000' } });
  organizationId = (await small.factories.workspace()).id;
  key = (await small.factories.apiKey({ organizationId })).text;
});

afterAll(() => small.close());

async function codeWith(...headers: string[]): Promise<string> {
  const answer = await rawRequest(small.port, request('GET /api/v1/things HTTP/1.1', headers));
  const code = answer.status === 200 ? '' : ` ${JSON.parse(answer.body).error.code}`;
  return `${answer.status}${code}`;
}

describe('a key', () => {
  it('is sent as a bearer token, the word in any case', async () => {
    expect(await codeWith(`Authorization: Bearer ${key}`)).toBe('200');
    expect(await codeWith(`authorization: bearer ${key}`)).toBe('200');
    expect(await codeWith(`AUTHORIZATION: BEARER   ${key}`)).toBe('200');
  });

  it('that is not there is API_KEY_MISSING', async () => {
    expect(await codeWith()).toBe('401 API_KEY_MISSING');
    expect(await codeWith('Authorization:')).toBe('401 API_KEY_MISSING');
    expect(await codeWith('Authorization: Basic dXNlcjpwYXNz')).toBe('401 API_KEY_MISSING');
    expect(await codeWith(`Authorization: ${key}`)).toBe('401 API_KEY_MISSING');
    expect(await codeWith(`X-Api-Key: ${key}`)).toBe('401 API_KEY_MISSING');
  });

  it('sent twice is refused, whichever is valid', async () => {
    const other = newKey('live').text;
    for (const pair of [
      [key, other],
      [other, key],
      [key, key],
    ]) {
      const headers = pair.map((text) => `Authorization: Bearer ${text}`);
      expect(await codeWith(...headers)).toBe('401 API_KEY_MISSING');
    }
  });

  it('that was never issued is API_KEY_INVALID', async () => {
    expect(await codeWith(`Authorization: Bearer ${newKey('live').text}`)).toBe('401 API_KEY_INVALID');
    expect(await codeWith(`Authorization: Bearer ${key.slice(0, -1)}`)).toBe('401 API_KEY_INVALID');
    expect(await codeWith(`Authorization: Bearer ${key}, Bearer ${key}`)).toBe('401 API_KEY_INVALID');
    expect(await codeWith('Authorization: Bearer  ')).toBe('401 API_KEY_MISSING');
    const forged = formatKey({ mode: 'live', id: key.slice(10, 22), secret: newKey('live').secret });
    expect(await codeWith(`Authorization: Bearer ${forged}`)).toBe('401 API_KEY_INVALID');
  });

  it('that has expired or was revoked says so', async () => {
    const expired = await small.factories.apiKey({ organizationId, expiresAt: new Date(Date.now() - 1_000) });
    expect(await codeWith(`Authorization: Bearer ${expired.text}`)).toBe('401 API_KEY_EXPIRED');
    const revoked = await small.factories.apiKey({ organizationId, revokedAt: new Date() });
    expect(await codeWith(`Authorization: Bearer ${revoked.text}`)).toBe('401 API_KEY_REVOKED');
  });

  it('is answered with WWW-Authenticate: Bearer when it is refused', async () => {
    const { headers } = await small.api.get('/things');
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(headers.get('ratelimit')).toBeNull();
  });
});

describe('the order of checks', () => {
  const stranger = { key: null };

  it('is version, route, method, key, rate limit, scope, body', async () => {
    const { id } = await small.factories.workspace({ ratePerSecond: 1, rateBurst: 1 });
    const reader = await small.factories.apiKey({ organizationId: id, scopes: ['messages:read'] });
    const writer = await small.factories.apiKey({ organizationId: id, scopes: ['messages:write'] });
    const bad = { headers: { 'content-type': 'text/plain' } };
    const codeOf = async (answer: Promise<ApiResponse>) => (await answer).body.error?.code;

    expect(await codeOf(small.api.get('/api/v2/nothing', stranger))).toBe('API_VERSION_NOT_SUPPORTED');
    expect(await codeOf(small.api.get('/nothing', stranger))).toBe('ROUTE_NOT_FOUND');
    expect(await codeOf(small.api.request({ method: 'PATCH', path: '/things', key: null }))).toBe('METHOD_NOT_ALLOWED');
    expect(await codeOf(small.api.post('/things', 'x', { ...stranger, ...bad }))).toBe('API_KEY_MISSING');
    expect(await codeOf(small.api.post('/things', 'x', { key: writer.text, ...bad }))).toBe('UNSUPPORTED_CONTENT_TYPE');
    // Once a second one more is free; before the limit neither a body nor a scope is looked at.
    await waitFor(
      async () => (await codeOf(small.api.post('/things', 'x', { key: writer.text, ...bad }))) === 'RATE_LIMITED',
    );
    await waitFor(async () => (await codeOf(small.api.get('/things', { key: writer.text }))) === 'RATE_LIMITED');
    await waitFor(async () => (await codeOf(small.api.get('/things', { key: writer.text }))) === 'SCOPE_REQUIRED');
    expect((await small.api.get('/things', { key: reader.text })).status).toBe(200);
  });
});

describe('guessing', () => {
  it('is limited to 20 failures a minute and address; a valid key never meets the limit', async () => {
    const guarded = await startSmallApp({ controllers: [ThingsController], beside: small });
    try {
      for (let i = 0; i < 20; i++) {
        const wrong = i % 2 === 0 ? null : newKey('live').text;
        expect((await guarded.api.get('/things', { key: wrong })).status).toBe(401);
      }
      const limited = await guarded.api.get('/things', { key: newKey('live').text });
      expect(limited.status).toBe(429);
      expect(limited.body.error.code).toBe('RATE_LIMITED');
      expect(Number(limited.headers.get('retry-after'))).toBe(limited.body.error.retry_after_seconds);
      expect(limited.body.error.retry_after_seconds).toBeGreaterThan(50);
      expect((await guarded.api.get('/things', { key })).status).toBe(200);
      const headers = { 'x-forwarded-for': '198.51.100.7' };
      expect((await guarded.api.get('/things', { headers })).status).toBe(429);
    } finally {
      await guarded.close();
    }
  });

  it('counts the address that a trusted proxy names', async () => {
    const env = { TRUST_PROXY: '1', AUTH_FAILURES_PER_MINUTE: '2' };
    const proxied = await startSmallApp({ controllers: [ThingsController], beside: small, env });
    try {
      const from = async (address: string) =>
        (await proxied.api.get('/things', { headers: { 'x-forwarded-for': `203.0.113.9, ${address}` } })).status;
      expect([await from('198.51.100.1'), await from('198.51.100.1'), await from('198.51.100.1')]).toEqual([
        401, 401, 429,
      ]);
      expect(await from('198.51.100.2')).toBe(401);
      expect([await from('2001:db8::1'), await from('2001:db8::2'), await from('2001:db8::3')]).toEqual([
        401, 401, 429,
      ]);
    } finally {
      await proxied.close();
    }
  });
});

describe('a route with neither a scope nor a mark as public', () => {
  it('stops the boot, named', async () => {
    @Controller('careless')
    class CarelessController {
      @Get()
      open() {
        return { data: 1 };
      }
    }
    await expect(startSmallApp({ controllers: [CarelessController], beside: small })).rejects.toThrow(
      'these routes have neither @RequireScope nor @Public: CarelessController.open',
    );
  });
});
