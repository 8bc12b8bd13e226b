import { randomBytes } from 'node:crypto';
import { EndpointSecrets } from '../../src/modules/webhook/webhook-secrets.js';
import { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../src/infrastructure/secrets/secret-rotation.js';
import { NO_AUDIT } from '../support/no-audit.js';
import { Receiver, verify } from '../faults/webhook-receiver.js';
import type { ConnectionRow } from '../support/factories.js';
import type { TestApp, TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { insertEvents, startWebhookApp, subscriber, type Subscriber } from './fixture.js';

const KEY = { version: 7, key: randomBytes(32) };

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  const env = { ENCRYPTION_KEYS: `${KEY.version}:${KEY.key.toString('base64')}` };
  [test, receiver] = await Promise.all([
    startWebhookApp({ roles: ['api', 'worker', 'simulator'], env }),
    Receiver.start(),
  ]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

const put = (api: Subscriber['api'], body: object) => api.request({ method: 'PUT', path: '/webhook', body });

describe('connection_ids', () => {
  let sender: TestSender;
  let second: ConnectionRow;

  beforeEach(async () => {
    sender = await test.sender();
    second = await test.factories.connection({ organizationId: sender.workspace.id });
  });

  it('lets through the events of the chosen numbers, and those about none', async () => {
    const { api } = sender;
    const path = `/${sender.workspace.id}`;
    const url = receiver.url(path);
    const seen = () => receiver.received.filter((each) => each.path === path).map(({ id }) => id);
    /** The events that get there, of three: about the first number, the second, and none. */
    const arrive = async (): Promise<boolean[]> => {
      const of = (connectionId?: string) => ({ organizationId: sender.workspace.id, count: 1, connectionId });
      const ids: string[] = [];
      for (const connectionId of [sender.connection.id, second.id, undefined]) {
        ids.push(...(await insertEvents(test.database, [of(connectionId)])));
      }
      const { event_id: last } = (await api.post('/webhook/test')).body.data as { event_id: string };
      await waitFor(() => seen().includes(last), { what: 'the test event' });
      const waiting = async () =>
        test.database.query('select event_id from webhook_queue where organization_id = $1', [sender.workspace.id]);
      await waitFor(async () => (await waiting()).length === 0, { what: 'no event to wait' });
      return ids.map((id) => seen().includes(id));
    };
    expect((await put(api, { url })).body.data.connection_ids).toEqual([]);
    expect(await arrive()).toEqual([true, true, true]);
    const chosen = await put(api, { url, connection_ids: [second.id.toUpperCase(), second.id] });
    expect(chosen.body.data.connection_ids).toEqual([second.id]);
    expect(await arrive()).toEqual([false, true, true]);
    // What is left out stays; an empty list is all.
    expect((await put(api, { url })).body.data.connection_ids).toEqual([second.id]);
    expect(await arrive()).toEqual([false, true, true]);
    expect((await put(api, { url, connection_ids: [] })).body.data.connection_ids).toEqual([]);
    expect(await arrive()).toEqual([true, true, true]);
    expect((await api.get('/webhook')).body.data.connection_ids).toEqual([]);
  });

  it('is asked about each message', async () => {
    const { api, connection } = sender;
    await put(api, { url: receiver.url(), connection_ids: [second.id] });
    const customer = '4915112345611';
    const inbound = async (text: string): Promise<void> => {
      await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ phone_number_id: connection.phoneNumberId, from: customer, message: { text } }),
      });
    };
    const events = () =>
      test.database.query<{ body: string; endpoint_id: string | null }>(
        `select endpoint_id, data #>> '{message,body}' as body from webhook_event
         where organization_id = $1 and type = 'message.received' order by id`,
        [sender.workspace.id],
      );
    await inbound('to the other one');
    await waitFor(async () => (await events()).length === 1, { what: 'the first event' });
    await put(api, { url: receiver.url(), connection_ids: [second.id, connection.id] });
    await inbound('to this one');
    await waitFor(async () => (await events()).length === 2, { what: 'the second event' });
    expect((await events()).map(({ endpoint_id: id }) => id !== null)).toEqual([false, true]);
  });

  it('refuses what is no number of the workspace, and changes nothing', async () => {
    const { api } = sender;
    const foreign = await test.factories.connection({ organizationId: (await test.factories.workspace()).id });
    const nowhere = '01936f6d-0a1b-7f00-8c11-000000000000';
    const url = receiver.url();
    for (const id of [foreign.id, nowhere]) {
      const { status, body } = await put(api, { url, connection_ids: [second.id, id] });
      expect([status, body.error.code]).toEqual([404, 'WEBHOOK_CONNECTION_NOT_FOUND']);
      expect(body.error.details).toEqual([
        { field: 'connection_ids[1]', rule: 'unknown', message: 'The workspace has no number with this id.' },
      ]);
    }
    expect((await put(api, { url, connection_ids: [second.id, 'x'] })).body.error).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ field: 'connection_ids[1]', rule: 'format', message: 'connection_ids[1] must be a UUID.' }],
    });
    expect((await put(api, { url, connection_ids: Array(101).fill(second.id) })).status).toBe(400);
    expect((await api.get('/webhook')).status).toBe(404);
  });
});

