import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
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
      const worker = async (): Promise<TestApp> => {
        const started = await startTestApp({
          roles: ['worker'],
          shareWith: api,
          env: { ...env, WHATSAPP_API_URL: String(api.simulatorUrl) },
        });
        // Its sweep finds nothing.
        const due = started.app.get(Sweeps)['sweeps'].find(({ name }) => name === 'send_due') ?? never();
        jest.spyOn(due, 'run').mockResolvedValue(0);
        return started;
      };
      const stops = await worker();
      // A message in flight keeps its stop open.
      const { opened, open } = gate();
      const sending = jest.spyOn(stops.app.get(CloudApiClient), 'sendMessage').mockImplementation(async () => {
        await opened;
        return { kind: 'unknown' } as never;
      });
      await send(api, await api.sender());
      await waitFor(() => sending.mock.calls.length > 0);
      const works = await worker();
      const told = jest.spyOn(stops.app.get(MessageSender), 'stop');
      const stopping = stops.stop();
      await waitFor(() => told.mock.calls.length > 0);
      try {
        const senders = await Promise.all(Array.from({ length: NUMBERS }, () => api.sender()));
        const ids = await Promise.all(senders.map((sender) => send(api, sender)));
        await waitFor(
          async () =>
            (
              await api.database.query(
                `select from message_attempt where message_id = any($1) and answer = 'accepted'`,
                [ids],
              )
            ).length === NUMBERS,
        );
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
