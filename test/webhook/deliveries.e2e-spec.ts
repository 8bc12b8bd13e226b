import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { newId } from '../../src/common/ids.js';
import { never } from '../support/never.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventState, insertEvents, makeDue, startWebhookApp, subscriber, type Subscriber } from './fixture.js';
import { Receiver, verify, type Received } from '../faults/webhook-receiver.js';

let test: TestApp;
let receiver: Receiver;
let gone = true;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp({ env: { WEBHOOK_MAX_WAITING: '1000' } }), Receiver.start()]);
  const answers: Record<string, (nth: number) => ReturnType<Receiver['answer']>> = {
    '/twice-500': (nth) => ({ status: nth <= 2 ? 500 : 200 }),
    '/500': () => ({ status: 500 }),
    '/redirect': () => ({ status: 302, headers: { location: receiver.url('/landed') } }),
    '/gone': () => ({ status: gone ? 410 : 204 }),
    '/wait-a-minute': () => ({ status: 429, headers: { 'retry-after': '60' } }),
    '/wait-a-day': () => ({ status: 503, headers: { 'retry-after': '86400' } }),
  };
  receiver.answer = ({ path }, nth) =>
    answers[path]?.(nth) ?? { status: 204, delayMs: path === '/thinks' ? thinkingMs() : 0 };
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

/** Short at first, and long enough in the end for many to meet at the receiver, however slowly they come. */
function thinkingMs(): number {
  const met = (receiver.mostAtOnce.get('/thinks') ?? 0) > 5;
  return met || receiver.of('/thinks').length <= 40 ? 60 : 600;
}

async function arrived(id: string, count = 1): Promise<Received[]> {
  await waitFor(() => receiver.of(id).length >= count, { what: `${count} deliveries of ${id}` });
  return receiver.of(id);
}

/** Waits until the event's attempt is written down and returns its row. */
function settled(id: string, attempts: number) {
  return waitFor(
    async () => {
      const [row] = await test.database.query<{ count: number }>(
        'select count(*)::integer as count from webhook_delivery where event_id = $1',
        [id],
      );
      return row?.count === attempts && eventState(test.database, id);
    },
    { what: `${attempts} attempts of ${id}` },
  );
}

describe('a delivery', () => {
  it('has the envelope, verifies with the published library and is logged', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url('/first?from=herald') });
    const [id = ''] = await emit();
    const [delivery = never()] = await arrived(id);
    expect(delivery.path).toBe('/first?from=herald');
    expect(delivery.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Herald\//),
      'webhook-id': id,
    });
    expect(verify(secret, delivery)).toEqual({
      id,
      type: 'message.status.updated',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      organization_id: organizationId,
      cursor: expect.stringMatching(/^[\w-]{44}$/),
      data: { message_id: expect.any(String), status: 'sent', sequence: 1, note: 'größe ✓' },
    });
    expect((await settled(id, 1)).status).toBe('delivered');
    expect((await api.get('/webhook')).body.data.recent_deliveries).toEqual([
      {
        id: expect.any(String),
        event_id: id,
        event_type: 'message.status.updated',
        attempt: 1,
        status: 'succeeded',
        http_status: 204,
        error: null,
        duration_ms: expect.any(Number),
        created_at: expect.any(String),
        next_attempt_at: null,
      },
    ]);
  });

  it('is made of chosen kinds only, but a test is always sent', async () => {
    const { api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/received-only'), events: ['message.received'] });
    const [other = ''] = await emit(3, 'message.status.updated');
    expect(await eventState(test.database, other)).toMatchObject({ status: 'recorded', due_at: null });
    const [id = ''] = await emit(1, 'message.received');
    await arrived(id);
    const answer = await api.post('/webhook/test');
    expect(answer.status).toBe(202);
    expect(answer.body.data).toMatchObject({ event_type: 'webhook.test', status: 'queued' });
    const [delivery = never()] = await arrived(answer.body.data.event_id as string);
    expect(JSON.parse(delivery.body)).toMatchObject({ type: 'webhook.test', data: { note: expect.any(String) } });
    expect(receiver.of('/received-only')).toHaveLength(2);
  });

  it('goes with others at once, 64 at the most', async () => {
    const { configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/thinks') });
    await emit(80);
    await waitFor(() => receiver.of('/thinks').length === 80);
    const most = receiver.mostAtOnce.get('/thinks');
    expect(most).toBeLessThanOrEqual(64);
    expect(most).toBeGreaterThan(10);
  });

  it('is a failed attempt that says why, that counts against no endpoint, where its secret cannot be opened', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/sealed') });
    const turnByte = (by: number) =>
      test.database.execute(
        `update webhook_secret set ciphertext = set_byte(ciphertext, 20, (get_byte(ciphertext, 20) + $2) % 256)
         where organization_id = $1`,
        [organizationId, by],
      );
    await turnByte(1);
    const [id = ''] = await emit();
    const data = await waitFor(async () => {
      const seen = (await api.get('/webhook')).body.data;
      return seen.recent_deliveries.length > 0 && seen;
    });
    expect(await eventState(test.database, id)).toMatchObject({ status: 'pending', tries: 0 });
    expect(data.recent_deliveries[0]).toMatchObject({
      status: 'failed',
      error: 'secret_unreadable',
      http_status: null,
    });
    expect(data.failing_since).toBeNull();
    expect(data.disabled_reason).toBeNull();
    expect(receiver.of('/sealed')).toEqual([]);
    // A rotation makes another secret; that the replaced one cannot be opened holds nothing up.
    await api.post('/webhook/rotate-secret');
    await makeDue(test, organizationId);
    await arrived(id);
    const [second = ''] = await emit();
    await arrived(second);
  });

  it('keeps the secret sealed in the database', async () => {
    const { organizationId, configure } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url() });
    const rows = await test.database.query<{ text: string }>(
      `select encode(ciphertext, 'escape') || hint as text from webhook_secret where organization_id = $1`,
      [organizationId],
    );
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(secret.slice(6, 40));
  });
});

