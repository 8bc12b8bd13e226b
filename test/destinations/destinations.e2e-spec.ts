import { newId } from '../../src/common/ids.js';
import { MAX_DESTINATIONS } from '../../src/modules/destinations/destinations.types.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { conversations, DestinationOwner } from './fixture.js';

const SECRET = 'correct-horse-battery';
/** Named by the operator, and nothing listens there. */
const NAMED = '127.0.0.1:9';
const NATS = { url: `nats://${NAMED}`, username: 'herald', password: SECRET };

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ env: { EVENT_DESTINATION_HOSTS: `${NAMED},localhost:9` } });
});
afterAll(() => test?.stop());

const owner = () => DestinationOwner.of(test);

describe('POST /destinations', () => {
  it('makes one, and shows no secret anywhere', async () => {
    const { api, organizationId } = await owner();
    const answer = await api.post('/destinations', { name: 'orders', nats: NATS });
    expect(answer.status).toBe(201);
    expect(answer.body.data).toMatchObject({
      name: 'orders',
      kind: 'nats',
      nats: { url: NATS.url, subject: 'herald.{type}', username: 'herald' },
      secrets: ['password'],
      events: ['message.received', 'message.status.updated'],
      connection_ids: [],
      status: 'active',
      waiting: 0,
    });
    const { id } = answer.body.data as { id: string };
    const shown = await Promise.all(['', `/${id}`].map((path) => api.get(`/destinations${path}`)));
    expect(JSON.stringify([answer.body, ...shown.map(({ body }) => body)])).not.toContain(SECRET);
    const rows = await test.database.query(`select d::text as row from event_destination d where id = $1`, [id]);
    const trail = await test.database.query(`select a::text as row from audit_event a where organization_id = $1`, [
      organizationId,
    ]);
    expect(JSON.stringify([rows, trail])).not.toContain(SECRET);
    expect(JSON.stringify(trail)).toContain('destination.created');
  });

  it.each([
    ['no kind', {}, 400, 'nats'],
    [
      'two kinds',
      {
        nats: NATS,
        sqs: { queue_url: 'https://a.example.org/q', region: 'x', access_key_id: 'k', secret_access_key: 's' },
      },
      400,
      'nats',
    ],
    ['another scheme', { nats: { url: 'http://nats.example.com:4222' } }, 400, 'nats.url'],
    ['a path behind NATS', { nats: { url: 'nats://nats.example.com:4222/x' } }, 400, 'nats.url'],
    ['a password in the address', { nats: { url: `nats://a:${SECRET}@${NAMED}` } }, 400, 'nats.url'],
    ['a wildcard', { nats: { url: NATS.url, subject: 'herald.>' } }, 400, 'nats.subject'],
    ['an empty token', { nats: { url: NATS.url, subject: 'herald..x' } }, 400, 'nats.subject'],
    ['a password without a user', { nats: { url: NATS.url, password: SECRET } }, 400, 'nats.username'],
    ['no password', { rabbitmq: { url: `amqp://${NAMED}`, exchange: 'x', username: 'a' } }, 400, 'rabbitmq.password'],
    ['an unknown field', { nats: { ...NATS, tls: true } }, 400, 'nats.tls'],
    ['no name', { name: undefined, nats: NATS }, 400, 'name'],
    ['an unknown kind of event', { nats: NATS, events: ['x'] }, 400, 'events[0]'],
    ['a foreign number', { nats: NATS, connection_ids: [newId()] }, 404, 'connection_ids[0]'],
  ])('refuses %s', async (_case, body, status, field) => {
    const { api } = await owner();
    const answer = await api.post('/destinations', { name: 'orders', ...body });
    expect([answer.status, answer.body.error.details?.[0]?.field]).toEqual([status, field]);
    expect(JSON.stringify(answer.body)).not.toContain(SECRET);
  });

  it.each([
    ['nats://127.0.0.1:4222', 'ip_literal'],
    ['nats://[::1]:4222', 'ip_literal'],
    ['nats://8.8.8.8:4222', 'ip_literal'],
    ['nats://localhost:4222', 'private_address'],
    ['nats://nats:4222', 'private_address'],
    ['nats://broker.internal:4222', 'private_address'],
    ['nats://2130706433:4222', 'private_address'],
    ['nats://0x7f.1:4222', 'malformed'],
    ['nats://LOCALHOST.:4222', 'private_address'],
    ['nats://broker.invalid:4222', 'unresolvable'],
  ])('does not connect to %s', async (url, reason) => {
    const { api } = await owner();
    const answer = await api.post('/destinations', { name: 'orders', nats: { url } });
    expect([answer.status, answer.body.error.code, answer.body.error.reason]).toEqual([
      400,
      'DESTINATION_ADDRESS_NOT_ALLOWED',
      reason,
    ]);
  });

  it('takes a host only with the port that the operator named', async () => {
    const { api } = await owner();
    const at = (url: string) => api.post('/destinations', { name: 'orders', nats: { url } });
    expect((await at('nats://localhost:9')).status).toBe(201);
    expect((await at('nats://localhost:10')).status).toBe(400);
  });

  it('has names once and a limit', async () => {
    const { api, organizationId } = await owner();
    const make = (n: number) => api.post('/destinations', { name: `d${n}`, nats: NATS });
    for (let n = 0; n < MAX_DESTINATIONS; n++) expect((await make(n)).status).toBe(201);
    expect((await make(0)).body.error.code).toBe('DESTINATION_LIMIT_REACHED');
    const all = await api.get<{ data: { id: string; name: string }[] }>('/destinations');
    expect(all.body.data.map(({ name }) => name)).toEqual(Array.from({ length: MAX_DESTINATIONS }, (_, n) => `d${n}`));
    expect((await api.request({ method: 'DELETE', path: `/destinations/${all.body.data[0]?.id}` })).status).toBe(204);
    expect((await make(1)).body.error.code).toBe('DESTINATION_NAME_TAKEN');
    const renamed = await api.request({
      method: 'PATCH',
      path: `/destinations/${all.body.data[1]?.id}`,
      body: { name: 'd2' },
    });
    expect([renamed.status, renamed.body.error.code]).toEqual([409, 'DESTINATION_NAME_TAKEN']);
    const rows = await test.database.query('select 1 from event_destination where organization_id = $1', [
      organizationId,
    ]);
    expect(rows).toHaveLength(MAX_DESTINATIONS - 1);
  });
});

