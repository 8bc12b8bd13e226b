import { jest } from '@jest/globals';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { Receiver, verify } from '../faults/webhook-receiver.js';
import { never } from '../support/never.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { eventState, startWebhookApp, subscriber } from './fixture.js';

let api: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [api, receiver] = await Promise.all([startWebhookApp({ roles: ['api'] }), Receiver.start()]);
});
afterAll(async () => {
  await api?.stop();
  await receiver?.stop();
});

/** Of it deliveries have three tenths to end by themselves: longer than a busy machine rests. */
const SHUTDOWN_TIMEOUT_MS = 8_000;

const startWorker = () =>
  startWebhookApp({
    roles: ['worker'],
    shareWith: api,
    env: { SHUTDOWN_TIMEOUT_MS: String(SHUTDOWN_TIMEOUT_MS) },
  });

describe('api and worker apart', () => {
  it('an event is delivered by a job of the api, without the sweep', async () => {
    const { configure, emit } = await subscriber(api);
    await configure({ url: receiver.url('/apart') });
    const worker = await startWorker();
    try {
      // Its sweep finds nothing.
      const due = worker.app.get(Sweeps)['sweeps'].find(({ name }) => name === 'webhook_due') ?? never();
      jest.spyOn(due, 'run').mockResolvedValue(0);
      for (let n = 1; n <= 3; n++) {
        await emit(5);
        await waitFor(() => receiver.of('/apart').length === 5 * n);
      }
      expect(receiver.of('/apart')).toHaveLength(15);
    } finally {
      await worker.stop();
    }
  });
});

describe('a graceful stop', () => {
  it('lets deliveries end that can, and gives back those that hang: the next worker makes them at once', async () => {
    receiver.answer = ({ path }, nth) => {
      if (path === '/hangs' && nth === 1) return 'hang';
      return { status: 204, delayMs: path === '/slow' ? 200 : 0 };
    };
    const hanging = await subscriber(api);
    const slow = await subscriber(api);
    const { secret } = await hanging.configure({ url: receiver.url('/hangs') });
    await slow.configure({ url: receiver.url('/slow') });
    const worker = await startWorker();
    const [[hung = ''], [ended = '']] = await Promise.all([hanging.emit(), slow.emit()]);
    await waitFor(() => receiver.of(hung).length === 1 && receiver.of(ended).length === 1);
    await worker.stop();
    expect((await eventState(api.database, ended)).status).toBe('delivered');
    // The attempt that was given up counts for nothing and is due at once.
    expect(await eventState(api.database, hung)).toMatchObject({ status: 'pending', tries: 0, attempt_count: 0 });
    expect((await hanging.api.get('/webhook')).body.data.recent_deliveries).toEqual([]);

    const next = await startWorker();
    try {
      await waitFor(() => receiver.of(hung).length === 2);
      expect(verify(secret, receiver.of(hung)[1] ?? never()).id).toBe(hung);
    } finally {
      await next.stop();
    }
  });
});
