import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { testPhone } from '../support/factories.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { VARIANT_CASES } from './variant-cases.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const codeOf = (response: { body: { error?: { code: string } } }): string | undefined => response.body.error?.code;

describe('202', () => {
  it('takes a text, sends it and follows it to read', async () => {
    const to = await workspace.contact();
    test.simulator.applyFaults({ statuses: 'hold' });
    const response = await workspace.send(`+${to}`, { body: { client_message_id: 'order-1' } });
    expect(response.status).toBe(202);
    expect(response.body).toEqual({ data: { id: expect.any(String) as string, status: 'queued' } });

    const id = response.body.data.id as string;
    await workspace.reaches(id, 'accepted');
    test.simulator.applyFaults({ statuses: 'on' });
    const message = await workspace.reaches(id, 'read');
    expect(message).toMatchObject({
      to,
      from: workspace.connection.phoneNumber,
      direction: 'outbound',
      type: 'text',
      body: 'hello',
      content: { body: 'hello', preview_url: false },
      client_message_id: 'order-1',
      connection_id: workspace.connection.id,
      attempt_count: 1,
      failure_category: null,
      error: null,
      next_attempt_at: null,
      attempts: [{ number: 1, status: 'accepted', http_status: 200, platform_code: null, failure_category: null }],
    });
    expect(message.meta_message_id).toMatch(/^wamid\./);
    expect(message.attempts[0].meta_message_id).toBe(message.meta_message_id);
    const times = ['queued_at', 'processing_at', 'accepted_at', 'sent_at', 'delivered_at', 'read_at'].map(
      (column) => message[column] as string,
    );
    expect(times).toEqual([...times].sort());
    expect(message.failed_at).toBeNull();

    const [taken] = test.simulator.messages.list({ to });
    expect(taken).toMatchObject({
      body: { messaging_product: 'whatsapp', to: `+${to}`, type: 'text', text: { body: 'hello', preview_url: false } },
    });
  });

  it('lets a restricted number send: what of it is allowed the platform says', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status: 'restricted' });
    const { phone } = await test.factories.conversation({ connection });
    const response = await workspace.send(phone, { body: { connection_id: connection.id } });
    expect(response.status).toBe(202);
    await workspace.reaches(response.body.data.id as string, 'read');
  });

  it('takes the legacy form', async () => {
    const to = await workspace.contact();
    const response = await workspace.api.post(
      '/messages',
      { connection_id: workspace.connection.id, to, body: 'old style' },
      { headers: { 'idempotency-key': newId() } },
    );
    expect(response.status).toBe(202);
    expect(await workspace.message(response.body.data.id as string)).toMatchObject({ type: 'text', body: 'old style' });
  });

  it('quotes the message that it answers', async () => {
    const to = await workspace.contact();
    const first = await workspace.sendText(to);
    await workspace.reaches(first, 'accepted', 'sent', 'delivered', 'read');
    const { meta_message_id: quoted } = await workspace.message(first);
    const response = await workspace.send(to, { body: { reply_to_message_id: first } });
    expect(response.status).toBe(202);
    await workspace.reaches(response.body.data.id as string, 'read');
    const sent = test.simulator.messages.list({ to }).at(-1);
    expect(sent?.body).toMatchObject({ context: { message_id: quoted } });
    expect(await workspace.message(response.body.data.id as string)).toMatchObject({ reply_to_message_id: first });
  });
});

describe('400', () => {
  it.each<[string, Record<string, string>, string]>([
    ['missing', {}, 'IDEMPOTENCY_KEY_REQUIRED'],
    ['not a UUID', { 'idempotency-key': 'order-1' }, 'IDEMPOTENCY_KEY_INVALID'],
    ['empty', { 'idempotency-key': '' }, 'IDEMPOTENCY_KEY_REQUIRED'],
  ])('when the Idempotency-Key is %s', async (_name, headers, code) => {
    const body = { connection_id: workspace.connection.id, to: '15550100001', body: 'x' };
    const response = await workspace.api.post('/messages', body, { headers });
    expect([response.status, codeOf(response)]).toEqual([400, code]);
    expect(response.body.error.message).toContain('UUID');
  });

  it('when the JSON is malformed', async () => {
    const response = await workspace.api.request({
      method: 'POST',
      path: '/messages',
      body: '{"connection_id": ',
      headers: { 'content-type': 'application/json', 'idempotency-key': newId() },
    });
    expect([response.status, codeOf(response)]).toEqual([400, 'INVALID_REQUEST']);
  });
});

describe('401, 402, 403', () => {
  it('without a key', async () => {
    const response = await test.api.as(null).post('/messages', {});
    expect([response.status, codeOf(response)]).toEqual([401, 'API_KEY_MISSING']);
  });

  it('without the scope', async () => {
    const { text } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:read'],
    });
    const response = await test.api.as(text).post('/messages', {});
    expect([response.status, codeOf(response), response.body.error.required_scope]).toEqual([
      403,
      'SCOPE_REQUIRED',
      'messages:write',
    ]);
  });

  it.each([
    ['never paid', null],
    ['no longer paid', new Date(Date.now() - 1_000)],
  ])('when the workspace has %s, while reading still works', async (_name, paidUntil) => {
    const { id: organizationId } = await test.factories.workspace({ paidUntil });
    const { text } = await test.factories.apiKey({ organizationId });
    const connection = await connectionAtSimulator(test, organizationId);
    const { phone } = await test.factories.conversation({ connection });
    const response = await test.api
      .as(text)
      .post(
        '/messages',
        { connection_id: connection.id, to: phone, body: 'x' },
        { headers: { 'idempotency-key': newId() } },
      );
    expect([response.status, codeOf(response)]).toEqual([402, 'SUBSCRIPTION_REQUIRED']);
    expect(response.body.error.message).toMatch(/herald subscription set.*BILLING=off/);
    expect((await test.api.as(text).get('/messages')).status).toBe(200);
  });
});

