import { costOf } from '../support/rows-read.js';
import type { TestApp } from '../support/test-app.js';
import { TimelineService } from '../../src/modules/messages/timeline/timeline.service.js';
import type { SendingWorkspace } from './fixture.js';
import { delivered, startTimelineStage, type TimelineStage } from './timeline-stage.js';

let stage: TimelineStage;
let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  stage = await startTimelineStage();
  ({ test, workspace } = stage);
});
afterAll(() => stage?.stop());
afterEach(() => test.simulator.applyFaults({ statuses: 'on' }));

describe('the timeline of a sent message', () => {
  it('is found by its id, however many events its workspace and others have', async () => {
    const id = await workspace.sendAnswered(await workspace.contact());
    await workspace.reaches(id, 'read');
    const timeline = await delivered(workspace, id, 4);
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
