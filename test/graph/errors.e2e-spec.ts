import { newId } from '../../src/common/ids.js';
import { SCOPES } from '../../src/infrastructure/http/scopes.js';
import { ApiClient } from '../support/api-client.js';
import { type GraphBody, GraphClient, refusalOf } from './fixture.js';

let client: GraphClient;

beforeAll(async () => {
  client = await GraphClient.start({ simulator: { statusGapMs: 20 } });
});

afterAll(() => client?.test.stop());

const text = { type: 'text', text: { body: 'Hello' } };

describe('the shape of an error', () => {
  it("is the platform's, with Herald's sentence, its code and the id of the request", async () => {
    const to = await client.contact();
    const answer = await client.send({ to, type: 'image', image: { link: 'ftp://x' } }, { 'x-request-id': 'r-1' });
    expect([answer.status, answer.body]).toEqual([
      400,
      {
        error: {
          message: '(#100) Invalid parameter',
          type: 'OAuthException',
          code: 100,
          error_data: {
            messaging_product: 'whatsapp',
            details: expect.stringContaining('image.link') as string,
            herald_code: 'VALIDATION_FAILED',
          },
          fbtrace_id: 'r-1',
        },
      },
    ]);
  });

  it.each<[string, unknown, number, string]>([
    ['an array', [], 100, 'JSON object'],
    ['without the product', { to: '4915112345678', ...text }, 131008, 'messaging_product is missing'],
    ['another product', { messaging_product: 'sms', ...text }, 100, 'messaging_product must be whatsapp'],
    ['no recipient', { messaging_product: 'whatsapp', ...text }, 131008, 'to is missing'],
    ['a recipient that is no text', { messaging_product: 'whatsapp', to: {}, ...text }, 100, 'to must be'],
    ['a recipient that is no number', { messaging_product: 'whatsapp', to: 'Ana', ...text }, 100, 'to must be'],
    ['a type that is none', { messaging_product: 'whatsapp', to: '4915112345678', type: 7 }, 100, 'type must be'],
  ])('names what is wrong with the body: %s', async (_name, body, code, details) => {
    const { status, body: answer } = await client.post(`${client.number}/messages`, body);
    expect([status, answer.error?.code]).toEqual([400, code]);
    expect(answer.error?.error_data.details).toContain(details);
  });

  it.each<[string, object, number, string]>([
    ['no content', { type: 'image' }, 131008, 'image is missing'],
    ['content that is missing in part', { type: 'text', text: {} }, 131008, 'text.body'],
    ['two sources of a file', { type: 'image', image: { id: '1', link: 'https://x.example' } }, 100, 'image must hold'],
    ['a field inside that is not known', { type: 'video', video: { id: '1', x: 1 } }, 100, 'x'],
    ['a type that Herald does not send', { type: 'poll', poll: {} }, 100, 'type must be'],
    ['a group', { ...text, recipient_type: 'group' }, 100, 'groups'],
    ['callback data that is no text', { ...text, biz_opaque_callback_data: 1 }, 100, 'biz_opaque_callback_data'],
    [
      'callback data that is too long',
      { ...text, biz_opaque_callback_data: 'x'.repeat(513) },
      100,
      'biz_opaque_callback_data must have at most 512',
    ],
    [
      'callback data of too many bytes',
      { ...text, biz_opaque_callback_data: '\u{1F600}'.repeat(512) },
      100,
      'biz_opaque_callback_data must have at most 2048 bytes',
    ],
    ['what can not be passed on', { ...text, recipient_identity_key_hash: 'x' }, 100, 'recipient_identity_key_hash'],
    ['a reaction to nothing', { type: 'reaction', reaction: { emoji: 'x' } }, 131008, 'reaction.message_id is missing'],
    ['a context without an id', { ...text, context: {} }, 131008, 'context.message_id is missing'],
    ['a context whose id is no text', { ...text, context: { message_id: 1 } }, 100, 'context.message_id must be'],
  ])('names what is wrong with a message: %s', async (_name, message, code, details) => {
    const { status, body } = await client.send({ to: await client.contact(), ...message });
    expect([status, body.error?.code]).toEqual([400, code]);
    expect(body.error?.error_data.details).toContain(details);
  });

  it.each<[string, object, unknown[]]>([
    [
      'a template that is not there',
      { name: 'none', language: { code: 'en_US' } },
      [404, 132001, 'TEMPLATE_NOT_FOUND'],
    ],
    [
      'a template without its values',
      { name: 'order_update', language: { code: 'en_US' } },
      [400, 132000, 'TEMPLATE_PARAMETERS_MISMATCH'],
    ],
  ])('has the code of the platform for %s', async (_name, template, refused) => {
    const answer = await client.send({ to: await client.contact(), type: 'template', template });
    expect(refusalOf(answer)).toEqual(refused);
  });

  it('takes null for what is left out', async () => {
    const message = { to: await client.contact(), ...text, recipient: null, context: null, status: null, image: null };
    expect((await client.send({ ...message, biz_opaque_callback_data: null })).status).toBe(200);
  });

  it('has 2500 for a version that is none, and for what is not served', async () => {
    for (const version of ['26.0', 'v26', 'vx.0', 'v26.00']) {
      const answer = await client.sender.api.get<GraphBody>(`/graph/${version}/${client.number}`);
      expect(refusalOf(answer)).toEqual([400, 2500, 'ROUTE_NOT_FOUND']);
    }
    const { number } = client;
    for (const answer of [
      await client.get(`${number}/whatsapp_business_profile?fields=about`),
      await client.post(`${number}/register`, { messaging_product: 'whatsapp', pin: '123456' }),
      await client.post(number, {}),
      await client.delete(`${number}/messages`),
      await client.get(`${number}/flows/1/assets`),
    ]) {
      expect(refusalOf(answer)).toEqual([400, 2500, 'ROUTE_NOT_FOUND']);
    }
    const without = await new ApiClient(client.test.baseUrl).get<GraphBody>(`/graph/v26.0/${number}/flows`);
    expect(refusalOf(without)).toEqual([401, 190, 'API_KEY_MISSING']);
  });

  it('is also that of a body that is no JSON, of another type or too large', async () => {
    const path = `${client.number}/messages`;
    expect(refusalOf(await client.post(path, '{'))).toEqual([400, 100, 'INVALID_REQUEST']);
    const form = await client.post(path, 'to=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect(refusalOf(form)).toEqual([400, 100, 'UNSUPPORTED_CONTENT_TYPE']);
    const large = await client.send({ to: '4915112345678', text: { body: 'x'.repeat(300_000) } });
    expect(refusalOf(large)).toEqual([400, 100, 'PAYLOAD_TOO_LARGE']);
  });
});

describe('keys', () => {
  it('that are missing, wrong, expired or revoked are 190', async () => {
    const { organizationId } = client.sender.connection;
    const path = `/graph/v26.0/${client.number}`;
    const expired = await client.test.factories.apiKey({ organizationId, expiresAt: new Date(Date.now() - 1_000) });
    for (const [key, code, subcode] of [
      [null, 'API_KEY_MISSING', undefined],
      ['wrong', 'API_KEY_INVALID', undefined],
      [expired.text, 'API_KEY_EXPIRED', 463],
    ] as const) {
      const answer = await new ApiClient(client.test.baseUrl, key).get<GraphBody>(path);
      expect(refusalOf(answer)).toEqual([401, 190, code]);
      expect(answer.body.error?.error_subcode).toBe(subcode);
    }
  });

  it('need the scope of each route, as on the other routes of the API', async () => {
    const { organizationId, wabaId } = client.sender.connection;
    const file = (await client.upload(Buffer.from('Hello'), { messaging_product: 'whatsapp' })).body.id ?? '';
    const routes: [string, string, string][] = [
      ['POST', `${client.number}/messages`, 'messages:write'],
      ['POST', `${client.number}/media`, 'media:write'],
      ['GET', file, 'media:read'],
      ['DELETE', newId(), 'media:write'],
      ['GET', client.number, 'connections:read'],
      ['GET', `${wabaId}/phone_numbers`, 'connections:read'],
      ['GET', `${wabaId}/message_templates`, 'templates:read'],
    ];
    for (const scope of SCOPES.filter((each) => !each.startsWith('otp:'))) {
      const { text: key } = await client.test.factories.apiKey({ organizationId, scopes: [scope] });
      for (const [method, path, needed] of routes) {
        const request = { method, path: `/graph/v26.0/${path}`, ...(method === 'POST' && { body: {} }) };
        const answer = await new ApiClient(client.test.baseUrl, key).request<GraphBody>(request);
        const isRefused = answer.body.error?.error_data.herald_code === 'SCOPE_REQUIRED';
        expect([method, path, scope, isRefused]).toEqual([method, path, scope, scope !== needed]);
        if (isRefused) expect([answer.status, answer.body.error?.code]).toEqual([403, 10]);
      }
    }
  });

  it('have their rate: 4 and Retry-After once it is spent', async () => {
    const { id: organizationId } = await client.test.factories.workspace({ ratePerSecond: 1, rateBurst: 2 });
    const { text: key } = await client.test.factories.apiKey({ organizationId });
    const api = new ApiClient(client.test.baseUrl, key);
    const answers = await Promise.all(Array.from({ length: 6 }, () => api.get<GraphBody>('/graph/v26.0/1')));
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThan(0);
    for (const answer of limited) {
      expect(refusalOf(answer)).toEqual([429, 4, 'RATE_LIMITED']);
      expect(answer.body.error?.is_transient).toBe(true);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('ratelimit')).not.toBeNull();
    }
  });
});
