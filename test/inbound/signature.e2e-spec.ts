import { newId } from '../../src/common/ids.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import type { ConnectionRow } from '../support/factories.js';
import type { TestApp } from '../support/test-app.js';
import { counter, inboundOf, post, statesOf, waitForStates, WEBHOOK } from './fixture.js';
import { LIMIT, startBehindProxy, startSignedApp, statusFrom, textBody } from './signed-app.js';

let test: TestApp;
let connection: ConnectionRow;

beforeAll(async () => {
  ({ test, connection } = await startSignedApp());
});

afterAll(() => test?.stop());

describe('POST /platform/whatsapp/webhook', () => {
  it('takes what is signed over the very bytes: escaped letters, emoji and slashes', async () => {
    const body = textBody(connection, 'wamid.escaped', 'Olá, São Paulo — 👍 https://example.com/a');
    expect(body.toString()).toContain('\\u00e1');
    expect(body.toString()).toContain('https:\\/\\/');
    expect(await post(test, body)).toEqual({ status: 200, text: '' });
    expect(await inboundOf(test, connection)).toEqual([
      expect.objectContaining({ body: 'Olá, São Paulo — 👍 https://example.com/a' }),
    ]);
    await waitForStates(test, 'wamid.escaped', ['applied']);
  });

  it('takes what either of two secrets has signed, while one is being replaced', async () => {
    for (const secret of ['new-secret', 'old-secret']) {
      const marker = `wamid.${newId()}`;
      const body = textBody(connection, marker);
      expect((await post(test, body, signBody(body, secret))).status).toBe(200);
      expect(await statesOf(test, marker)).toHaveLength(1);
    }
  });

  it.each([
    ['no signature', () => null],
    ['another secret', (body: Buffer) => signBody(body, 'guessed')],
    ['another body', () => signBody('{}', 'new-secret')],
    ['a signature cut short', (body: Buffer) => signBody(body, 'new-secret').slice(0, -1)],
    ['the wrong algorithm', (body: Buffer) => signBody(body, 'new-secret').replace('sha256', 'sha1')],
  ])('refuses %s with 401 and stores nothing', async (_name, signatureOf) => {
    const marker = `wamid.${newId()}`;
    const body = textBody(connection, marker);
    const refused = counter(test, 'notifications_refused');
    expect((await post(test, body, signatureOf(body))).status).toBe(401);
    expect(await statesOf(test, marker)).toEqual([]);
    expect(counter(test, 'notifications_refused')).toBe(refused + 1);
  });

  it('takes 3 MiB and refuses more with 413, announced or not', async () => {
    const marker = `wamid.${newId()}`;
    const envelopeBytes = textBody(connection, marker, '').length;
    const body = textBody(connection, marker, 'x'.repeat(LIMIT - envelopeBytes));
    expect(body).toHaveLength(LIMIT);
    expect((await post(test, body)).status).toBe(200);
    await waitForStates(test, marker, ['applied']);

    const tooLarge = Buffer.concat([body, Buffer.from(' ')]);
    expect((await post(test, tooLarge)).status).toBe(413);
    const chunked = await fetch(`${test.baseUrl}/platform/whatsapp/webhook`, {
      method: 'POST',
      headers: { 'x-hub-signature-256': signBody(tooLarge, 'new-secret') },
      body: new Blob([new Uint8Array(tooLarge)]).stream(),
      duplex: 'half',
    });
    expect(chunked.status).toBe(413);
    expect(await statesOf(test, marker)).toEqual(['applied']);
  });

  it.each([
    ['no JSON', '{"object":"whatsapp_business_account", oops-1'],
    ['JSON that is no object', '["oops-2"]'],
    ['bytes that are no text', '\u00ff\u00feoops-3'],
    ['nothing', ''],
  ])('stores %s as unreadable, once it is signed', async (_name, text) => {
    const unreadable = counter(test, 'notifications_unreadable');
    const body = Buffer.from(text, 'latin1');
    expect((await post(test, body)).status).toBe(200);
    expect(counter(test, 'notifications_unreadable')).toBe(unreadable + 1);
    const rows = await test.database.query('select state from platform_notification where body = $1', [body]);
    expect(rows).toEqual([{ state: 'unreadable' }]);
  });
});

function handshake(query: Record<string, string>) {
  return test.api.get<string>(`${WEBHOOK}?${new URLSearchParams(query).toString()}`);
}

const GOOD = { 'hub.mode': 'subscribe', 'hub.verify_token': 'the-verify-token', 'hub.challenge': '1158201444' };

describe('GET /platform/whatsapp/webhook', () => {
  it('answers the challenge as it came, as plain text', async () => {
    const response = await handshake(GOOD);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(response.body).toBe('1158201444');
  });

  it('answers a challenge that is markup as text that no browser takes for a page', async () => {
    const response = await handshake({ ...GOOD, 'hub.challenge': '<script>alert(1)</script>' });
    expect(response.body).toBe('<script>alert(1)</script>');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    ['another token', { ...GOOD, 'hub.verify_token': 'the-verify-tokem' }],
    ['an empty token', { ...GOOD, 'hub.verify_token': '' }],
    ['another mode', { ...GOOD, 'hub.mode': 'unsubscribe' }],
    ['nothing at all', {}],
    ['no challenge', { 'hub.mode': 'subscribe', 'hub.verify_token': 'the-verify-token' }],
  ])('refuses %s with 403', async (_name, query) => {
    const { status, headers } = await handshake(query);
    expect([status, headers.get('content-type')]).toEqual([403, expect.stringMatching(/^application\/json/)]);
  });

  it('refuses a token that is given twice', async () => {
    const query = `hub.mode=subscribe&hub.challenge=1&hub.verify_token=the-verify-token&hub.verify_token=other`;
    expect((await test.api.get(`${WEBHOOK}?${query}`)).status).toBe(403);
  });
});

describe('addresses behind a trusted proxy', () => {
  let guarded: TestApp;

  beforeAll(async () => {
    guarded = await startBehindProxy(test);
  });
  afterAll(() => guarded.stop());

  it('get 429 after too many wrong verify tokens; the right one is always answered', async () => {
    const from = (token: string) =>
      guarded.api.get(`${WEBHOOK}?${new URLSearchParams({ ...GOOD, 'hub.verify_token': token }).toString()}`, {
        headers: { 'x-forwarded-for': '198.51.100.40' },
      });
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await from(`wrong-${n}`)).status);
    expect(statuses).toEqual([403, 403, 403, 403, 403, 429]);
    expect((await from('the-verify-token')).status).toBe(200);
  });

  it('get 429 after too many invalid signatures; a valid one always counts', async () => {
    const long = textBody(connection, `wamid.${newId()}`, 'x'.repeat(100_000));
    const bad = signBody('{}', 'guessed');
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push(await statusFrom(guarded, '198.51.100.1', Buffer.from('{}'), bad));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await statusFrom(guarded, '198.51.100.1', long, signBody(long, 'new-secret'))).toBe(429);
    expect(await statusFrom(guarded, '198.51.100.2', long, signBody(long, 'new-secret'))).toBe(200);
    const short = textBody(connection, `wamid.${newId()}`);
    expect(await statusFrom(guarded, '198.51.100.1', short, signBody(short, 'new-secret'))).toBe(200);
    expect(await statusFrom(guarded, '198.51.100.1', long, signBody(long, 'new-secret'))).toBe(200);
  });
});
