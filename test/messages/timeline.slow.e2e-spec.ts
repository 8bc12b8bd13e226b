import type { MessageTimeline as Timeline } from '../../clients/typescript/src/resources.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { costOf } from '../support/rows-read.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp } from '../webhook/fixture.js';
import { TimelineService } from '../../src/modules/messages/timeline/timeline.service.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

let test: TestApp;
let receiver: Receiver;
let workspace: SendingWorkspace;

beforeAll(async () => {
  [test, receiver] = await Promise.all([
    startWebhookApp({
      roles: ['api', 'worker', 'simulator'],
      env: { WHATSAPP_TIMEOUT_MS: '1500' },
      simulator: { statusGapMs: 20 },
    }),
    Receiver.start(),
  ]);
  workspace = await sendingWorkspace(test);
  const made = await workspace.api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url() } });
  if (made.status !== 200) throw new Error(`PUT /webhook: ${made.status}`);
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});
afterEach(() => test.simulator.applyFaults({ statuses: 'on' }));

async function told(id: string, api = workspace.api): Promise<Timeline> {
  const { status, body } = await api.get(`/messages/${id}/timeline`);
  expect(status).toBe(200);
  return body as unknown as Timeline;
}

/** Once every event of it that is told of was delivered. */
async function delivered(id: string, events: number): Promise<Timeline> {
  return waitFor(
    async () => {
      const timeline = await told(id);
      const carried = timeline.data.filter(({ delivery_ids: ids = [] }) => ids.length > 0);
      if (carried.length < events) throw new Error(`${carried.length} of ${events} are delivered`);
      return timeline;
    },
    { what: 'the deliveries' },
  );
}

describe('the timeline of a sent message', () => {
  it('is found by its id, however many events its workspace and others have', async () => {
    const id = await workspace.sendAnswered(await workspace.contact());
    await workspace.reaches(id, 'read');
    const timeline = await delivered(id, 4);
    const { id: other } = await test.factories.workspace();
    const timelines = test.app.get(TimelineService, { strict: false });
    const pagesBeside = async (events: number): Promise<number> => {
      for (const organizationId of [other, workspace.organizationId]) {
        await test.database.execute(
          `insert into webhook_event (organization_id, type, data, occurred_at)
           select $1, 'message.status.updated', jsonb_build_object('message_id', uuid_v7()), clock_timestamp()
           from generate_series(1, $2::integer)`,
          [organizationId, events],
        );
      }
      await test.database.execute('vacuum analyze webhook_event');
      const { pages } = await costOf(test.database, 'webhook_event', async () => {
        const { data } = await timelines.of(workspace.organizationId, id);
        expect(data.map(({ event, delivery_ids: ids }) => [event, ids])).toEqual(
          timeline.data.map(({ event, delivery_ids: ids }) => [event, ids]),
        );
      });
      return pages;
    };
    const [few, many] = [await pagesBeside(2_000), await pagesBeside(20_000)];
    expect(many).toBeLessThanOrEqual(2 * few);
  });
});
