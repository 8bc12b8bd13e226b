import { randomUUID } from 'node:crypto';
import { waitFor } from '../support/wait-for.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

describe('roles apart', () => {
  let api: TestApp;
  let worker: TestApp;

  beforeAll(async () => {
    api = await startTestApp({ roles: ['api', 'simulator'] });
    const env = { WHATSAPP_API_URL: api.simulatorUrl ?? '' };
    worker = await startTestApp({ roles: ['worker'], shareWith: api, env });
  });

  afterAll(async () => {
    await worker.stop();
    await api.stop();
  });

  it('a worker answers health and metrics requests, and no others', async () => {
    expect((await worker.api.get('/health/live')).status).toBe(200);
    await waitFor(async () => (await worker.api.get('/health/ready')).status === 200, { what: 'readiness' });
    for (const path of ['/messages', '/docs', '/openapi.json', '/api/v2/messages', '/platform/whatsapp/webhook']) {
      const { status } = await worker.api.get(path);
      expect({ path, status }).toEqual({ path, status: 404 });
    }
  });

  it('what one process accepts another sends', async () => {
    const sender = await api.sender();
    const { phone } = await api.openWindow(sender);
    const { body } = await sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': randomUUID() } },
    );
    await waitFor(async () => {
      const { body: message } = await sender.api.get(`/messages/${body.data.id}`);
      return message.data.status === 'read';
    });
  });
});
