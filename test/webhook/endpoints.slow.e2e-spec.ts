import type { TestApp } from '../support/test-app.js';
import { startWebhookApp, subscriber } from './fixture.js';
import { Receiver } from '../faults/webhook-receiver.js';

let test: TestApp;
let receiver: Receiver;

// Of a workspace, an application with 12 connections works on four calls at once; more would wait, and be refused in the end.
const AT_ONCE = 4;

/** Each caller makes its calls one after the other. */
function fromCallersAtOnce<T>(calls: number, call: (n: number) => Promise<T>): Promise<T[]> {
  const answers = Array.from({ length: AT_ONCE }, async (_, caller) => {
    const own: T[] = [];
    for (let n = caller; n < calls; n += AT_ONCE) own.push(await call(n));
    return own;
  });
  return Promise.all(answers).then((lists) => lists.flat());
}

beforeAll(async () => {
  const app = startWebhookApp({ env: { DATABASE_POOL_SIZE: '12' } });
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
