import { randomUUID } from 'node:crypto';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

describe('an application in this process', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startTestApp();
  });

  afterAll(async () => {
    await app.stop();
  });

  it('takes a message, sends it to the simulator, and records the outcome', async () => {
    const sender = await app.sender();
    const { phone } = await app.openWindow(sender);
    const sent = await sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    expect(sent).toMatchObject({ status: 202, body: { data: { status: 'queued' } } });
    const message = await waitFor(async () => {
      const { body } = await sender.api.get(`/messages/${sent.body.data.id}`);
      return body.data.attempts[0]?.status === 'accepted' ? body.data : null;
    });
    expect(message.meta_message_id).toMatch(/^wamid\./);
    expect(app.simulator.messages.list({ to: phone })).toHaveLength(1);
  });

  it('is alive and ready', async () => {
    expect((await app.api.get('/health/live')).status).toBe(200);
    await waitFor(async () => (await app.api.get('/health/ready')).status === 200, { what: 'readiness' });
  });
});
