import vm from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_IDEMPOTENCY_KEY,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_OTP_CODE,
  EXAMPLE_OTP_ID,
} from '../../src/common/example-ids.js';
import { DocsDemo } from '../../src/infrastructure/http/docs/docs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface SwaggerRequest {
  url: string;
  headers: Record<string, string>;
  body?: string | FormData;
}
interface PageDocs {
  request(request: SwaggerRequest): SwaggerRequest;
  response(response: { ok: boolean; url: string; text: string }): unknown;
}

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
});

afterAll(() => test.stop());

/** The script of the page, in a world that has of a browser what it needs. */
async function pageDocs(): Promise<PageDocs> {
  const { body } = await test.api.get<string>('/docs/herald.js');
  const world = { window: {} as { heraldDocs: PageDocs }, crypto, URL, location: { href: `${test.baseUrl}/docs` } };
  vm.runInNewContext(body, world);
  return world.window.heraldDocs;
}

describe('the served API description', () => {
  it('shows the ids that this installation gives its examples', async () => {
    const examples = test.app.get(DocsDemo, { strict: false });
    examples.replace(EXAMPLE_CONNECTION_ID, 'a-connection-of-ours');
    const { status, body } = await test.api.get<object>('/openapi.json');
    expect(status).toBe(200);
    const text = JSON.stringify(body);
    expect(text).toContain('a-connection-of-ours');
    expect(text).not.toContain(EXAMPLE_CONNECTION_ID);
    expect(text).toContain(EXAMPLE_MESSAGE_ID);
  });

  it('is compressed for a client that takes it, and not sent again to one that has it', async () => {
    const url = `${test.baseUrl}/openapi.json`;
    const { headers, body } = await request(url, { headers: { 'accept-encoding': 'gzip' } });
    const packed = Buffer.from(await body.arrayBuffer());
    expect(headers['content-encoding']).toBe('gzip');
    expect(packed.length).toBeLessThan(110_000);
    const plain = await request(url);
    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(gunzipSync(packed).toString()).toBe(await plain.body.text());
    const again = await request(url, { headers: { 'if-none-match': String(headers.etag) } });
    expect([again.statusCode, await again.body.text()]).toEqual([304, '']);
  });

  it('remembers the key that was authorized', async () => {
    const { body } = await test.api.get<string>('/docs/swagger-ui-init.js');
    expect(body).toMatch(/"persistAuthorization": true/);
  });
});

describe('an execution in Swagger UI', () => {
  it('has an Idempotency-Key of its own, where the key is the example', async () => {
    const docs = await pageDocs();
    const url = `${test.baseUrl}/api/v1/messages`;
    const changed = docs.request({ url, headers: { 'Idempotency-Key': EXAMPLE_IDEMPOTENCY_KEY } });
    expect(changed.headers['Idempotency-Key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(changed.headers['Idempotency-Key']).not.toBe(EXAMPLE_IDEMPOTENCY_KEY);
    expect(docs.request({ url, headers: { 'Idempotency-Key': 'mine' } }).headers['Idempotency-Key']).toBe('mine');
  });

  it('takes what was made last in the place of the example', async () => {
    const docs = await pageDocs();
    const made = (path: string, data: object) =>
      docs.response({ ok: true, url: `${test.baseUrl}/api/v1${path}`, text: JSON.stringify({ data }) });
    const sent = (path: string, body?: string) => docs.request({ url: `/api/v1${path}`, headers: {}, body });
    expect(sent(`/messages/${EXAMPLE_MESSAGE_ID}`).url).toContain(EXAMPLE_MESSAGE_ID);
    made('/messages', { id: 'm-1', status: 'queued' });
    made('/otp/send', { id: 'o-1', test_code: '123456' });
    expect(sent(`/messages/${EXAMPLE_MESSAGE_ID}`).url).toBe('/api/v1/messages/m-1');
    const verify = JSON.stringify({ id: EXAMPLE_OTP_ID, code: EXAMPLE_OTP_CODE });
    expect(JSON.parse(sent('/otp/verify', verify).body as string)).toEqual({ id: 'o-1', code: '123456' });
    // A message may only answer one of its own conversation.
    expect(sent('/messages', EXAMPLE_MESSAGE_ID).body).toBe(EXAMPLE_MESSAGE_ID);
    docs.response({ ok: false, url: `${test.baseUrl}/api/v1/messages`, text: 'no JSON' });
  });
});

describe('an upload in Swagger UI', () => {
  it.each([
    ['text/plain', null],
    ['image/png', 'image'],
  ])('of %s goes with the type %s, where the form says image by itself', async (mimeType, type) => {
    const docs = await pageDocs();
    const body = new FormData();
    body.set('type', 'image');
    body.set('file', new Blob(['x'], { type: mimeType }), 'file');
    docs.request({ url: '/api/v1/media', headers: {}, body });
    expect(body.get('type')).toBe(type);
  });
});

describe('the keys of the demo', () => {
  it('are not served where there is no demo', async () => {
    test.app.get(DocsDemo, { strict: false }).offer({ api_key: 'hrld_live_x', otp_sandbox_key: 'hrld_test_x' });
    const { status, headers, body } = await test.api.get('/docs/demo.json');
    expect([status, headers.get('cache-control'), body]).toEqual([204, 'no-store', null]);
  });
});
