import { jest } from '@jest/globals';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { CloudApiClient } from '../../src/infrastructure/whatsapp/cloud-api-client.js';
import type { SendOutcome } from '../../src/infrastructure/whatsapp/outcome.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});

afterAll(() => test.stop());

afterEach(() => jest.restoreAllMocks());

const THROTTLED: SendOutcome = {
  kind: 'lane_paused',
  httpStatus: 429,
  platformCode: 130429,
  platformMessage: 'Rate limit hit',
  category: 'rate_limited',
  traceId: null,
  retryAfterMs: null,
  written: true,
};

const taken = (id: string): SendOutcome => ({
  kind: 'accepted',
  metaMessageId: `wamid.${id}`,
  waId: null,
  userId: null,
  httpStatus: 200,
});

/** Requests to the platform, in their order, each answered when the test says so. */
function requests() {
  const calls: { attemptId: string; at: number; answer: (outcome: SendOutcome) => void }[] = [];
  const client = test.app.get(CloudApiClient, { strict: false });
  jest.spyOn(client, 'sendMessage').mockImplementation(
    ({ body }) =>
      new Promise((answer) => {
        const attemptId = (body as { biz_opaque_callback_data: string }).biz_opaque_callback_data;
        calls.push({ attemptId, at: performance.now(), answer });
      }),
  );
  return calls;
}

it('a throttled number rests, although a request that was on its way before succeeds', async () => {
  const workspace = await sendingWorkspace(test);
  const calls = requests();
  const throttled = await workspace.sendText(await workspace.contact());
  await waitFor(() => calls.length === 1, { what: 'the first request' });
  const lucky = await workspace.sendText(await workspace.contact());
  await waitFor(() => calls.length === 2, { what: 'the second request' });

  const answeredAt = performance.now();
  calls[0]?.answer(THROTTLED);
  await workspace.reaches(throttled, 'queued');
  calls[1]?.answer(taken(lucky));
  await workspace.reaches(lucky, 'accepted');

  await waitFor(() => calls.length === 3, { what: 'the throttled message to go again' });
  expect((calls[2]?.at ?? 0) - answeredAt).toBeGreaterThanOrEqual(1_000);
  // The pauses are forgotten once a request succeeds that was claimed after them.
  calls[2]?.answer(taken(throttled));
  await waitFor(
    async () => {
      const [lane] = await test.database.query('select pause_count, paused_until from lane where key = $1', [
        workspace.connection.id,
      ]);
      return lane?.pause_count === 0 && lane.paused_until === null;
    },
    { what: 'the lane to forget its pause' },
  );
});

it('a pause is set before the message that met it is due again', async () => {
  const workspace = await sendingWorkspace(test);
  const calls = requests();
  const lanes = test.app.get(LaneRepository, { strict: false });
  const pause = lanes.pause.bind(lanes);
  const statuses: unknown[] = [];
  const id = await workspace.sendText(await workspace.contact());
  jest.spyOn(lanes, 'pause').mockImplementation(async (...given) => {
    statuses.push((await test.database.query('select status from message_view where id = $1', [id]))[0]?.status);
    await pause(...given);
  });
  await waitFor(() => calls.length === 1, { what: 'the request' });
  calls[0]?.answer(THROTTLED);
  await workspace.reaches(id, 'queued');
  expect(statuses).toEqual(['processing']);
  await waitFor(() => calls.length === 2, { what: 'the next request' });
  calls[1]?.answer(taken(id));
  await workspace.reaches(id, 'accepted');
});
