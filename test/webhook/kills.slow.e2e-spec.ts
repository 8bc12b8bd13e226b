import { WebhookStorm } from '../faults/webhook-storm.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { connectionsOfWorkers } from '../support/connections-of-workers.js';
import { HeraldProcess } from '../support/herald-process.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { insertPast, OPEN_TARGETS, startWebhookApp, subscriber } from './fixture.js';

const ENDPOINTS = 20;
const EACH = 30;
const KILLS = 2;

let api: TestApp;
let receiver: Receiver;
let worker: HeraldProcess | null = null;

beforeAll(async () => {
  [api, receiver] = await Promise.all([startWebhookApp({ roles: ['api'] }), Receiver.start()]);
});
afterAll(async () => {
  await worker?.end('SIGKILL');
  await api?.stop();
  await receiver?.stop();
});

const startWorker = (): Promise<HeraldProcess> =>
  HeraldProcess.startWorker(api, { ...OPEN_TARGETS, LOG_LEVEL: 'info' });

describe('kill -9 of the worker', () => {
  it('loses no event, repeats only what was not recorded, and every delivery can be verified', async () => {
    const storm = new WebhookStorm((sql, params) => api.database.query(sql, params), receiver);
    const endpoints = await Promise.all(
      Array.from({ length: ENDPOINTS }, async (_, n) => {
        const { organizationId, configure } = await subscriber(api);
        const path = `/endpoint/${n}`;
        const { secret } = await configure({ url: receiver.url(path) });
        return { organizationId, path, secret };
      }),
    );
    await storm.emit(endpoints, EACH);
    const hurry = storm.hurry();
    const events = ENDPOINTS * EACH;
    for (let kill = 1; kill <= KILLS; kill++) {
      const before = storm.acknowledged;
      worker = await startWorker();
      expect(await connectionsOfWorkers(api)).toBeGreaterThan(0);
      await waitFor(() => storm.acknowledged > before + 30, { everyMs: 2, what: 'deliveries to go out' });
      const killed = worker;
      await storm.kill(async () => void (await killed.end('SIGKILL')));
      // The database goes on with what it was asked last: a claim may be made after its worker's death.
      await waitFor(async () => (await connectionsOfWorkers(api)) === 0, {
        what: 'the statements of the worker to end',
      });
      await storm.expireLeases();
    }
    expect(storm.acknowledged).toBeLessThan(events);
    worker = await startWorker();
    await waitFor(async () => (await storm.open()) === 0, { what: 'every event to be settled' });
    const verdict = await storm.judge();
    await hurry;
    expect(verdict).toMatchObject({ events, lost: 0, untrue: 0, unverifiable: 0, repeatedWithoutKill: 0 });
    expect(verdict.acknowledged + verdict.exhausted).toBeGreaterThanOrEqual(events);
    expect(verdict.attempts).toBeGreaterThan(events * 1.2);
  }, 180_000);

  it('interrupts no replay: the next worker goes on where it was, and repeats only what was in flight', async () => {
    await worker?.end('SIGKILL');
    const { api: caller, configure, organizationId } = await subscriber(api);
    const path = '/replayed';
    await configure({ url: receiver.url(path) });
    receiver.keep = true;
    receiver.answer = () => ({ status: 204, delayMs: 10 });
    const ids = await insertPast(api.database, organizationId, { count: 600, outcome: 'exhausted' });
    const since = new Date(Date.now() - 600_000).toISOString();
    const { data } = (await caller.post('/webhook/replay', { since })).body;
    expect(data).toMatchObject({ total: ids.length, done: 0 });
    const state = async () => (await caller.get(`/webhook/replay/${data.id as string}`)).body.data;
    const seen = () => receiver.received.filter((each) => each.path === path);

    worker = await startWorker();
    await waitFor(() => seen().length > 60, { everyMs: 2, what: 'the replay to be under way' });
    await worker.end('SIGKILL');
    await receiver.drained();
    await waitFor(async () => (await connectionsOfWorkers(api)) === 0, { what: 'the statements of the worker to end' });
    const { done } = await state();
    expect(done).toBeLessThan(ids.length);
    expect(done).toBeGreaterThanOrEqual(new Set(seen().map(({ id }) => id)).size);
    const inFlight = await api.database.query<{ id: string }>(
      `update webhook_queue set due_at = clock_timestamp()
       where organization_id = $1 and attempt_id is not null returning event_id as id`,
      [organizationId],
    );
    worker = await startWorker();
    await waitFor(async () => (await state()).status === 'done', { what: 'the replay to end' });
    const open = () => api.database.query('select 1 from webhook_queue where organization_id = $1', [organizationId]);
    await waitFor(async () => (await open()).length === 0, { what: 'every event to be delivered' });
    const times = new Map(ids.map((id) => [id, receiver.of(id).length]));
    expect([...times.values()].every((count) => count >= 1)).toBe(true);
    const repeated = [...times].filter(([, count]) => count > 1).map(([id]) => id);
    expect(inFlight.map(({ id }) => id)).toEqual(expect.arrayContaining(repeated));
  }, 180_000);
});
