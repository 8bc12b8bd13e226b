import { randomBytes } from 'node:crypto';
import { type Check, SchemaChecks } from '../contract/fuzz/schema-check.js';
import { Database } from '../../src/infrastructure/database/database.js';
import { Audit } from '../../src/modules/audit/audit.service.js';
import { EVENT_TYPES } from '../../src/modules/webhook/webhook.types.js';
import type { Schema } from '../support/schema-arbitrary.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp, subscriber } from './fixture.js';
import { Receiver, verify } from '../faults/webhook-receiver.js';
import { AT_ONCE, fromCallersAtOnce, POOL } from './callers-at-once.js';

interface Description {
  webhooks: Record<
    string,
    {
      post: {
        requestBody: {
          content: { 'application/json': { schema: { $ref: string }; examples: Record<string, { value: unknown }> } };
        };
      };
    }
  >;
  components: { schemas: Record<string, Schema> };
}

let test: TestApp;
let receiver: Receiver;
let description: Description;

beforeAll(async () => {
  const app = startWebhookApp({ env: POOL });
  [test, receiver] = await Promise.all([app, Receiver.start()]);
  description = (await test.api.get<Description>('/openapi.json')).body;
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

describe('changes of the webhook', () => {
  const ROWS = `select action from audit_event where organization_id = $1 and action like 'webhook.%'`;

  it('are limited for each workspace: those that are in the audit trail, one after the other or at once', async () => {
    const { organizationId, api } = await subscriber(test);
    const remove = () => api.request({ method: 'DELETE', path: '/webhook' });
    const put = (path: string) => api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url(path) } });
    await test.app.get(Database).transaction(async () => {
      const change = { action: 'webhook.changed', organizationId, target: organizationId } as const;
      for (let n = 0; n < 36; n++) await test.app.get(Audit).record(change);
    });
    const statuses: number[] = [];
    for (let n = 0; n < 2; n++) {
      statuses.push((await put('/a')).status, (await put('/b')).status, (await remove()).status);
    }
    expect(new Set(statuses)).toEqual(new Set([200, 204]));
    statuses.length = 0;
    const many = await fromCallersAtOnce(40, (n) => put(`/${n}`));
    const refused = many.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(20);
    for (const { status, headers, body } of [...refused, await put('/c')]) {
      const { code, scope } = body.error;
      const seconds = Number(body.error.retry_after_seconds);
      expect({ status, code, scope, header: headers.get('retry-after') }).toEqual({
        status: 429,
        code: 'RATE_LIMITED',
        scope: 'webhook_changes',
        header: String(seconds),
      });
      expect([seconds > 0, seconds <= 60]).toEqual([true, true]);
    }
    expect(await test.database.query(`${ROWS} and action <> 'webhook.removed'`, [organizationId])).toHaveLength(60);

    // What changes nothing goes on, and so does the end of the webhook.
    const { url } = (await api.get('/webhook')).body.data;
    expect((await api.request({ method: 'PUT', path: '/webhook', body: { url } })).status).toBe(200);
    expect((await remove()).status).toBe(204);
    expect((await put('/c')).status).toBe(429);
    expect((await api.get('/webhook')).status).toBe(404);
    const other = await subscriber(test);
    expect((await other.configure({ url: receiver.url() })).secret).toBeDefined();
  });
});