describe('a failed attempt', () => {
  it('is repeated by the schedule with the same id and the same bytes, until it succeeds', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url('/twice-500') });
    const [id = ''] = await emit();
    const first = await settled(id, 1);
    expect(first).toMatchObject({ status: 'pending', tries: 1 });
    expect(first.wait_ms).toBeGreaterThan(3_500);
    expect(first.wait_ms).toBeLessThanOrEqual(6_000);
    await makeDue(test, organizationId);
    const second = await settled(id, 2);
    expect(second.wait_ms).toBeGreaterThan(23_000);
    expect(second.wait_ms).toBeLessThanOrEqual(36_000);
    await makeDue(test, organizationId);
    expect(await settled(id, 3)).toMatchObject({
      status: 'delivered',
      attempt_count: 3,
      due_at: null,
    });

    const deliveries = receiver.of(id);
    expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1);
    for (const delivery of deliveries) expect(verify(secret, delivery).id).toBe(id);
    const log = (await api.get('/webhook')).body.data.recent_deliveries as Record<string, unknown>[];
    expect(log.map(({ attempt, status, http_status, error }) => [attempt, status, http_status, error])).toEqual([
      [3, 'succeeded', 200, null],
      [2, 'failed', 500, 'http_500'],
      [1, 'failed', 500, 'http_500'],
    ]);
    expect(log[1]?.next_attempt_at).toEqual(expect.any(String));
  });

  it('is the last one after ten: the event is exhausted, and can be replayed', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/500') });
    const [id = ''] = await emit();
    for (let attempt = 1; attempt <= 10; attempt++) {
      await settled(id, attempt);
      await makeDue(test, organizationId);
    }
    expect(await eventState(test.database, id)).toMatchObject({
      status: 'exhausted',
      attempt_count: 10,
      due_at: null,
    });
    const failed = (await api.get('/webhook/deliveries?status=failed')).body.data;
    expect(failed).toHaveLength(10);
    expect(failed[0]).toMatchObject({ attempt: 10, next_attempt_at: null });

    await configure({ url: receiver.url('/fixed') });
    const replayed = await api.post(`/webhook/deliveries/${failed[3].id}/replay`);
    expect(replayed.status).toBe(202);
    expect(replayed.body.data).toMatchObject({ event_id: id, status: 'queued' });
    await waitFor(() => receiver.of('/fixed').length === 1);
    expect(receiver.of('/fixed')[0]?.id).toBe(id);
    expect(await settled(id, 11)).toMatchObject({ status: 'delivered' });
  });

  it('is any answer but 2xx: redirects are not followed, a dead port is reported', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/redirect') });
    const [id = ''] = await emit();
    await settled(id, 1);
    expect(receiver.of('/landed')).toEqual([]);
    const dead = await Receiver.start();
    const url = dead.url();
    await dead.stop();
    await configure({ url });
    await makeDue(test, organizationId);
    await settled(id, 2);
    const log = (await api.get('/webhook')).body.data.recent_deliveries;
    expect(log[1]).toMatchObject({ http_status: 302, error: 'http_302' });
    expect(log[0]).toMatchObject({ http_status: null, error: 'connection_refused' });
  });

  it('waits as long as the receiver asks, an hour at the most', async () => {
    const minute = await subscriber(test);
    const day = await subscriber(test);
    await minute.configure({ url: receiver.url('/wait-a-minute') });
    await day.configure({ url: receiver.url('/wait-a-day') });
    const [[first = ''], [second = '']] = await Promise.all([minute.emit(), day.emit()]);
    expect((await settled(first, 1)).wait_ms).toBeGreaterThan(55_000);
    expect((await settled(first, 1)).wait_ms).toBeLessThanOrEqual(60_000);
    const asked = (await settled(second, 1)).wait_ms;
    expect(asked).toBeGreaterThan(3_590_000);
    expect(asked).toBeLessThanOrEqual(3_600_000);
  });

  it('that was not recorded, because its worker died, is made again and logged as interrupted', async () => {
    const { organizationId, api, configure } = await subscriber(test);
    await configure({ url: receiver.url('/interrupted'), active: false });
    const [id = ''] = await insertEvents(test.database, [{ organizationId, count: 1 }]);
    await test.database.execute(
      `update webhook_queue set attempt_count = 1, attempt_id = $2, due_at = clock_timestamp() where event_id = $1`,
      [id, newId()],
    );
    await configure({ url: receiver.url('/interrupted'), active: true });
    expect(await settled(id, 2)).toMatchObject({ status: 'delivered', attempt_count: 2 });
    const log = (await api.get('/webhook')).body.data.recent_deliveries as Record<string, unknown>[];
    expect(log.map(({ attempt, status, error }) => [attempt, status, error])).toEqual([
      [2, 'succeeded', null],
      [1, 'failed', 'interrupted'],
    ]);
  });
});

