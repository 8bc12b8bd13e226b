import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { LaneOwner } from '../../src/infrastructure/queue/lane-owner.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { CloudApiClient } from '../../src/infrastructure/whatsapp/cloud-api-client.js';
import { MessageSender } from '../../src/modules/sending/processors/message-sender.js';
import { gate } from '../support/gate.js';
import { hasRedis, startRedis } from '../support/rig/redis.js';
import { Scope } from '../support/rig/scope.js';
import { never } from '../support/never.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

// Needs a program of Redis on the machine.
const withRedis = (await hasRedis()) ? it : it.skip;

const NUMBERS = 20;

async function startWorker(api: TestApp, env: Record<string, string>): Promise<TestApp> {
  const worker = await startTestApp({
    roles: ['worker'],
    shareWith: api,
    env: { ...env, WHATSAPP_API_URL: String(api.simulatorUrl) },
  });
  // Its sweep finds nothing.
  const due = worker.app.get(Sweeps)['sweeps'].find(({ name }) => name === 'send_due') ?? never();
  jest.spyOn(due, 'run').mockResolvedValue(0);
  return worker;
}

const accepted = (api: TestApp, ids: readonly string[]) =>
  api.database.query(`select from message_attempt where message_id = any($1) and answer = 'accepted'`, [ids]);

async function send(api: TestApp, sender: TestSender): Promise<string> {
  const { phone } = await api.openWindow(sender);
  const answer = await sender.api.post(
    '/messages',
    { connection_id: sender.connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
    { headers: { 'idempotency-key': randomUUID() } },
  );
  expect(answer.status).toBe(202);
  return (answer.body.data as { id: string }).id;
}

withRedis(
  'a worker that stops takes no job from one that works: no message waits for the sweep',
  async () => {
    const scope = new Scope();
    const env = { REDIS_URL: await startRedis(scope) };
    const api = await startTestApp({ roles: ['api', 'simulator'], env });
    try {
      const stops = await startWorker(api, env);
      // A message in flight keeps its stop open.
      const { opened, open } = gate();
      const sending = jest.spyOn(stops.app.get(CloudApiClient), 'sendMessage').mockImplementation(async () => {
        await opened;
        return { kind: 'unknown' } as never;
      });
      await send(api, await api.sender());
      await waitFor(() => sending.mock.calls.length > 0);
      const works = await startWorker(api, env);
      const told = jest.spyOn(stops.app.get(MessageSender), 'stop');
      const stopping = stops.stop();
      await waitFor(() => told.mock.calls.length > 0);
      try {
        const senders = await Promise.all(Array.from({ length: NUMBERS }, () => api.sender()));
        const ids = await Promise.all(senders.map((sender) => send(api, sender)));
        await waitFor(async () => (await accepted(api, ids)).length === NUMBERS);
      } finally {
        open();
        await stopping;
        await works.stop();
      }
    } finally {
      await api.stop();
      await scope.close();
    }
  },
  120_000,
);

it('a worker that stops tells the others of its lanes: no message waits for the sweep', async () => {
  const api = await startTestApp({ roles: ['api', 'simulator'] });
  const workers: TestApp[] = [];
  try {
    const stops = await startWorker(api, {});
    workers.push(stops);
    const sender = await api.sender();
    // So slow that most of its messages wait for their turn in the lane of the first worker.
    await api.database.execute('update connection set throughput_per_second = 2 where id = $1', [sender.connection.id]);
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) ids.push(await send(api, sender));
    await waitFor(async () => (await accepted(api, ids)).length > 0);
    workers.push(await startWorker(api, {}));
    await stops.app.get(LaneOwner)['beat']();
    await stops.stop();
    const sentBefore = (await accepted(api, ids)).length;
    expect(sentBefore).toBeLessThan(ids.length);
    await waitFor(async () => (await accepted(api, ids)).length === ids.length);
  } finally {
    for (const worker of workers) await worker.stop();
    await api.stop();
  }
}, 120_000);