describe('PUT /webhook', () => {
  it('makes the webhook with a secret, and shows it again without', async () => {
    const { api } = await subscriber(test);
    const made = await api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url() } });
    expect(made.status).toBe(200);
    const { secret, ...settings } = made.body.data;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(settings).toEqual({
      url: receiver.url(),
      events: ['message.received', 'message.status.updated'],
      connection_ids: [],
      header_names: [],
      active: true,
      disabled_reason: null,
      failing_since: null,
      secret_hint: `whsec_...${(secret as string).slice(-4)}`,
      previous_secret_expires_at: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
      recent_deliveries: [],
    });
    const read = await api.get('/webhook');
    expect(read.status).toBe(200);
    expect(read.body.data).toEqual(settings);
  });

  it('takes a secret of a deployment for a new one, keeps it, and refuses another', async () => {
    const { api, configure } = await subscriber(test);
    const put = (body: object) =>
      api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url('/given'), ...body } });
    const secret = `whsec_${randomBytes(24).toString('base64')}`;
    for (const wrong of [
      'whsec_c2hvcnQ=',
      secret.slice(6),
      `whsec_${randomBytes(65).toString('base64')}`,
      `${secret}=`,
      7,
      null,
    ]) {
      const { status, body } = await put({ secret: wrong });
      expect([status, body.error.details?.[0]?.field]).toEqual([400, 'secret']);
    }
    expect((await api.get('/webhook')).status).toBe(404);
    expect(await configure({ url: receiver.url('/given'), secret })).toMatchObject({ secret });
    const again = await configure({ url: receiver.url('/given'), secret });
    expect(again).not.toHaveProperty('secret');
    expect(again.secret_hint).toBe(`whsec_...${secret.slice(-4)}`);
    const other = await put({ secret: `whsec_${randomBytes(32).toString('base64')}`, active: false });
    expect([other.status, other.body.error]).toEqual([
      400,
      expect.objectContaining({
        code: 'WEBHOOK_SECRET_DIFFERS',
        message: expect.stringContaining('POST /webhook/rotate-secret'),
      }),
    ]);
    expect((await api.get('/webhook')).body.data.active).toBe(true);
    const { event_id: id } = (await api.post('/webhook/test')).body.data;
    expect(verify(secret, await waitFor(() => receiver.of(id as string)[0])).id).toBe(id);
    // What is replaced is no longer the present one.
    const rotated = (await api.post('/webhook/rotate-secret')).body.data.secret as string;
    expect((await put({ secret })).status).toBe(400);
    expect((await put({ secret: rotated })).status).toBe(200);
  });

  it('changes it and keeps the secret and, where they are left out, the kinds and whether it is active', async () => {
    const { api, configure } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url(), events: ['message.received'] });
    const changed = await configure({ url: receiver.url('/other'), active: false });
    expect(changed).not.toHaveProperty('secret');
    expect(changed).toMatchObject({ url: receiver.url('/other'), events: ['message.received'], active: false });
    expect(changed.secret_hint).toBe(`whsec_...${secret.slice(-4)}`);
    const again = await configure({ url: receiver.url('/other'), events: ['message.status.updated'] });
    expect(again).toMatchObject({ events: ['message.status.updated'], active: false });
    expect(await configure({ url: receiver.url('/other'), active: true })).toMatchObject({ active: true });
    const { event_id: id } = (await api.post('/webhook/test')).body.data;
    const delivery = await waitFor(() => receiver.of(id as string)[0]);
    expect(delivery.path).toBe('/other');
    expect(verify(secret, delivery).id).toBe(id);
  });

  it('makes one webhook with one secret of calls at once', async () => {
    for (let round = 0; round < 5; round++) {
      const { api } = await subscriber(test);
      const answers = await fromCallersAtOnce(AT_ONCE, (n) =>
        api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url(`/at-once/${n}`) } }),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(answers.filter(({ body }) => body.data.secret !== undefined)).toHaveLength(1);
      expect(new Set(answers.map(({ body }) => body.data.secret_hint as string)).size).toBe(1);
    }
  });

  it.each([
    [{}, 'url'],
    [{ url: 7 }, 'url'],
    [{ url: 'shop.example.com/hook' }, 'url'],
    [{ url: 'https://' }, 'url'],
    [{ url: 'https://shop.example.com', events: [] }, 'events'],
    [{ url: 'https://shop.example.com', events: ['message.sent'] }, 'events'],
    [{ url: 'https://shop.example.com', events: null }, 'events'],
    [{ url: 'https://shop.example.com', active: 'yes' }, 'active'],
    [{ url: 'https://shop.example.com', secret: 'mine' }, 'secret'],
  ])('refuses %j', async (body, field) => {
    const { api } = await subscriber(test);
    const response = await api.request({ method: 'PUT', path: '/webhook', body });
    expect(response.status).toBe(400);
    expect(response.body.error.code).toBe('INVALID_REQUEST');
    expect(response.body.error.details?.[0]?.field).toMatch(new RegExp(`^${field}`));
    expect((await api.get('/webhook')).status).toBe(404);
  });

  it('refuses a name that leads nowhere, but lets a webhook be paused whose name has died', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    const gone = 'http://no-such-host.invalid/hook';
    const refused = await api.request({ method: 'PUT', path: '/webhook', body: { url: gone } });
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({ code: 'WEBHOOK_URL_NOT_ALLOWED', reason: 'unresolvable' });
    await configure({ url: receiver.url() });
    await test.database.execute('update webhook_endpoint set url = $2 where organization_id = $1', [
      organizationId,
      gone,
    ]);
    expect(await configure({ url: gone, active: false })).toMatchObject({ url: gone, active: false });
    // However he writes it who gave it.
    expect(await configure({ url: 'HTTP://No-Such-Host.invalid:80/hook', active: false })).toMatchObject({ url: gone });
    const other = await api.request({ method: 'PUT', path: '/webhook', body: { url: `${gone}/other`, active: false } });
    expect(other.status).toBe(400);
  });
});

