import { jest } from '@jest/globals';
import { newId } from '../../src/common/ids.js';
import { CloudApiClient } from '../../src/infrastructure/whatsapp/cloud-api-client.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import { connectionAtSimulator } from '../messages/fixture.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import type { ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const WHOLE = {
  about: 'Fresh coffee, open until eight',
  address: '12 Harbour Street, Dublin',
  description: 'We roast our own beans.',
  email: 'hello@example.com',
  vertical: 'RESTAURANT',
  websites: ['https://example.com/', 'https://shop.example.com/'],
};

describe("a number's business profile", () => {
  let test: TestApp;
  let organizationId: string;
  let api: ApiClient;
  let first: ConnectionRow;
  let second: ConnectionRow;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'], env: { WHATSAPP_TIMEOUT_MS: '1500' } });
    organizationId = (await test.factories.workspace()).id;
    api = test.api.as((await test.factories.apiKey({ organizationId })).text);
    first = await connectionAtSimulator(test, organizationId);
    second = await connectionAtSimulator(test, organizationId);
  });
  afterAll(async () => test?.stop());

  const path = (id = first.id) => `/connections/${id}/profile`;
  const put = (to: string, body: object, key?: string): Promise<ApiResponse> =>
    api.request({ method: 'PUT', path: to, body, ...(key !== undefined && { key }) });
  const control = async (name: string, body: object) => {
    const response = await fetch(`${test.simulatorUrl}/_simulator/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(await response.text());
  };

  it.each([
    ['first', () => first],
    ['second', () => second],
  ])('is read and changed on the %s number, each for itself', async (name, number) => {
    const { id } = number();
    const empty = await api.get(path(id));
    expect(empty.status).toBe(200);
    expect(empty.body.data).toMatchObject({ about: null, email: null, websites: [], updated_at: null });
    const changed = await put(path(id), { ...WHOLE, about: `The ${name} shop` });
    expect(changed.status).toBe(200);
    expect(changed.body.data).toEqual({
      ...WHOLE,
      about: `The ${name} shop`,
      profile_picture_url: null,
      updated_at: expect.any(String),
    });
    expect((await api.get(path(id))).body.data).toEqual(changed.body.data);
  });

  it('changes only the fields given', async () => {
    await put(path(), WHOLE);
    const { body } = await put(path(), { address: '' });
    expect(body.data).toEqual({ ...WHOLE, address: null, profile_picture_url: null, updated_at: expect.any(String) });
  });

  it('an empty change changes nothing', async () => {
    const before = await api.get(path());
    const { status, body } = await put(path(), {});
    expect([status, body.data]).toEqual([200, before.body.data]);
  });

  it.each([
    [{ about: 'a'.repeat(140) }, 'about', 'length'],
    [{ about: null }, 'about', 'type'],
    [{ address: 'a'.repeat(257) }, 'address', 'length'],
    [{ description: 'a'.repeat(513) }, 'description', 'length'],
    [{ email: 'nobody' }, 'email', 'format'],
    [{ vertical: 'C'.repeat(65) }, 'vertical', 'length'],
    [{ websites: ['https://a.example', 'https://b.example', 'https://c.example'] }, 'websites', 'length'],
    [{ websites: ['example.com'] }, 'websites', 'format'],
    [{ websites: 'https://example.com' }, 'websites', 'type'],
    [{ name: 'x' }, 'name', 'unknown_field'],
  ])('refuses %j', async (change, field, rule) => {
    const { status, body } = await put(path(), change);
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error.details?.map((detail) => [detail.field.split(/[.[]/)[0], detail.rule])).toEqual([[field, rule]]);
  });

  it('takes each field at its limit', async () => {
    const limits = {
      about: 'a'.repeat(139),
      address: 'b'.repeat(256),
      description: 'c'.repeat(512),
      vertical: 'ONLINE_GAMBLING',
      websites: [`https://example.com/${'d'.repeat(236)}`],
    };
    const { status, body } = await put(path(), limits);
    expect([status, body.error]).toEqual([200, undefined]);
    expect(body.data).toMatchObject(limits);
  });

  it('needs its scopes', async () => {
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['profile:read'] });
    expect((await test.api.as(text).get(path())).status).toBe(200);
    expect((await put(path(), {}, text)).body.error.required_scope).toBe('profile:write');
    expect((await test.api.get(path())).status).toBe(401);
  });

  it('a foreign number and an unknown one answer alike; an id that is none is reported', async () => {
    const foreign = await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
    for (const call of [(id: string) => api.get(path(id)), (id: string) => put(path(id), { about: 'x' })]) {
      const answers = [await call(foreign.id), await call(newId())];
      for (const { body } of answers) body.error.request_id = '';
      expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
        Array.from({ length: 2 }, () => [404, 'CONNECTION_NOT_FOUND']),
      );
      expect(JSON.stringify(answers[0]?.body)).toBe(JSON.stringify(answers[1]?.body));
      expect((await call('1')).status).toBe(400);
    }
  });

  it('asks the platform once for reads at the same time, and anew after a change', async () => {
    const { id } = await connectionAtSimulator(test, organizationId);
    const asked = jest.spyOn(test.app.get(CloudApiClient, { strict: false }), 'request');
    try {
      const answers = await Promise.all(Array.from({ length: 20 }, () => api.get(path(id))));
      expect(answers.every(({ status }) => status === 200)).toBe(true);
      expect(asked).toHaveBeenCalledTimes(1);
      expect((await put(path(id), { about: 'Closed today' })).body.data).toMatchObject({ about: 'Closed today' });
      expect((await api.get(path(id))).body.data).toMatchObject({ about: 'Closed today' });
      expect(asked).toHaveBeenCalledTimes(3);
    } finally {
      asked.mockRestore();
    }
  });

  it('counts what reaches the platform for each number', async () => {
    const { id } = await connectionAtSimulator(test, organizationId);
    const change = (to: string) => put(path(to), { about: 'Open' });
    let refused: ApiResponse | undefined;
    // A change is a call, and its answer another.
    for (let calls = 0; refused === undefined && calls < 400; calls++) {
      const answer = await change(id);
      if (answer.status !== 200) refused = answer;
    }
    expect([refused?.status, refused?.body.error.code, refused?.body.error.scope]).toEqual([
      429,
      'RATE_LIMITED',
      'number_profile',
    ]);
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await change((await connectionAtSimulator(test, organizationId)).id)).status).toBe(200);
  });

  it('reports a platform that is down, and one that does not answer, within its time', async () => {
    const { id } = await connectionAtSimulator(test, organizationId);
    await control('faults', { down: true });
    try {
      for (const answer of [await api.get(path(id)), await put(path(id), { about: 'x' })]) {
        expect([answer.status, answer.body.error.code]).toEqual([502, 'PLATFORM_UNAVAILABLE']);
      }
    } finally {
      await control('faults', { down: false, latency_ms: 30_000 });
    }
    try {
      const { status, body } = await api.get(path(id));
      expect([status, body.error.code]).toEqual([504, 'PLATFORM_TIMEOUT']);
    } finally {
      await control('faults', { latency_ms: 0 });
    }
    expect((await api.get(path(id))).status).toBe(200);
  });

  it.each([
    // Good form by RFC 5321, and more than the platform takes.
    { email: '"a b"@example.com' },
    { about: '' },
    { about: ' ' },
    { vertical: 'COFFEE' },
    { websites: ['ftp://example.com'] },
    { websites: ['javascript:alert(1)'] },
  ])("hands on the platform's own refusal of %j", async (change) => {
    const { status, body } = await put(path(), change);
    expect([status, body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
    expect(body.error.platform).toMatchObject({ code: 100, message: expect.any(String) });
  });

  it('a refused token disconnects the number: 409 from then on', async () => {
    const fresh = await connectionAtSimulator(test, organizationId);
    const token = (await test.app.get(ConnectionsService).forSending(fresh.id))?.token ?? '';
    await control('tokens', { token, valid: false });
    const { status, body } = await api.get(path(fresh.id));
    expect([status, body.error.code, body.error.status]).toEqual([409, 'CONNECTION_NOT_READY', 'disconnected']);
    expect((await put(path(fresh.id), { about: 'x' })).status).toBe(409);
  });
});