describe('409', () => {
  it.each(['pending', 'disconnected'] as const)('when the number is %s', async (status) => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status });
    const { phone } = await test.factories.conversation({ connection });
    const response = await workspace.send(phone, { body: { connection_id: connection.id } });
    expect([response.status, codeOf(response), response.body.error.status]).toEqual([
      409,
      'CONNECTION_NOT_READY',
      status,
    ]);
  });
});

describe('413, 415', () => {
  it('when the body is over 256 KiB', async () => {
    const response = await workspace.send('15550100001', { body: { text: { body: 'x'.repeat(300_000) } } });
    expect([response.status, codeOf(response)]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });

  it('when the body is not JSON', async () => {
    const response = await workspace.api.request({
      method: 'POST',
      path: '/messages',
      body: 'body=x',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': newId() },
    });
    expect([response.status, codeOf(response)]).toEqual([415, 'UNSUPPORTED_CONTENT_TYPE']);
  });
});

describe('422', () => {
  // Forms that are refused; the accepted ones need more than a form and have tests of their own.
  it.each(VARIANT_CASES.filter(({ violations }) => violations.length > 0))('$name', async ({ body, violations }) => {
    const response = await workspace.send('15550100001', { body: { type: undefined, text: undefined, ...body } });
    expect([response.status, codeOf(response)]).toEqual([422, 'VALIDATION_FAILED']);
    const details = response.body.error.details ?? [];
    expect(details.map((detail) => `${detail.field}:${detail.rule}`)).toEqual(violations);
  });

  it.each([
    ['a body with U+0000', { text: { body: 'a\u0000b' } }, 'text.body'],
    ['a lone surrogate', { text: { body: 'a\ud800b' } }, 'text.body'],
  ])('%s, naming the field', async (_name, body, field) => {
    const response = await workspace.send(await workspace.contact(), { body });
    expect([response.status, codeOf(response)]).toEqual([422, 'VALIDATION_FAILED']);
    expect(response.body.error.details?.[0]?.field).toBe(field);
  });

  it('answers a foreign connection like an unknown one', async () => {
    const stranger = await sendingWorkspace(test);
    const to = await workspace.contact();
    const answers = await Promise.all(
      [stranger.connection.id, newId()].map((id) => workspace.send(to, { body: { connection_id: id } })),
    );
    for (const answer of answers) expect([answer.status, codeOf(answer)]).toEqual([422, 'CONNECTION_NOT_FOUND']);
    const [foreign, unknown] = answers.map(({ body }) => ({ ...body.error, request_id: '' }));
    expect(foreign).toEqual(unknown);
  });

  it('when the contact never wrote', async () => {
    const response = await workspace.send(testPhone());
    expect([response.status, codeOf(response), response.body.error.window_expired_at]).toEqual([
      422,
      'SERVICE_WINDOW_CLOSED',
      null,
    ]);
  });

  it('when the contact wrote more than 24 hours ago, saying when the window closed', async () => {
    const lastInboundAt = new Date(Date.now() - 24 * 3_600_000 - 5_000);
    const { phone } = await test.factories.conversation({ connection: workspace.connection, lastInboundAt });
    const response = await workspace.send(phone);
    expect([response.status, codeOf(response)]).toEqual([422, 'SERVICE_WINDOW_CLOSED']);
    const closed = new Date(lastInboundAt.getTime() + 24 * 3_600_000).toISOString();
    expect(response.body.error.window_expired_at).toBe(closed);
  });

  it('when the message to answer is of another conversation, failed or unknown', async () => {
    const [to, other] = [await workspace.contact(), await workspace.contact()];
    const elsewhere = await workspace.sendText(other);
    for (const target of [elsewhere, newId()]) {
      const response = await workspace.send(to, { body: { reply_to_message_id: target } });
      expect([response.status, codeOf(response)]).toEqual([422, 'REPLY_TARGET_NOT_FOUND']);
    }
  });

  it('when the media file is unknown', async () => {
    const response = await workspace.send(await workspace.contact(), { body: { media_object_id: newId() } });
    expect([response.status, codeOf(response)]).toEqual([422, 'MEDIA_NOT_FOUND']);
  });
});

describe('a refused request', () => {
  it('leaves its key free', async () => {
    const key = newId();
    const phone = testPhone();
    expect((await workspace.send(phone, { key })).status).toBe(422);
    await test.factories.conversation({ connection: workspace.connection, phone });
    const response = await workspace.send(phone, { key });
    expect(response.status).toBe(202);
    expect(response.headers.get('idempotency-replayed')).toBeNull();
  });
});