describe('without a webhook', () => {
  it.each([
    ['GET', '/webhook'],
    ['DELETE', '/webhook'],
    ['POST', '/webhook/test'],
    ['POST', '/webhook/rotate-secret'],
    ['POST', '/webhook/verify'],
    ['GET', '/webhook/deliveries'],
  ])('%s %s answers 404', async (method, path) => {
    const { api } = await subscriber(test);
    const response = await api.request({ method, path });
    expect([response.status, response.body.error.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
  });
});

describe('scopes', () => {
  it.each([
    ['GET', '/webhook', 'webhooks:read'],
    ['GET', '/webhook/deliveries', 'webhooks:read'],
    ['PUT', '/webhook', 'webhooks:write'],
    ['DELETE', '/webhook', 'webhooks:write'],
    ['POST', '/webhook/test', 'webhooks:write'],
    ['POST', '/webhook/rotate-secret', 'webhooks:write'],
    ['POST', '/webhook/verify', 'webhooks:write'],
    ['POST', '/webhook/deliveries/01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b/replay', 'webhooks:write'],
  ])('%s %s needs %s', async (method, path, scope) => {
    const { id: organizationId } = await test.factories.workspace();
    const others = ['webhooks:read', 'webhooks:write', 'messages:read'].filter((other) => other !== scope);
    const { text } = await test.factories.apiKey({ organizationId, scopes: others });
    const response = await test.api.as(text).request({ method, path });
    expect(response.status).toBe(403);
    expect(response.body.error).toMatchObject({ code: 'SCOPE_REQUIRED', required_scope: scope });
  });
});

describe('a call that takes no body', () => {
  it.each(['/webhook/test', '/webhook/rotate-secret', '/webhook/verify', '/webhook/deliveries/{id}/replay'])(
    'POST %s refuses what it can not read, and does nothing then',
    async (path) => {
      const { api, configure, emit } = await subscriber(test);
      await configure({ url: receiver.url('/bodies') });
      await emit();
      const settings = async () => (await api.get('/webhook')).body.data;
      await waitFor(async () => (await settings()).recent_deliveries[0]?.status === 'succeeded');
      const before = await settings();
      const [{ id }] = before.recent_deliveries as [{ id: string }];
      const post = (body?: unknown, type = 'application/json') =>
        api.post(path.replace('{id}', id), body, { headers: { 'content-type': type } });
      expect((await post('{"note":')).body.error.details?.[0]?.rule).toBe('json');
      expect((await post({ event: 'message.received' })).body.error.details?.[0]).toMatchObject({
        field: 'event',
        rule: 'unknown_field',
      });
      expect((await post('note=1', 'application/x-www-form-urlencoded')).status).toBe(415);
      expect(await settings()).toEqual(before);
      expect((await post({})).status).toBeLessThan(300);
    },
  );
});

describe('DELETE /webhook', () => {
  it('deletes it with what waits for it; a new one has a new secret and none of the old deliveries', async () => {
    const { api, configure, emit } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url('/deleted'), active: false });
    const [waiting] = await emit();
    const removed = await api.request({ method: 'DELETE', path: '/webhook' });
    expect([removed.status, removed.body]).toEqual([204, null]);
    expect((await api.get('/webhook')).status).toBe(404);
    expect((await api.request({ method: 'DELETE', path: '/webhook' })).status).toBe(404);

    const made = await configure({ url: receiver.url('/deleted') });
    expect(made.secret).toBeDefined();
    expect(made.secret).not.toBe(secret);
    const [fresh] = await emit();
    await waitFor(() => receiver.of(fresh ?? '')[0]);
    expect(receiver.of(waiting ?? '')).toEqual([]);
    expect(verify(made.secret, receiver.of(fresh ?? '')[0] ?? fail()).type).toBe('message.status.updated');
  });
});

