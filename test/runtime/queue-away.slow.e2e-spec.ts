import { randomBytes, randomUUID } from 'node:crypto';
import { PgNotifier } from '../../src/infrastructure/database/pg-notifier.js';
import { freePort } from '../support/rig/free-port.js';
import { codesSentTo, mobile, otpApp, setSender } from '../otp/fixture.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

const QUEUES = {
  'Redis refuses connections from the start': {
    redisUrl: async () => `redis://127.0.0.1:${await freePort()}`,
    cut: () => Promise.resolve(),
  },
  'no process listens for notifications': {
    redisUrl: () => Promise.resolve(''),
    cut: (...processes: TestApp[]) => {
      for (const { app } of processes) app.get(PgNotifier).onModuleDestroy();
      return Promise.resolve();
    },
  },
};

describe.each(Object.entries(QUEUES))('%s: with an api apart', (_name, queue) => {
  let api: TestApp;
  let worker: TestApp;
  let receiver: Receiver;

  const logged: string[] = [];
  const write = process.stderr.write.bind(process.stderr);

  beforeAll(async () => {
    process.stderr.write = (line) => logged.push(String(line)) > 0;
    receiver = await Receiver.start();
    const env = {
      REDIS_URL: await queue.redisUrl(),
      MEDIA_MIN_FREE_MIB: '0',
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      LOG_LEVEL: 'warn',
    };
    api = await startTestApp({ roles: ['api', 'simulator'], env });
    worker = await startTestApp({
      roles: ['worker'],
      shareWith: api,
      env: { ...env, WHATSAPP_API_URL: api.simulatorUrl ?? '' },
    });
    await queue.cut(api, worker);
  });

  afterAll(async () => {
    await worker?.stop();
    await api?.stop();
    await receiver?.stop();
    process.stderr.write = write;
  });

  it('messages are sent', async () => {
    const sender = await api.sender();
    const { phone } = await api.openWindow(sender);
    const { body } = await sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    await waitFor(async () => (await sender.api.get(`/messages/${body.data.id}`)).body.data.status === 'read');
  });

  it('codes are sent long before they are given up', async () => {
    await setSender(api);
    const shop = await otpApp(api, 'live', { packages: { DE: 10 } });
    const to = mobile();
    const { body } = await shop.send(to);
    await shop.reaches(body.data.id, 'read');
    expect(await codesSentTo(api, to.slice(1))).toHaveLength(1);
  });

  it('webhooks are delivered', async () => {
    const sender = await api.sender();
    const path = `/${randomUUID()}`;
    await sender.api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url(path) } });
    await control('inbound', {
      phone_number_id: sender.connection.phoneNumberId,
      from: testPhone(),
      message: { type: 'text', text: { body: 'Hi' } },
    });
    await waitFor(() => receiver.of(path).length === 1, { what: 'a delivery' });
  });

  it("customers' files are fetched", async () => {
    const sender = await api.sender();
    await control('inbound', {
      phone_number_id: sender.connection.phoneNumberId,
      from: testPhone(),
      message: { type: 'image', image: {} },
      file: { base64: randomBytes(10_000).toString('base64'), mime_type: 'image/jpeg' },
    });
    await waitFor(
      async () => {
        const [row] = await api.database.query<{ status: string }>(
          'select status from media_object where connection_id = $1',
          [sender.connection.id],
        );
        return row?.status === 'stored';
      },
      { what: 'a stored file' },
    );
  });

  it('every process says so, and is ready', async () => {
    for (const process of [api, worker]) {
      const { status, body } = await waitFor(async () => {
        const answer = await process.api.get('/health/ready');
        return answer.status === 200 && answer;
      });
      const { parts } = body as unknown as { parts: Record<string, unknown> };
      expect([status, parts.queue]).toEqual([200, { ok: true, detail: expect.stringMatching(/^away/) }]);
    }
  });

  it('each process says once that Redis is away, and no worker complains beside it', () => {
    const { redisUrl } = api.config.queue;
    const lines = logged.join('').match(/Redis cannot be reached|the queue reports/g) ?? [];
    if (redisUrl !== null) expect(lines).toEqual(['Redis cannot be reached', 'Redis cannot be reached']);
  });

  async function control(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${api.simulatorUrl}/_simulator/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBeLessThan(300);
  }
});