it('is seen by its workspace alone', async () => {
  const [one, other] = [await owner(), await owner()];
  const { id } = await one.create({ nats: NATS });
  const body = { since: '2026-01-01T00:00:00Z' };
  const answers = await Promise.all([
    other.api.get(`/destinations/${id}`),
    other.api.request({ method: 'PATCH', path: `/destinations/${id}`, body: { active: false } }),
    other.api.request({ method: 'DELETE', path: `/destinations/${id}` }),
    ...['pause', 'resume', 'test'].map((action) => other.api.post(`/destinations/${id}/${action}`)),
    other.api.post(`/destinations/${id}/replay`, body),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(7).fill(404));
  expect((await other.api.get('/destinations')).body.data).toEqual([]);
  expect((await one.read(id)).status).toBe('active');
});

it('asks for the scopes of the webhook', async () => {
  const { organizationId } = await owner();
  const { text } = await test.factories.apiKey({ organizationId, scopes: ['webhooks:read'] });
  const reader = test.api.as(text);
  expect((await reader.get('/destinations')).status).toBe(200);
  expect((await reader.post('/destinations', { name: 'x', nats: NATS })).status).toBe(403);
});

describe('PATCH /destinations/{id}', () => {
  it('keeps secrets while the address stays, and forgets them with another one', async () => {
    const made = await owner();
    const { id } = await made.create({ nats: NATS });
    const patch = (body: unknown) => made.api.request({ method: 'PATCH', path: `/destinations/${id}`, body });
    const kept = await patch({ nats: { url: NATS.url, username: 'herald', subject: 'other.{type}' } });
    expect(kept.body.data).toMatchObject({ nats: { subject: 'other.{type}' }, secrets: ['password'] });
    const moved = await patch({ nats: { url: 'nats://localhost:9', username: 'herald' } });
    expect(moved.body.data).toMatchObject({ nats: { url: 'nats://localhost:9' }, secrets: [] });
    expect(
      (await patch({ rabbitmq: { url: `amqp://${NAMED}`, exchange: '', username: 'a', password: 'b' } })).status,
    ).toBe(400);
    expect((await patch({ nats: { url: 'nats://10.0.0.1:4222' } })).body.error.code).toBe(
      'DESTINATION_ADDRESS_NOT_ALLOWED',
    );
  });
});

describe('a destination whose broker is away', () => {
  it('is failing, says why and when it tries again; paused, it waits; resumed, it is tried at once', async () => {
    const made = await owner();
    const { id } = await made.create({ nats: NATS });
    await made.emit(conversations(2), 2);
    const failing = await made.until(id, ({ status }) => status === 'failing', 'the failure');
    expect(failing).toMatchObject({ last_error: 'connection_refused', waiting: 4, written: 0 });
    expect(failing.failing_since).not.toBeNull();
    expect((await made.api.post(`/destinations/${id}/test`)).body.data).toMatchObject({
      written: false,
      error: 'connection_refused',
    });
    const paused = await made.api.post(`/destinations/${id}/pause`);
    expect(paused.body.data).toMatchObject({ status: 'paused', waiting: 4 });
    const resumed = await made.api.post(`/destinations/${id}/resume`);
    expect(resumed.body.data).toMatchObject({ status: 'active', failing_since: null });
    await made.until(id, ({ status }) => status === 'failing', 'the next failure');
  });

  it('counts as a reader: events are recorded for it, and what retention takes is counted and told of', async () => {
    const made = await owner();
    const { id } = await made.create({ nats: NATS, active: false, events: ['message.status.updated'] });
    const { database } = test;
    await database.execute(
      `update event_recording set read_at = read_at - interval '60 days' where organization_id = $1`,
      [made.organizationId],
    );
    await test.app.get(Sweeps).runNow('webhook_purge');
    const ids = await made.emit(conversations(1), 5);
    expect(ids).toHaveLength(5);
    // Three of them are 40 days old.
    const old = ids.slice(0, 3);
    await database.execute(
      `update webhook_event set id = (overlay(id::text placing '0' from 2 for 1))::uuid where id = any($1)`,
      [old],
    );
    await database.execute(
      `update event_destination set cursor_id = '00000000-0000-7000-8000-000000000000', cursor_transaction = '0' where id = $1`,
      [id],
    );
    await test.app.get(Sweeps).runNow('retention');
    expect(await made.read(id)).toMatchObject({ lost: 3, waiting: 2, status: 'paused' });
    // What follows is not counted again.
    await test.app.get(Sweeps).runNow('retention');
    expect(await made.read(id)).toMatchObject({ lost: 3, waiting: 2 });
    await test.app.get(Sweeps).runNow('destination_losses');
    // An open transaction of another test may hold it back.
    const told = await waitFor(
      async () => {
        const { body } = await made.api.get<{ data: { type: string; data: unknown }[] }>('/events');
        return body.data.find(({ type }) => type === 'destination.events_lost');
      },
      { what: 'the event that tells of it' },
    );
    expect(told.data).toMatchObject({ destination_id: id, name: 'orders', kind: 'nats', events: 3, lost: 3 });
  });
});
