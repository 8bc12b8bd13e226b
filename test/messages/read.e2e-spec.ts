import { newId } from '../../src/common/ids.js';
import { ConnectionsService } from '../../src/modules/connections/connections.service.js';
import type { ApiClient } from '../support/api-client.js';
import { testPhone, type ConnectionRow } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ env: { WHATSAPP_TIMEOUT_MS: '1500' }, simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});
afterAll(async () => test?.stop());
afterEach(() => test.simulator.applyFaults({ down: false, latency_ms: 0, error_rate: 0 }));

interface Received {
  id: string;
  wamid: string;
  from: string;
}

/** A customer writes to the number; resolves once the message is in the journal. */
async function received(connection: ConnectionRow = workspace.connection, api = workspace.api): Promise<Received> {
  const from = testPhone();
  const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: connection.phoneNumberId, from, message: 'Are you open?' }),
  });
  const { id: wamid } = (await response.json()) as { id: string };
  const id = await waitFor(async () => (await api.get(`/messages?from=${from}`)).body.data[0]?.id as string, {
    what: 'the message in the journal',
  });
  return { id, wamid, from };
}

const read = (id: string, body?: object, api: ApiClient = workspace.api) => api.post(`/messages/${id}/read`, body);
/** What the platform knows of the message. */
const atPlatform = (wamid: string) => test.simulator.inboundLog.get(wamid);
const answerOf = ({ status, body }: Awaited<ReturnType<typeof read>>) => [status, body.error?.code];

