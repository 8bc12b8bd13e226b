import { jest } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import { bytesOf, envelope, post, secondsNow } from '../inbound/fixture.js';
import { dumpDatabase, noteLogs, placesOf, readFiles, type Written } from '../otp/canary-search.js';
import { otpApp } from '../otp/fixture.js';
import type { ApiRequest } from '../support/api-client.js';
import { runs } from '../support/runs.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** Of each wrong request so many. */
const ROUNDS = runs(6);

const canary = (name: string): string => `${name}${randomBytes(18).toString('hex')}`;
const digits = (length: number): string =>
  Array.from(randomBytes(length), (byte) => String(byte % 10))
    .join('')
    .replace(/^0/, '7');

/** What must stand nowhere at all, but where it is sealed. */
const SECRETS = {
  appSecret: canary('app'),
  verifyToken: canary('verify'),
  metricsToken: canary('metrics'),
  providerToken: canary('EAAG'),
  encryptionKey: randomBytes(32).toString('base64'),
  webhookHeader: canary('Bearer'),
};
/** What is in columns of its own, and nowhere beside: neither in logs nor in errors, jobs or metrics. */
const PERSONAL = {
  body: canary('body'),
  caption: canary('caption'),
  variable: canary('variable'),
  emoji: canary('emoji'),
  inboundText: canary('inbound'),
  profileName: canary('Ana'),
  clientReference: canary('ref'),
  filename: canary('file'),
  // None ends in the digits of one of the simulator's scenarios, some of which take a minute.
  customer: `49151${digits(5)}4711`,
  otherCustomer: `49152${digits(5)}4711`,
  codeNumber: '4915112340987',
};
/** Tables in which those are at home; an attempt has the platform's id of the message, which is made of the number. */
const HOMES = new Set([
  'public.message',
  'public.message_attempt',
  'public.message_content',
  'public.message_queue',
  'public.message_state',
  'public.conversation',
  'public.webhook_event',
  'public.platform_notification',
  'public.otp_challenge',
  'public.otp_recipient',
  'public.media_object',
]);