describe('headers', () => {
  const VALUE = 'Bearer of-the-gateway-4711';
  const HEADERS = { Authorization: VALUE, 'X-Environment': 'production, eu' };

  it('go out with each delivery, beside ours and never in their place; no answer shows a value', async () => {
    const { api, configure, emit, organizationId } = await subscriber(test);
    const made = await put(api, { url: receiver.url(), headers: HEADERS });
    const { secret } = made.body.data as { secret: string };
    const [id = ''] = await emit();
    const delivery = await waitFor(() => receiver.of(id)[0]);
    expect(delivery.headers).toMatchObject({
      authorization: VALUE,
      'x-environment': 'production, eu',
      'content-type': 'application/json',
      'webhook-id': id,
    });
    expect(verify(secret, delivery).id).toBe(id);

    // Left out they stay, also on another path; an empty object removes them.
    await configure({ url: receiver.url('/same-server') });
    const read = await api.get('/webhook');
    expect(read.body.data.header_names).toEqual(['Authorization', 'X-Environment']);
    for (const answer of [made, read]) expect(JSON.stringify(answer.body)).not.toContain('of-the-gateway');
    const [kept = ''] = await emit();
    expect((await waitFor(() => receiver.of(kept)[0])).headers.authorization).toBe(VALUE);
    expect(await configure({ url: receiver.url(), headers: {} })).toMatchObject({ header_names: [] });
    const [bare = ''] = await emit();
    expect((await waitFor(() => receiver.of(bare)[0])).headers).not.toHaveProperty('authorization');
    const rows = await test.database.query(
      'select headers_ciphertext from webhook_endpoint where organization_id = $1',
      [organizationId],
    );
    expect(rows).toEqual([{ headers_ciphertext: null }]);
  });

  it('are forgotten with the webhook', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    await configure({ url: receiver.url(), headers: HEADERS });
    expect((await api.request({ method: 'DELETE', path: '/webhook' })).status).toBe(204);
    const rows = await test.database.query(
      'select header_names, headers_ciphertext from webhook_endpoint where organization_id = $1',
      [organizationId],
    );
    expect(rows).toEqual([{ header_names: [], headers_ciphertext: null }]);
  });

  it('do not follow the webhook to another server, where one who may not know them could read them', async () => {
    const { configure, emit } = await subscriber(test);
    const other = await Receiver.start();
    try {
      await configure({ url: receiver.url(), headers: HEADERS });
      expect(await configure({ url: other.url() })).toMatchObject({ header_names: [] });
      const [id = ''] = await emit();
      expect((await waitFor(() => other.of(id)[0])).headers).not.toHaveProperty('authorization');
      expect(await configure({ url: receiver.url(), headers: HEADERS })).toMatchObject({
        header_names: ['Authorization', 'X-Environment'],
      });
    } finally {
      await other.stop();
    }
  });

  it('are sealed for their row, and sealed again when the key is changed', async () => {
    const { configure, organizationId } = await subscriber(test);
    await configure({ url: receiver.url(), headers: HEADERS });
    const [row] = await test.database.query<{ id: string; headers_ciphertext: Buffer }>(
      'select id, headers_ciphertext from webhook_endpoint where organization_id = $1',
      [organizationId],
    );
    expect(row?.headers_ciphertext.includes('gateway')).toBe(false);
    const open = (box: SecretBox, sealed = row?.headers_ciphertext, id = row?.id ?? '') => {
      const secrets = new EndpointSecrets(box, { add: () => undefined } as never);
      return secrets.openHeaders(organizationId, id, sealed?.toString('base64') ?? '');
    };
    const boxOf = (...encryptionKeys: (typeof KEY)[]) =>
      new SecretBox({ security: { encryptionKeys, encryptionKeyVersion: null } } as never);
    expect(open(boxOf(KEY))).toEqual(HEADERS);
    expect(() => open(boxOf(KEY), row?.headers_ciphertext, organizationId)).toThrow();

    const fresh = { version: 8, key: randomBytes(32) };
    const rotation = new SecretRotation(test.database, boxOf(KEY, fresh), NO_AUDIT);
    // Signing secrets stay: this application has no other key.
    const ofHeaders = {
      add: (column: { table: string; column: string }) =>
        column.table === 'webhook_endpoint' ? rotation.add(column) : undefined,
    };
    const secrets = new EndpointSecrets(boxOf(KEY, fresh), ofHeaders as never);
    await rotation.rotate();
    const [after] = await test.database.query<{ headers_ciphertext: Buffer }>(
      'select headers_ciphertext from webhook_endpoint where organization_id = $1',
      [organizationId],
    );
    expect(open(boxOf(fresh), after?.headers_ciphertext)).toEqual(HEADERS);
    const sealed = after?.headers_ciphertext.toString('base64') ?? null;
    expect(secrets.openHeaders(organizationId, row?.id ?? '', sealed)).toEqual(HEADERS);
    // Back to what this application can open.
    await test.database.execute('update webhook_endpoint set headers_ciphertext = $2 where organization_id = $1', [
      organizationId,
      row?.headers_ciphertext,
    ]);
  });

  it('that cannot be opened end no delivery: the event waits for the key', async () => {
    const { configure, organizationId, emit, api } = await subscriber(test);
    await configure({ url: receiver.url(), headers: HEADERS });
    await test.database.execute(
      String.raw`update webhook_endpoint set headers_ciphertext = '\x0000000901' where organization_id = $1`,
      [organizationId],
    );
    const [id = ''] = await emit();
    const attempt = await waitFor(async () => {
      const { data } = (await api.get('/webhook/deliveries')).body;
      return (data as { event_id: string; error: string }[]).find(({ event_id: eventId }) => eventId === id);
    });
    expect(attempt.error).toBe('secret_unreadable');
    expect(receiver.of(id)).toEqual([]);
  });

  it.each([
    ['another name', { 'Content-Type': 'text/plain' }, 'headers.Content-Type'],
    ['one of ours', { 'webhook-signature': 'v1,x' }, 'headers.webhook-signature'],
    ['a header of HTTP', { Host: 'example.com' }, 'headers.Host'],
    ['no name', { '': 'x' }, 'headers.'],
    ['a name with a blank', { 'X-A B': 'x' }, 'headers.X-A B'],
    ['a name with a line break', { 'X-A\r\nHost': 'x' }, 'headers.X-A\ufffd\ufffdHost'],
    ['a line break', { 'X-A': 'x\r\nHost: evil' }, 'headers.X-A'],
    ['a line feed at the end', { 'X-A': 'x\n' }, 'headers.X-A'],
    ['blanks around', { 'X-A': ' x' }, 'headers.X-A'],
    ['beyond ASCII', { 'X-A': 'größe' }, 'headers.X-A'],
    ['an empty value', { 'X-A': '' }, 'headers.X-A'],
    ['a number', { 'X-A': 7 }, 'headers.X-A'],
    ['a long value', { 'X-A': 'x'.repeat(1_001) }, 'headers.X-A'],
    ['the same twice', { 'X-A': '1', 'x-a': '2' }, 'headers.x-a'],
    ['eleven', Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`X-${n}`, 'x'])), 'headers'],
    [
      'too much in all',
      Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`X-${n}`, 'x'.repeat(900)])),
      'headers',
    ],
    ['a list', ['X-A'], 'headers'],
    ['null', null, 'headers'],
  ])('refuse %s, and name the field without its value', async (_, headers, field) => {
    const { api } = await subscriber(test);
    const { status, body } = await put(api, { url: receiver.url(), headers });
    expect([status, body.error.code, body.error.details?.[0]?.field]).toEqual([400, 'INVALID_REQUEST', field]);
    expect(JSON.stringify(body)).not.toContain('evil');
    expect((await api.get('/webhook')).status).toBe(404);
  });
});