describe('POST /messages/{id}/read', () => {
  it('marks the message as read at the platform, and a repeat makes no call', async () => {
    const { id, wamid } = await received();
    const before = Date.now();
    const first = await read(id);
    expect([first.status, first.body]).toEqual([
      200,
      { data: { id, read_at: expect.any(String) as string, typing_until: null } },
    ]);
    expect(Math.abs(Date.parse(first.body.data.read_at as string) - before)).toBeLessThan(60_000);
    expect(atPlatform(wamid)).toMatchObject({ reads: 1, readAt: expect.any(Number) as number });
    expect(atPlatform(wamid)).not.toHaveProperty('typingAt');

    const again = await read(id.toUpperCase(), { typing_indicator: false });
    expect(again.body).toEqual(first.body);
    expect(atPlatform(wamid)?.reads).toBe(1);
    expect((await workspace.message(id)).read_at).toBe(first.body.data.read_at);
    const other = await received();
    expect((await workspace.message(other.id)).read_at).toBeNull();
  });

  it('shows that you are typing, each time that it is asked for; read_at stays', async () => {
    const { id, wamid } = await received();
    const first = await read(id, { typing_indicator: true });
    expect(first.status).toBe(200);
    const left = Date.parse(first.body.data.typing_until as string) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(25_000);
    const again = await read(id, { typing_indicator: true });
    expect(again.body.data.read_at).toBe(first.body.data.read_at);
    expect(Date.parse(again.body.data.typing_until as string)).toBeGreaterThan(
      Date.parse(first.body.data.typing_until as string),
    );
    expect(atPlatform(wamid)).toMatchObject({ reads: 2, typingAt: expect.any(Number) as number });
    // Typing is not remembered: without it nothing is to be done.
    expect((await read(id)).body.data.typing_until).toBeNull();
    expect(atPlatform(wamid)?.reads).toBe(2);
  });

  it('many at once end alike', async () => {
    const { id } = await received();
    const answers = await Promise.all(Array.from({ length: 8 }, () => read(id)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data?.read_at}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
  });

  it.each(['queued', 'read', 'failed'] as const)('409 for a message that was sent, and is %s', async (status) => {
    const { id } = await test.factories.message({ connection: workspace.connection, status });
    expect(answerOf(await read(id))).toEqual([409, 'MESSAGE_NOT_RECEIVED']);
  });

  it('409 where the contact was erased', async () => {
    const { id, from } = await received();
    await test.database.execute('update message set meta_message_id = null, sender = null where id = $1', [id]);
    const { status, body } = await read(id);
    expect([status, body.error.code]).toEqual([409, 'MESSAGE_NOT_RECEIVED']);
    expect(body.error.message).toMatch(/erased/);
    expect(JSON.stringify(body)).not.toContain(from);
  });

  it('404 for another workspace’s message as for an unknown one and for none, and nothing is told of it', async () => {
    const { id, wamid } = await received();
    const stranger = await sendingWorkspace(test);
    const answers = [
      await read(id, {}, stranger.api),
      await read(newId(), {}, stranger.api),
      await read('1', {}, stranger.api),
    ];
    for (const { body } of answers) body.error.request_id = '';
    expect(answers.map(answerOf)).toEqual(Array.from({ length: 3 }, () => [404, 'MESSAGE_NOT_FOUND']));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    // Not even once its own workspace has read it.
    await read(id);
    expect(answerOf(await read(id, {}, stranger.api))).toEqual([404, 'MESSAGE_NOT_FOUND']);
    expect(atPlatform(wamid)?.reads).toBe(1);
  });

  it.each([{ typing_indicator: 'yes' }, { typing_indicator: null }, { typing: true }])('400 for %j', async (body) => {
    const { id, wamid } = await received();
    expect(answerOf(await read(id, body))).toEqual([400, 'INVALID_REQUEST']);
    expect(atPlatform(wamid)).not.toHaveProperty('reads');
  });

  it('needs the scope messages:write', async () => {
    const { id } = await received();
    const { text } = await test.factories.apiKey({
      organizationId: workspace.organizationId,
      scopes: ['messages:read'],
    });
    const { status, body } = await read(id, {}, test.api.as(text));
    expect([status, body.error.required_scope]).toEqual([403, 'messages:write']);
  });

  it('402 without a subscription, but for what is read already', async () => {
    const { id } = await test.factories.workspace({ paidUntil: new Date(Date.now() - 60_000) });
    const api = test.api.as((await test.factories.apiKey({ organizationId: id })).text);
    const connection = await connectionAtSimulator(test, id);
    const message = await received(connection, api);
    expect(answerOf(await read(message.id, {}, api))).toEqual([402, 'SUBSCRIPTION_REQUIRED']);
    await test.database.execute('insert into message_read (message_id, organization_id) values ($1, $2)', [
      message.id,
      id,
    ]);
    expect((await read(message.id, {}, api)).status).toBe(200);
    expect(answerOf(await read(message.id, { typing_indicator: true }, api))).toEqual([402, 'SUBSCRIPTION_REQUIRED']);
  });

  it('409 while the number is not connected', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId);
    const { id, wamid } = await received(connection);
    await test.app.get(ConnectionsService, { strict: false }).disconnect(workspace.organizationId, connection.id);
    expect(answerOf(await read(id))).toEqual([409, 'CONNECTION_NOT_READY']);
    expect(atPlatform(wamid)).not.toHaveProperty('reads');
  });

  it('502 and 504 where the platform cannot be reached or does not answer, and a repeat does it', async () => {
    const { id, wamid } = await received();
    test.simulator.applyFaults({ down: true });
    expect(answerOf(await read(id))).toEqual([502, 'PLATFORM_UNAVAILABLE']);
    test.simulator.applyFaults({ down: false, latency_ms: 30_000 });
    expect(answerOf(await read(id))).toEqual([504, 'PLATFORM_TIMEOUT']);
    expect((await workspace.message(id)).read_at).toBeNull();
    test.simulator.applyFaults({ latency_ms: 0 });
    expect((await read(id)).status).toBe(200);
    expect(atPlatform(wamid)?.readAt).toEqual(expect.any(Number));
  });

  it('400 with the reason where the platform does not know the message', async () => {
    const { id } = await test.factories.message({ connection: workspace.connection, status: 'received' });
    const { status, body } = await read(id);
    expect([status, body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
    expect(body.error.platform).toMatchObject({ code: 100 });
    expect((await workspace.message(id)).read_at).toBeNull();
  });
});