describe('secrets and what is personal', () => {
  let test: TestApp;
  let own: TestSender;
  const logs: Written[] = [];
  const answers: Written[] = [];
  let requests = 0;

  beforeAll(async () => {
    noteLogs(logs);
    test = await startTestApp({
      env: {
        LOG_LEVEL: 'trace',
        WHATSAPP_APP_SECRET: SECRETS.appSecret,
        WHATSAPP_VERIFY_TOKEN: SECRETS.verifyToken,
        METRICS_TOKEN: SECRETS.metricsToken,
        ENCRYPTION_KEYS: `1:${SECRETS.encryptionKey}`,
        WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
        MEDIA_MIN_FREE_MIB: '0',
      },
    });
    own = await test.sender();
    const place = { table: 'connection', column: 'token', organizationId: own.workspace.id, rowId: own.connection.id };
    await test.database.execute('update connection set token_ciphertext = $2 where id = $1', [
      own.connection.id,
      test.app.get(SecretBox).seal(SECRETS.providerToken, place),
    ]);
  });
  afterAll(async () => {
    jest.restoreAllMocks();
    await test?.stop();
  });

  /** An answer that must show nothing: every refusal, and those that report an outcome. */
  const refused = async (request: ApiRequest): Promise<void> => {
    requests++;
    const { status, body, headers } = await own.api.request(request);
    answers.push({ place: `${request.method ?? 'GET'} ${status} headers`, text: JSON.stringify([...headers]) });
    if (status >= 400) {
      // A rule may repeat a word of the request, never a text of another workspace.
      answers.push({ place: `${request.method ?? 'GET'} ${status}`, text: JSON.stringify(body) });
    }
  };

  it('stand nowhere that anything is written', async () => {
    const { api, connection, workspace } = own;
    const put = await api.request({
      method: 'PUT',
      path: '/webhook',
      body: { url: 'http://127.0.0.1:9/closed', headers: { Authorization: SECRETS.webhookHeader } },
    });
    const webhookSecret = (put.body.data as { secret: string }).secret;
    const rotated = (await api.post('/webhook/rotate-secret')).body.data.secret as string;
    const otp = await otpApp(test, 'sandbox', { organizationId: workspace.id });
    await otp.send(`+${PERSONAL.codeNumber}`);
    const apiKeys = [own.key.text, otp.key].map((key) => key.split('_')[3]?.slice(0, 32) ?? '');

    await notifications();
    for (let round = 0; round < ROUNDS; round++) {
      await messages(connection.id);
      await wrong(connection.id, [webhookSecret, own.key.text]);
    }
    await waitFor(async () => (await test.database.query('select 1 from message_queue limit 1')).length === 0, {
      what: 'every message to have an outcome',
    });
    const metrics = await fetch(`${test.baseUrl}/metrics`, {
      headers: { authorization: `Bearer ${SECRETS.metricsToken}` },
    });
    expect(metrics.status).toBe(200);
    const outside = [...logs, ...answers, { place: 'metrics', text: await metrics.text() }];
    const rows = await dumpDatabase(test.database);
    const files = readFiles(test.dataDir, [`${test.dataDir}/simulator`, `${test.dataDir}/media`]);

    // The search sees what it is meant to see.
    expect(requests).toBeGreaterThan(ROUNDS * 25);
    expect(logs.length).toBeGreaterThan(requests);
    expect(placesOf(PERSONAL.body, rows)).toContain('public.message_content');
    expect(placesOf(PERSONAL.inboundText, rows)).toContain('public.platform_notification');

    const secrets = { ...SECRETS, webhookSecret, rotated, apiKey: apiKeys[0] ?? '', otpKey: apiKeys[1] ?? '' };
    for (const [name, secret] of Object.entries(secrets)) {
      const text = secret.replace(/^whsec_/, '').replace(/=+$/, '');
      expect(text.length).toBeGreaterThanOrEqual(24);
      expect({ name, places: places(text, [...outside, ...rows, ...files]) }).toEqual({ name, places: [] });
    }
    for (const [name, text] of Object.entries(PERSONAL)) {
      expect({ name, places: places(text, [...outside, ...files]) }).toEqual({ name, places: [] });
      const strange = places(text, rows).filter((place) => !HOMES.has(place));
      expect({ name, strange }).toEqual({ name, strange: [] });
    }
  }, 240_000);

  const places = (text: string, written: readonly Written[]): string[] => [...new Set(placesOf(text, written))];

  async function notifications(): Promise<void> {
    const message = (fields: object, from = PERSONAL.customer) => ({
      contacts: [{ wa_id: from, profile: { name: PERSONAL.profileName } }],
      messages: [{ from, id: `wamid.${randomUUID()}`, timestamp: String(secondsNow()), ...fields }],
    });
    const payloads = [
      message({ type: 'text', text: { body: PERSONAL.inboundText } }),
      message({ type: 'text', text: { body: 'open' } }, PERSONAL.otherCustomer),
      message({ type: 'document', document: { id: '404', filename: PERSONAL.filename, caption: PERSONAL.caption } }),
      message({ type: 'text', text: PERSONAL.inboundText }),
      message({ type: 'unheard', unheard: { of: PERSONAL.inboundText } }),
      {
        statuses: [{ id: `wamid.${randomUUID()}`, status: 'failed', recipient_id: PERSONAL.customer, timestamp: 'x' }],
      },
      { messages: [{ from: PERSONAL.customer }] },
    ];
    for (const payload of payloads) {
      const body = bytesOf(envelope(own.connection, payload));
      for (const signature of [undefined, null, `sha256=${SECRETS.appSecret}`]) {
        const { status, text } = await post(test, body, signature);
        answers.push({ place: `notification ${status}`, text });
      }
    }
    const torn = Buffer.from(`{"entry": "${PERSONAL.inboundText}`);
    answers.push({ place: 'torn notification', text: (await post(test, torn)).text });
    for (const token of [SECRETS.verifyToken, `${SECRETS.verifyToken}x`]) {
      const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '77' });
      const answer = await fetch(`${test.baseUrl}/platform/whatsapp/webhook?${query.toString()}`);
      answers.push({ place: `handshake ${answer.status}`, text: await answer.text() });
    }
  }

  /** Messages that go, and that fail on the way. */
  async function messages(connectionId: string): Promise<void> {
    const common = { connection_id: connectionId, client_message_id: PERSONAL.clientReference };
    const bodies = [
      { to: PERSONAL.customer, type: 'text', text: { body: PERSONAL.body } },
      {
        to: PERSONAL.otherCustomer,
        type: 'image',
        media: { link: 'https://127.0.0.1/none', caption: PERSONAL.caption },
      },
      { to: PERSONAL.customer, type: 'document', media: { id: '999', filename: PERSONAL.filename } },
      {
        to: PERSONAL.customer,
        type: 'interactive',
        interactive: { type: 'button', body: { text: PERSONAL.body }, action: {} },
      },
    ];
    for (const body of bodies) {
      const headers = { 'idempotency-key': randomUUID() };
      await refused({ method: 'POST', path: '/messages', body: { ...common, ...body }, headers });
      // The same key for another text.
      await refused({
        method: 'POST',
        path: '/messages',
        body: { ...common, ...body, to: PERSONAL.otherCustomer },
        headers,
      });
    }
  }

  /** Requests that are wrong in every way in which one of the texts may be in them. */
  async function wrong(connectionId: string, keys: readonly string[]): Promise<void> {
    const key = () => ({ 'idempotency-key': randomUUID() });
    const text = { connection_id: connectionId, to: PERSONAL.customer, type: 'text', text: { body: PERSONAL.body } };
    const stranger = { ...text, to: `49159${digits(8)}` };
    const sends: unknown[] = [
      stranger,
      { ...text, text: { body: [PERSONAL.body] } },
      { ...text, text: PERSONAL.body },
      { ...text, type: 5 },
      { ...text, reply_to_message_id: randomUUID() },
      { ...text, text: { body: PERSONAL.body.padEnd(5_000, 'x') } },
      { ...text, connection_id: randomUUID() },
      {
        ...text,
        type: 'template',
        text: undefined,
        template: {
          name: 'none',
          language: { code: 'en' },
          components: [{ type: 'body', parameters: [{ type: 'text', text: PERSONAL.variable }] }],
        },
      },
      { ...text, type: 'reaction', text: undefined, reaction: { emoji: PERSONAL.emoji } },
      `{"to": "${PERSONAL.customer}", "text": {"body": "${PERSONAL.body}"`,
      `"${PERSONAL.body}"`,
      `${PERSONAL.body}\u0000`,
      JSON.stringify({ ...text, text: { body: `${PERSONAL.body}\u0000` } }),
    ];
    for (const body of sends) await refused({ method: 'POST', path: '/messages', body, headers: key() });
    await refused({
      method: 'POST',
      path: '/messages',
      body: text,
      headers: { 'idempotency-key': PERSONAL.clientReference },
    });
    await refused({ method: 'POST', path: '/messages', body: text });
    await refused({
      method: 'POST',
      path: '/messages',
      body: PERSONAL.body,
      headers: { ...key(), 'content-type': 'text/plain' },
    });
    await refused({
      method: 'POST',
      path: '/media',
      body: PERSONAL.body,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    await refused({ path: `/messages?to=${PERSONAL.customer}x&client_message_id=${PERSONAL.clientReference}&limit=0` });
    await refused({
      method: 'PUT',
      path: '/webhook',
      body: { url: `https://127.0.0.1/${randomUUID()}`, active: 'no' },
    });
    await refused({ method: 'PUT', path: `/connections/${connectionId}/profile`, body: { about: [PERSONAL.body] } });
    for (const secret of keys) {
      await refused({ path: '/messages', key: `${secret}x` });
      await refused({ path: '/messages', headers: { authorization: `Basic ${secret}` }, key: null });
      await refused({ path: `/messages/${randomUUID()}`, headers: { 'x-api-key': secret } });
    }
  }
});