describe('workspaces', () => {
  it('see nothing of each other', async () => {
    const [ours, theirs] = await Promise.all([subscriber(test), subscriber(test)]);
    await ours.configure({ url: receiver.url('/ours') });
    const { event_id: id } = (await ours.api.post('/webhook/test')).body.data;
    await waitFor(() => receiver.of(id as string)[0]);
    const delivery = await waitFor(async () => (await ours.api.get('/webhook')).body.data.recent_deliveries[0]);
    await theirs.configure({ url: receiver.url('/theirs') });
    expect((await theirs.api.get('/webhook/deliveries')).body.data).toEqual([]);
    const replayed = await theirs.api.post(`/webhook/deliveries/${delivery.id}/replay`);
    expect([replayed.status, replayed.body.error.code]).toEqual([404, 'WEBHOOK_DELIVERY_NOT_FOUND']);
  });
});

describe('PUT /webhook as in production', () => {
  let production: TestApp;

  beforeAll(async () => {
    production = await startTestApp({ roles: ['api'], shareWith: test });
  });
  afterAll(() => production?.stop());

  it.each([
    ['http://hooks.example.com/', 'not_https'],
    ['ftp://hooks.example.com/', 'not_https'],
    ['https://hooks.example.com:8443/', 'port'],
    ['https://me:secret@hooks.example.com/', 'credentials_in_url'],
    ['https://127.0.0.1/', 'ip_literal'],
    ['https://[::1]/', 'ip_literal'],
    ['https://2130706433/', 'ip_literal'],
    ['https://8.8.8.8/', 'ip_literal'],
    ['https://localhost/', 'private_address'],
  ])('refuses %s: %s', async (url, reason) => {
    const { api } = await subscriber(production);
    const response = await api.request({ method: 'PUT', path: '/webhook', body: { url } });
    expect(response.status).toBe(400);
    expect(response.body.error).toMatchObject({ code: 'WEBHOOK_URL_NOT_ALLOWED', reason });
    expect(response.body.error.message).toMatch(/^[A-Z].*\.$/);
    expect((await api.get('/webhook')).status).toBe(404);
  });
});

describe('the section webhooks of the API description', () => {
  let checks: SchemaChecks;

  beforeAll(() => {
    checks = new SchemaChecks(description);
  });

  const checkOf = (type: string): Check =>
    checks.request(description.webhooks[type]?.post.requestBody.content['application/json'].schema ?? {});

  it('has every kind of event', () => {
    expect(new Set(Object.keys(description.webhooks))).toEqual(new Set(EVENT_TYPES));
  });

  it.each(EVENT_TYPES)('has examples of %s that fit', (type) => {
    const examples = description.webhooks[type]?.post.requestBody.content['application/json'].examples ?? {};
    expect(Object.keys(examples).length).toBeGreaterThan(0);
    const check = checkOf(type);
    for (const { value } of Object.values(examples)) {
      expect(check(value)).toBeNull();
      expect(check({ ...(value as object), data: {} })).not.toBeNull();
    }
  });

  it('describes what is really sent', async () => {
    const { api, configure } = await subscriber(test);
    await configure({ url: receiver.url() });
    const { event_id: id } = (await api.post('/webhook/test')).body.data;
    const delivery = await waitFor(() => receiver.of(id as string)[0]);
    expect(checkOf('webhook.test')(JSON.parse(delivery.body))).toBeNull();
  });
});

function fail(): never {
  throw new Error('nothing was received');
}
