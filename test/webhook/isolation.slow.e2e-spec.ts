import { WebhookService } from '../../src/modules/webhook/webhook.service.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { insertEvents, startWebhookApp, subscriber, type Subscriber } from './fixture.js';
import { Receiver } from '../faults/webhook-receiver.js';

const HEALTHY = 50;
const HANGING = 100;
const QUEUED_EACH = 500;
const CONNECTIONS = 10;
const ROUNDS = 5;

let test: TestApp;
let receiver: Receiver;

beforeAll(async () => {
  [test, receiver] = await Promise.all([
    startWebhookApp({ env: { DATABASE_POOL_SIZE: String(CONNECTIONS) } }),
    Receiver.start(),
  ]);
  receiver.answer = ({ path }) => (path.startsWith('/hang') ? 'hang' : { status: 204 });
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

async function subscribers(count: number, path: string): Promise<Subscriber[]> {
  const made = await Promise.all(Array.from({ length: count }, () => subscriber(test)));
  // More at once than connections would be refused where the machine is busy.
  for (let from = 0; from < count; from += CONNECTIONS) {
    const some = made.slice(from, from + CONNECTIONS);
    await Promise.all(some.map((one, n) => one.configure({ url: receiver.url(`${path}/${from + n}`) })));
  }
  return made;
}

it('a hundred endpoints that hang, with a backlog each, leave fifty healthy ones alone', async () => {
  const healthy = await subscribers(HEALTHY, '/well');
  const hanging = await subscribers(HANGING, '/hang');
  const batches = hanging.map(({ organizationId }) => ({ organizationId, count: QUEUED_EACH }));
  await insertEvents(test.database, batches);
  test.app.get(WebhookService).wake(hanging.map(({ organizationId }) => organizationId));
  const attempts = () => receiver.received.filter(({ path }) => path.startsWith('/hang'));
  // Each has taken its first two places.
  await waitFor(() => attempts().length >= 2 * HANGING);
  const arrived = () => receiver.received.filter(({ path }) => path.startsWith('/well')).length;
  for (let round = 1; round <= ROUNDS; round++) {
    await insertEvents(
      test.database,
      healthy.map(({ organizationId }) => ({ organizationId, count: 2 })),
    );
    test.app.get(WebhookService).wake(healthy.map(({ organizationId }) => organizationId));
    await waitFor(() => arrived() === round * 2 * HEALTHY, { what: 'every healthy event' });
  }
  // They arrived while the first attempts of the others were still under way, or had failed and earned no more places.
  const hangingSeconds = (performance.now() - (attempts()[0]?.at ?? 0)) / 1_000;
  expect(attempts().length).toBeLessThanOrEqual(HANGING * (2 + Math.ceil(hangingSeconds / 10)));
}, 180_000);
