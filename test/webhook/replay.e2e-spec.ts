import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { REPLAY_LOCK, ReplaysRepository } from '../../src/modules/webhook/replay/replays.repository.js';
import { Receiver, verify } from '../faults/webhook-receiver.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { insertPast, startWebhookApp, subscriber } from './fixture.js';
import { ago, ended, readReplay, start } from './replays.js';

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp(), Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

const times = (ids: readonly string[]): number[] => ids.map((id) => receiver.of(id).length);

describe('POST /webhook/replay', () => {
  it('delivers again what failed, under the same id and with the same body, and says how far it is', async () => {
    const { api, configure, emit } = await subscriber(test);
    const path = '/fails-first';
    const { secret } = await configure({ url: receiver.url(path) });
    receiver.answer = (delivery, nth) => ({ status: delivery.path === path && nth === 1 ? 500 : 204 });
    const ids = await emit(5);
    await waitFor(() => times(ids).every((count) => count === 1), { what: 'the first attempts' });
    const failed = async () => (await api.get('/webhook/deliveries?status=failed')).body.data as unknown[];
    await waitFor(async () => (await failed()).length === 5, { what: 'their outcomes' });

    const replay = await start(api, { since: ago(600) });
    expect(replay).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: expect.stringMatching(/^(running|done)$/),
      total: 5,
      done: expect.any(Number),
      created_at: expect.stringMatching(/Z$/),
      finished_at: replay.status === 'done' ? expect.any(String) : null,
    });
    const done = await ended(api, replay.id);
    expect(done).toMatchObject({ total: 5, done: 5, finished_at: expect.stringMatching(/Z$/) });
    await waitFor(() => times(ids).every((count) => count === 2), { what: 'the second attempts' });
    for (const id of ids) {
      const [first, second] = receiver.of(id);
      expect(second?.headers['webhook-id']).toBe(id);
      expect(second?.body).toBe(first?.body);
      if (second !== undefined) expect(verify(secret, second).id).toBe(id);
    }
    // All are delivered now: there is nothing left that failed.
    await waitFor(async () => {
      const { body } = await api.get('/webhook/deliveries?status=succeeded');
      return (body.data as unknown[]).length === 5;
    });
    expect(await start(api, { since: ago(600), status: 'failed' })).toMatchObject({
      status: 'done',
      total: 0,
      done: 0,
    });
  });

  it('takes the events of a time, of chosen kinds, delivered ones too where all are wanted', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    await configure({ url: receiver.url('/chosen') });
    const made = async (secondsAgo: number, outcome: 'delivered' | 'exhausted', type?: string) =>
      (await insertPast(test.database, organizationId, { count: 1, outcome, secondsAgo, type }))[0] ?? '';
    const early = await made(3_000, 'exhausted');
    const failed = await made(2_000, 'exhausted');
    const delivered = await made(2_000, 'delivered');
    const inbound = await made(2_000, 'delivered', 'message.received');
    const late = await made(1_000, 'exhausted');
    const all = [early, failed, delivered, inbound, late];
    const period = { since: ago(2_500), until: ago(1_500) };
    const expected: [object, number[]][] = [
      [period, [0, 1, 0, 0, 0]],
      // What was delivered by the first is not failed any more.
      [{ ...period, status: 'failed' }, [0, 1, 0, 0, 0]],
      [{ ...period, status: 'all', types: ['message.received'] }, [0, 1, 0, 1, 0]],
      [{ ...period, status: 'all' }, [0, 2, 1, 2, 0]],
      [{ since: ago(1_500) }, [0, 2, 1, 2, 1]],
    ];
    for (const [body, counts] of expected) {
      await ended(api, (await start(api, body)).id);
      await waitFor(async () => {
        const [row] = await test.database.query<{ open: number }>(
          'select count(*)::integer as open from webhook_queue where organization_id = $1',
          [organizationId],
        );
        return row?.open === 0;
      });
      expect(times(all)).toEqual(counts);
    }
  });

  it('waits while the webhook is paused, and goes on when it is active again; there is one at a time', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    const url = receiver.url('/paused');
    await configure({ url });
    const ids = await insertPast(test.database, organizationId, { count: 3, outcome: 'exhausted' });
    await configure({ url, active: false });
    const { id, status } = await start(api, { since: ago(600) });
    expect(status).toBe('paused');
    const second = await api.post('/webhook/replay', { since: ago(600) });
    expect([second.status, second.body.error.code]).toEqual([409, 'WEBHOOK_REPLAY_RUNNING']);
    // Another workspace's replay is done meanwhile, so rounds have passed.
    const other = await subscriber(test);
    await other.configure({ url: receiver.url('/beside') });
    await insertPast(test.database, other.organizationId, { count: 1, outcome: 'exhausted' });
    await ended(other.api, (await start(other.api, { since: ago(600) })).id);
    expect(await readReplay(api, id)).toMatchObject({ status: 'paused', done: 0 });
    expect(times(ids)).toEqual([0, 0, 0]);
    await configure({ url, active: true });
    await ended(api, id);
    await waitFor(() => times(ids).every((count) => count === 1));
  });

  it('does not keep a fresh event waiting', async () => {
    const { api, configure, organizationId, emit } = await subscriber(test);
    const path = '/busy';
    await configure({ url: receiver.url(path) });
    receiver.answer = (delivery) => ({ status: 204, delayMs: delivery.path === path ? 20 : 0 });
    await insertPast(test.database, organizationId, { count: 1_000, outcome: 'delivered' });
    const seen = () => receiver.received.filter((each) => each.path === path);
    const { id, total } = await start(api, { since: ago(600), status: 'all' });
    expect(total).toBe(1_000);
    await waitFor(() => seen().length > 20, { what: 'the replay to be under way' });
    const behind = [];
    for (let round = 0; round < 3; round++) {
      const before = seen().length;
      const [fresh = ''] = await emit();
      await waitFor(() => receiver.of(fresh).length === 1, { what: 'the fresh event' });
      behind.push(seen().findIndex((each) => each.id === fresh) - before);
    }
    expect((await readReplay(api, id)).status).toBe('running');
    // Twenty that were due, ten in flight, and what one round of the claim took before it was written.
    expect(Math.min(...behind)).toBeLessThanOrEqual(50);
    await configure({ url: receiver.url(path), active: false });
  });

  it('waits its three days from its start, however long the webhook was paused before', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    const url = receiver.url('/paused-for-long');
    await configure({ url });
    await insertPast(test.database, organizationId, { count: 1, outcome: 'exhausted' });
    await configure({ url, active: false });
    await test.database.execute(
      `update webhook_endpoint set inactive_since = inactive_since - interval '4 days' where organization_id = $1`,
      [organizationId],
    );
    const { id } = await start(api, { since: ago(600) });
    await test.app.get(Sweeps).runNow('webhook_replay_purge');
    expect(await readReplay(api, id)).toMatchObject({ status: 'paused', total: 1, done: 0 });
    await test.database.execute(`update webhook_replay set created_at = created_at - interval '4 days' where id = $1`, [
      id,
    ]);
    await test.app.get(Sweeps).runNow('webhook_replay_purge');
    expect((await api.get(`/webhook/replay/${id}`)).status).toBe(404);
  });

  it('refuses what cannot be, naming it', async () => {
    const { api, configure } = await subscriber(test);
    const without = await api.post('/webhook/replay', { since: ago(60) });
    expect([without.status, without.body.error.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
    await configure({ url: receiver.url('/refusing') });
    const cases: [object, string][] = [
      [{}, 'since'],
      [{ since: 'yesterday' }, 'since'],
      [{ since: '2026-02-30T00:00:00Z' }, 'since'],
      [{ since: ago(-60) }, 'since'],
      [{ since: ago(60), until: ago(120) }, 'since'],
      [{ since: ago(60), until: 5 }, 'until'],
      [{ since: ago(60), types: [] }, 'types'],
      [{ since: ago(60), types: ['message.sent'] }, 'types'],
      [{ since: ago(60), status: 'succeeded' }, 'status'],
      [{ since: ago(60), limit: 5 }, 'limit'],
    ];
    for (const [body, field] of cases) {
      const answer = await api.post('/webhook/replay', body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
      expect(answer.body.error.details?.[0]?.field).toMatch(new RegExp(`^${field}`));
    }
  });
  it('says what is more than it may have, and does not look again at once', async () => {
    const { api, configure } = await subscriber(test);
    await configure({ url: receiver.url('/too-many') });
    const replays = test.app.get(ReplaysRepository);
    const looks = import.meta.jest.spyOn(replays, 'start').mockResolvedValue({ id: null, tooMany: true });
    try {
      const { status, body } = await api.post('/webhook/replay', { since: ago(600) });
      expect([status, body.error.code, body.error.limit]).toEqual([422, 'WEBHOOK_REPLAY_TOO_LARGE', 100_000]);
      const again = await api.post('/webhook/replay', { since: ago(600) });
      expect([again.status, again.body.error.scope]).toEqual([429, 'webhook_replay']);
      expect(looks).toHaveBeenCalledTimes(1);
    } finally {
      looks.mockRestore();
    }
  });
});

it('collects the events of an endpoint for one request at a time', async () => {
  const { api, configure, organizationId } = await subscriber(test);
  await configure({ url: receiver.url('/one-at-a-time'), active: false });
  await insertPast(test.database, organizationId, { count: 3, outcome: 'exhausted' });
  await test.database.transaction(async () => {
    const [endpoint] = await test.database.query<{ locked: boolean }>(
      `select ${REPLAY_LOCK} as locked from webhook_endpoint e where organization_id = $1`,
      [organizationId],
    );
    expect(endpoint?.locked).toBe(true);
    const { status, body } = await api.post('/webhook/replay', { since: ago(600) });
    expect([status, body.error.code]).toEqual([409, 'WEBHOOK_REPLAY_RUNNING']);
  });
  expect(await start(api, { since: ago(600) })).toMatchObject({ total: 3 });
});

describe('GET /webhook/replay/{id}', () => {
  it('is there for its workspace, while it has the webhook', async () => {
    const { api, configure, organizationId } = await subscriber(test);
    await configure({ url: receiver.url('/own') });
    const { id } = await start(api, { since: ago(60) });
    expect((await api.get(`/webhook/replay/${id.toUpperCase()}`)).status).toBe(200);
    const stranger = await subscriber(test);
    await stranger.configure({ url: receiver.url('/strange') });
    for (const [caller, name] of [
      [stranger.api, id],
      [api, 'x'],
      [api, organizationId],
    ] as const) {
      const { status, body } = await caller.get(`/webhook/replay/${name}`);
      expect([status, body.error.code]).toEqual([404, 'WEBHOOK_REPLAY_NOT_FOUND']);
    }
    await api.request({ method: 'DELETE', path: '/webhook' });
    expect((await api.get(`/webhook/replay/${id}`)).status).toBe(404);
  });

  it('needs the scopes', async () => {
    const { organizationId, configure } = await subscriber(test);
    await configure({ url: receiver.url('/scopes') });
    const reader = test.api.as((await test.factories.apiKey({ organizationId, scopes: ['webhooks:read'] })).text);
    const { status, body } = await reader.post('/webhook/replay', { since: ago(60) });
    expect([status, body.error.required_scope]).toEqual([403, 'webhooks:write']);
    const writer = test.api.as((await test.factories.apiKey({ organizationId, scopes: ['webhooks:write'] })).text);
    expect((await writer.get(`/webhook/replay/${organizationId}`)).body.error.required_scope).toBe('webhooks:read');
  });
});
