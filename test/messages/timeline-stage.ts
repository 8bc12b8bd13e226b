import type { MessageTimeline as Timeline } from '../../clients/typescript/src/resources.js';
import { Receiver } from '../faults/webhook-receiver.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp } from '../webhook/fixture.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

/** A workspace whose messages go to the simulator, and its webhook to a receiver. */
export interface TimelineStage {
  test: TestApp;
  receiver: Receiver;
  workspace: SendingWorkspace;
  stop: () => Promise<void>;
}

export async function startTimelineStage(): Promise<TimelineStage> {
  const [test, receiver] = await Promise.all([
    startWebhookApp({
      roles: ['api', 'worker', 'simulator'],
      env: { WHATSAPP_TIMEOUT_MS: '1500' },
      simulator: { statusGapMs: 20 },
    }),
    Receiver.start(),
  ]);
  const workspace = await sendingWorkspace(test);
  const made = await workspace.api.request({ method: 'PUT', path: '/webhook', body: { url: receiver.url() } });
  if (made.status !== 200) throw new Error(`PUT /webhook: ${made.status}`);
  return {
    test,
    receiver,
    workspace,
    stop: async () => {
      await test.stop();
      await receiver.stop();
    },
  };
}

export async function told({ api }: SendingWorkspace, id: string): Promise<Timeline> {
  const { status, body } = await api.get(`/messages/${id}/timeline`);
  expect(status).toBe(200);
  return body as unknown as Timeline;
}

/** Once every event of it that is told of was delivered. */
export async function delivered(workspace: SendingWorkspace, id: string, events: number): Promise<Timeline> {
  return waitFor(
    async () => {
      const timeline = await told(workspace, id);
      const carried = timeline.data.filter(({ delivery_ids: ids = [] }) => ids.length > 0);
      if (carried.length < events) throw new Error(`${carried.length} of ${events} are delivered`);
      return timeline;
    },
    { what: 'the deliveries' },
  );
}