describe('an endpoint that fails', () => {
  it('is disabled at once by 410; its events wait and go out after the next PUT', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    const url = receiver.url('/gone');
    await configure({ url });
    const [id = ''] = await emit();
    await settled(id, 1);
    await waitFor(async () => (await api.get('/webhook')).body.data.disabled_reason === 'gone');
    expect((await api.get('/webhook')).body.data).toMatchObject({ active: false });
    const [later = ''] = await emit();
    const held = (await api.post('/webhook/test')).body.data;
    expect(held.status).toBe('held');
    await makeDue(test, organizationId);
    await test.app.get(Sweeps).runNow('webhook_due');
    expect(receiver.of(later)).toEqual([]);
    gone = false;
    expect(await configure({ url })).toMatchObject({ disabled_reason: null });
    for (const waiting of [id, later, held.event_id as string]) {
      await waitFor(async () => (await eventState(test.database, waiting)).status === 'delivered');
    }
    expect(receiver.of('/gone')).toHaveLength(4);
  });

  it('is disabled after five days without one success, and not where one came in between', async () => {
    const failing = await subscriber(test);
    const sporadic = await subscriber(test);
    // The endpoint's health is written right after the outcome.
    const ages = (organizationId: string, days: number) =>
      waitFor(async () => {
        const aged = await test.database.query(
          `update webhook_endpoint set failing_since = failing_since - make_interval(secs => $2::double precision * 86400),
             last_failure_at = last_failure_at - interval '10 hours'
           where organization_id = $1 and failing_since is not null returning id`,
          [organizationId, days],
        );
        return aged.length === 1;
      });
    await failing.configure({ url: receiver.url('/500') });
    await sporadic.configure({ url: receiver.url('/twice-500') });
    const emitted: [id: string, subscriber: Subscriber][] = [];
    for (const each of [failing, sporadic]) {
      const { organizationId } = each;
      // One after the other: five seconds after its first attempt an event is due by itself.
      const [id = ''] = await each.emit();
      emitted.push([id, each]);
      await settled(id, 1);
      await ages(organizationId, 4.9);
      await makeDue(test, organizationId);
      await settled(id, 2);
    }
    expect((await failing.api.get('/webhook')).body.data).toMatchObject({
      disabled_reason: null,
      failing_since: expect.any(String),
    });
    for (const [id, { organizationId }] of emitted) {
      await ages(organizationId, 0.2);
      await makeDue(test, organizationId);
      await settled(id, 3);
    }
    const health = async ({ api }: Subscriber) => (await api.get('/webhook')).body.data;
    await waitFor(async () => (await health(failing)).disabled_reason === 'failing');
    await waitFor(async () => (await health(sporadic)).failing_since === null);
    expect(await health(sporadic)).toMatchObject({ disabled_reason: null });
  });
});

