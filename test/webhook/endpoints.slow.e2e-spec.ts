import type { TestApp } from '../support/test-app.js';
import { startWebhookApp, subscriber } from './fixture.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { AT_ONCE, fromCallersAtOnce, POOL } from './callers-at-once.js';

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  const app = startWebhookApp({ env: POOL });
  [test, receiver] = await Promise.all([app, Receiver.start()]);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

describe('PUT /webhook', () => {
  it('succeeds whatever other requests delete meanwhile', async () => {
    const { api } = await subscriber(test);
    const body = { url: receiver.url() };
    const statuses = await fromCallersAtOnce(80, async (n) => {
      const method = n % AT_ONCE < AT_ONCE / 2 ? 'PUT' : 'DELETE';
      const { status } = await api.request({ method, path: '/webhook', body: method === 'PUT' ? body : undefined });
      return `${method} ${status}`;
    });
    // Where there is none, there is nothing to delete.
    expect(statuses.filter((status) => !/^DELETE (204|404)$/.test(status))).toEqual(Array(40).fill('PUT 200'));
    expect(statuses).toContain('DELETE 204');
  });
});
