import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { testPhone } from '../support/factories.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { waitingOf } from './waiting-message.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});
afterAll(async () => test?.stop());

describe('the estimate of a paced number', () => {
  const MESSAGES = 60;
  const PER_SECOND = 10;

  it('is the order in which the messages leave, and never later than they do', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, {
      throughputPerSecond: PER_SECOND,
    });
    const lanes = test.app.get(LaneRepository, { strict: false });
    // All are there before the first one leaves.
    await lanes.pause(connection.id, 'rate_limited (130429)', { leastMs: 60_000 });
    const ids: string[] = [];
    for (let n = 0; n < MESSAGES; n++) {
      const to = testPhone();
      await test.factories.conversation({ connection, phone: to });
      const { body } = await workspace.send(to, { body: { connection_id: connection.id } });
      ids.push(body.data.id as string);
    }
    await lanes.resume(connection.id);
    const estimates: { id: string; ahead: number; at: number }[] = [];
    for (const id of ids.toReversed()) {
      const { waiting, estimated_send_at: estimated } = await waitingOf(workspace, id);
      if (waiting?.reason !== 'number_pace') continue;
      const { data: now } = (await workspace.api.get(`/messages/${id}`)).body as { data: { status: string } };
      if (now.status === 'queued') estimates.push({ id, ahead: waiting.ahead, at: Date.parse(estimated ?? '') });
      if (estimates.length === 20) break;
    }
    expect(estimates.length).toBeGreaterThan(5);
    for (const id of ids) await workspace.reaches(id, 'accepted', 'sent', 'delivered', 'read');
    const rows = await test.database.query<{ id: string; at: Date }>(
      'select message_id as id, processing_at as at from message_state where connection_id = $1 order by processing_at',
      [connection.id],
    );
    const order = new Map(rows.map(({ id }, index) => [id, index]));
    const leftAt = new Map(rows.map(({ id, at }) => [id, at.getTime()]));
    const errors = estimates.map(({ id, at }) => (leftAt.get(id) ?? 0) - at);
    process.stderr.write(`left so many ms after the estimate: ${errors.map(Math.round).join(' ')}\n`);
    // They were asked from the last to the first. What one claim takes at once leaves in any order.
    const ranks = estimates.map(({ id }) => order.get(id) ?? -1);
    const turned = ranks.filter((rank, index) => rank > (ranks[index - 1] ?? Infinity) + 3);
    expect(turned).toEqual([]);
    // Nothing leaves sooner than the pace allows: a burst of a quarter of a second, and what one claim takes at once.
    expect(Math.min(...errors)).toBeGreaterThan(-1_000);
  });
});