describe('events for a paused webhook', () => {
  it('wait, and go out once it is active', async () => {
    const { api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/paused'), active: false });
    const ids = await emit(25);
    expect(ids).toHaveLength(25);
    await test.app.get(Sweeps).runNow('webhook_due');
    expect((await api.post('/webhook/test')).body.data.status).toBe('held');
    await configure({ url: receiver.url('/paused'), active: true });
    await waitFor(() => receiver.of('/paused').length === 26);
    expect(new Set(receiver.of('/paused').map(({ id }) => id)).size).toBe(26);
  });

  it('are dropped after three days', async () => {
    const { organizationId, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/dropped'), active: false });
    const [old = '', young = ''] = await emit(2);
    await test.database.execute(`update webhook_queue set due_at = due_at - interval '73 hours' where event_id = $1`, [
      old,
    ]);
    const sweep = () => test.app.get(Sweeps).runNow('webhook_purge');
    const kept = async (id: string) => (await eventState(test.database, id)).status === 'pending';
    await sweep();
    // Three days count from the pause: what waited for its turn before is not dropped at once.
    expect(await kept(old)).toBe(true);
    await test.database.execute(
      `update webhook_endpoint set inactive_since = inactive_since - interval '4 days' where organization_id = $1`,
      [organizationId],
    );
    await sweep();
    expect([await kept(old), await kept(young)]).toEqual([false, true]);
    await configure({ url: receiver.url('/dropped'), active: true });
    await arrived(young);
    expect(receiver.of('/dropped')).toHaveLength(1);
  });

  it('are a bounded number: beyond it those due last are dropped', async () => {
    const { organizationId, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/bounded'), active: false });
    const [first = ''] = await emit();
    await emit(1_003);
    const [last = ''] = await emit();
    await test.app.get(Sweeps).runNow('webhook_purge');
    const rows = await test.database.query<{ id: string }>(
      `select event_id as id from webhook_queue where organization_id = $1`,
      [organizationId],
    );
    const left = new Set(rows.map(({ id }) => id));
    expect([left.size, left.has(first), left.has(last)]).toEqual([1_000, true, false]);
  });

  it('wait no more for a deleted webhook; old ones are removed with their time', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/purged'), active: false });
    await emit(10);
    await api.request({ method: 'DELETE', path: '/webhook' });
    await test.app.get(Sweeps).runNow('webhook_purge');
    const events = await test.database.query(
      'select status, count(*)::integer as n from webhook_event_view where organization_id = $1 group by 1',
      [organizationId],
    );
    expect(events).toEqual([{ status: 'recorded', n: 10 }]);

    await configure({ url: receiver.url('/purged') });
    const [fresh = ''] = await emit();
    await settled(fresh, 1);
    const aged = `00000000${newId().slice(8)}`;
    await test.database.execute('update webhook_event set id = $2 where id = $1', [fresh, aged]);
    await test.app.get(Sweeps).runNow('retention');
    await expect(eventState(test.database, aged)).rejects.toThrow('no event');
  });
});

describe('GET /webhook/deliveries', () => {
  it('goes through all attempts page by page and filters them', async () => {
    const { api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/listed') });
    const ids = [...(await emit(7)), ...(await emit(6, 'message.received'))];
    await waitFor(async () => (await api.get('/webhook/deliveries')).body.data.length === 13);
    const seen: Record<string, unknown>[] = [];
    for (let query = ''; ;) {
      const page = (await api.get(`/webhook/deliveries?limit=3${query}`)).body;
      seen.push(...(page.data as Record<string, unknown>[]));
      const { next_before: before, next_before_id: beforeId } = page.pagination;
      if (before === null) break;
      expect(page.data).toHaveLength(3);
      query = `&before=${before}&before_id=${beforeId}`;
    }
    expect(new Set(seen.map(({ event_id }) => event_id))).toEqual(new Set(ids));
    expect(new Set(seen.map(({ id }) => id)).size).toBe(13);
    const times = seen.map(({ created_at }) => created_at as string);
    expect(times).toEqual([...times].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)));

    const count = async (query: string) => (await api.get(`/webhook/deliveries?${query}`)).body.data.length as number;
    expect(await count('event_type=message.received')).toBe(6);
    expect(await count('event_type=message.received&status=succeeded')).toBe(6);
    expect(await count('status=failed')).toBe(0);
    expect(await count(`before=${times[12]}`)).toBe(0);
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'before=yesterday',
    'before=2026-11-21T08:00:00',
    'status=sent',
    'event_type=x',
    'before_id=01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b',
    'before=2026-13-41T08:00:00Z',
  ])('refuses %s', async (query) => {
    const { api } = await subscriber(test);
    const response = await api.get(`/webhook/deliveries?${query}`);
    expect([response.status, response.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
  });

  it('knows no delivery of a made-up id', async () => {
    const { api } = await subscriber(test);
    for (const id of [newId(), 'nonsense']) {
      for (const response of [
        await api.post(`/webhook/deliveries/${id}/replay`),
        await api.get(`/webhook/deliveries/${id}`),
      ]) {
        expect([response.status, response.body.error.code]).toEqual([404, 'WEBHOOK_DELIVERY_NOT_FOUND']);
      }
    }
  });
});

describe('GET /webhook/deliveries/{id}', () => {
  it('is the entry of the list, for its workspace only', async () => {
    const { api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/read') });
    const [id = ''] = await emit();
    await settled(id, 1);
    const [delivery] = (await api.get('/webhook/deliveries')).body.data;
    const [received = never()] = await arrived(id);
    const event = JSON.parse(received.body);
    expect((await api.get(`/webhook/deliveries/${delivery.id}`)).body.data).toEqual({ ...delivery, event });
    const other = await subscriber(test);
    await other.configure({ url: receiver.url('/other') });
    expect((await other.api.get(`/webhook/deliveries/${delivery.id}`)).status).toBe(404);
  });
});

describe('GET /webhook/deliveries?event_id', () => {
  it('has the attempts of one event, newest first, by page and state', async () => {
    const { organizationId, api, configure, emit } = await subscriber(test);
    await configure({ url: receiver.url('/500') });
    const [id = '', other = ''] = await emit(2);
    await settled(id, 1);
    await settled(other, 1);
    await makeDue(test, organizationId);
    await settled(id, 2);
    const list = async (query: string) => (await api.get(`/webhook/deliveries?event_id=${id}${query}`)).body;
    const { data } = await list('');
    expect(data.map(({ event_id: of, attempt }: { event_id: string; attempt: number }) => [of, attempt])).toEqual([
      [id, 2],
      [id, 1],
    ]);
    const page = await list('&limit=1');
    const { next_before: before, next_before_id: beforeId } = page.pagination;
    expect((await list(`&before=${before}&before_id=${beforeId}`)).data).toEqual(data.slice(1));
    expect((await list('&event_type=webhook.test')).data).toEqual([]);
    expect((await api.get('/webhook/deliveries?event_id=no-id')).status).toBe(400);
  });
});

describe('POST /webhook/deliveries/{id}/replay', () => {
  it('delivers a delivered event again, under its id', async () => {
    const { api, configure, emit } = await subscriber(test);
    const { secret } = await configure({ url: receiver.url('/replayed') });
    const [id = ''] = await emit();
    await settled(id, 1);
    const [delivery] = (await api.get('/webhook/deliveries')).body.data;
    expect((await api.post(`/webhook/deliveries/${delivery.id}/replay`)).status).toBe(202);
    const [first = never(), second = never()] = await arrived(id, 2);
    expect(second.body).toBe(first.body);
    expect(verify(secret, second).id).toBe(id);
    expect(await settled(id, 2)).toMatchObject({ status: 'delivered', attempt_count: 2 });
  });
});
