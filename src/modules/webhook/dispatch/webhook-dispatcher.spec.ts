import { claimRequest } from '../../../../test/support/claim-request.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../platform/lanes/lane.repository.js';
import { Counters } from '../../../platform/operations/counters.js';
import type { DeliveryResult } from '../delivery-client.js';
import { laneKeyOf } from '../webhook-lane-key.js';
import type { ClaimedEvent } from './dispatch.repository.js';
import { WebhookDispatcher, type DeliveryTask } from './webhook-dispatcher.js';

const SUCCESS: DeliveryResult = { kind: 'answered', status: 204, retryAfterMs: null, durationMs: 20 };
const WAIT: DeliveryResult = { kind: 'answered', status: 429, retryAfterMs: 30_000, durationMs: 20 };
const HUNG: DeliveryResult = { kind: 'answered', status: 500, retryAfterMs: null, durationMs: 10_000 };

let opened: OpenTestDatabase;

beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

/** A dispatcher of one endpoint, whose answers a test chooses. */
function stage() {
  const endpointId = newId();
  const laneKey = laneKeyOf(endpointId);
  let answer = SUCCESS;
  const event = (): ClaimedEvent => ({
    id: newId(),
    organizationId: newId(),
    endpointId,
    url: 'https://example.com/hook',
    secrets: [{ id: newId(), sealed: 'sealed' }],
    revision: 1,
    type: 'message.received',
    data: '{}',
    occurredAt: new Date(),
    attemptId: newId(),
    attemptNumber: 1,
    tries: 0,
  });
  const dispatcher = new WebhookDispatcher(
    { claim: ({ limit }: { limit: number }) => Promise.resolve(Array.from({ length: limit }, event)) } as never,
    { record: () => Promise.resolve({ disabled: null }) } as never,
    { open: () => `whsec_${Buffer.alloc(32, 1).toString('base64')}` } as never,
    { deliver: () => Promise.resolve(answer) } as never,
    new LaneRepository(opened.database),
    new Counters(),
  );
  const work = async (task: DeliveryTask | undefined, result: DeliveryResult): Promise<void> => {
    answer = result;
    if (task === undefined) throw new Error('nothing was claimed');
    await dispatcher.work(task);
  };
  const owner = newId();
  const claim = async (limit: number) => (await dispatcher.claim(claimRequest(laneKey, owner, limit))).items;
  const lane = async () => {
    const [row] = await opened.database.query<{ count: number; seconds: number | null }>(
      `select pause_count as count, extract(epoch from paused_until - clock_timestamp())::float8 as seconds
       from lane where key = $1`,
      [laneKey],
    );
    return { count: row?.count ?? 0, seconds: row?.seconds ?? 0 };
  };
  const endPause = () =>
    opened.database.execute('update lane set paused_until = clock_timestamp() where key = $1', [laneKey]);
  return { work, claim, lane, endPause };
}

it('a pause that the endpoint asked for is not lifted by a success that was claimed before it', async () => {
  const { work, claim, lane, endPause } = stage();
  for (let n = 0; n < 5; n++) await work((await claim(1))[0], SUCCESS);
  const tasks = await claim(5);
  await work(tasks[0], WAIT);
  for (const task of tasks.slice(1, 4)) await work(task, HUNG);
  await work(tasks[4], SUCCESS);
  expect(await lane()).toMatchObject({ count: 1 });
  expect((await lane()).seconds).toBeGreaterThan(20);
  // Once it is over a success forgets it.
  await endPause();
  await work((await claim(1))[0], SUCCESS);
  expect(await lane()).toEqual({ count: 0, seconds: 0 });
});
