import { jest } from '@jest/globals';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { QueueEstimates } from '../../src/modules/sending/estimate/queue-estimate.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { testPhone } from '../support/factories.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { waitingOf, type Waiting } from './waiting-message.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});
afterAll(async () => test?.stop());

const DAY_MS = 86_400_000;

describe('while a message is queued', () => {
  it('its number is disconnected: the reason, no time, and when it expires', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status: 'disconnected' });
    const [first, second] = [
      await test.factories.message({ connection, recipient: testPhone() }),
      await test.factories.message({ connection, recipient: testPhone() }),
    ];
    const message = await waitingOf(workspace, second?.id ?? '');
    expect(message.waiting).toEqual({
      reason: 'number_disconnected',
      until: null,
      ahead: expect.any(Number) as number,
    });
    expect(message.estimated_send_at).toBeNull();
    expect(Date.parse(message.expires_at ?? '')).toBe(Date.parse(message.queued_at as string) + DAY_MS);
    // The list costs no look at the queue.
    const { data } = (await workspace.api.get(`/messages?connection_id=${connection.id}`)).body;
    expect(data.map((each: Waiting & { id: string }) => [each.id, each.waiting, each.expires_at])).toEqual([
      [second?.id, undefined, undefined],
      [first?.id, undefined, undefined],
    ]);
  });

  it('its number rests: until when', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId);
    await test.app
      .get(LaneRepository, { strict: false })
      .pause(connection.id, 'rate_limited (130429)', { leastMs: 60_000 });
    const to = testPhone();
    await test.factories.conversation({ connection, phone: to });
    const { id } = (await workspace.send(to, { body: { connection_id: connection.id } })).body.data as { id: string };
    const { id: behind } = (await workspace.send(to, { body: { connection_id: connection.id } })).body.data as {
      id: string;
    };
    for (const [each, ahead] of [
      [id, 0],
      [behind, 1],
    ] as const) {
      const message = await waitingOf(workspace, each);
      expect(message.waiting).toMatchObject({ reason: 'number_paused', ahead });
      expect(Date.parse(message.waiting?.until ?? '')).toBeGreaterThan(Date.now());
      expect(Date.parse(message.estimated_send_at ?? '')).toBeGreaterThanOrEqual(
        Date.parse(message.waiting?.until ?? ''),
      );
    }
  });

  it('an attempt was deferred, and a message to the same recipient stands behind it', async () => {
    const { connection } = workspace;
    const recipient = testPhone();
    const nextAttemptAt = new Date(Date.now() + 3_600_000);
    const { id } = await test.factories.message({ connection, recipient, nextAttemptAt });
    const { id: behind } = await test.factories.message({ connection, recipient });
    expect(await waitingOf(workspace, id)).toMatchObject({
      waiting: { reason: 'retry', until: nextAttemptAt.toISOString(), ahead: 0 },
      estimated_send_at: nextAttemptAt.toISOString(),
    });
    const next = await waitingOf(workspace, behind);
    expect(next.waiting).toEqual({
      reason: 'earlier_message_to_recipient',
      until: nextAttemptAt.toISOString(),
      ahead: 1,
    });
    expect(Date.parse(next.estimated_send_at ?? '')).toBeGreaterThanOrEqual(nextAttemptAt.getTime());
  });

  it('the message is scheduled: until then, and it expires that much later', async () => {
    const sendAt = new Date(Date.now() + 3_600_000);
    const to = await workspace.contact();
    const body = { send_at: sendAt.toISOString(), ttl_seconds: 600 };
    const { id } = (await workspace.send(to, { body })).body.data as { id: string };
    expect(await waitingOf(workspace, id)).toMatchObject({
      status: 'queued',
      waiting: { reason: 'scheduled', until: sendAt.toISOString(), ahead: 0 },
      estimated_send_at: sendAt.toISOString(),
      expires_at: new Date(sendAt.getTime() + 600_000).toISOString(),
    });
  });

  it('and no more once it has left; another workspace sees nothing of it', async () => {
    const id = await workspace.sendText(await workspace.contact());
    const message = await workspace.reaches(id, 'read');
    // What does not wait costs no look at the queue.
    const looks = jest.spyOn(test.app.get(QueueEstimates, { strict: false }), 'ofMessage');
    await waitingOf(workspace, id);
    expect(looks).not.toHaveBeenCalled();
    looks.mockRestore();
    expect(Object.keys(message)).not.toEqual(expect.arrayContaining(['waiting']));
    expect(Object.keys(message)).not.toEqual(expect.arrayContaining(['estimated_send_at']));
    expect(Object.keys(message)).not.toEqual(expect.arrayContaining(['expires_at']));
    const stranger = await sendingWorkspace(test);
    const { id: queued } = await test.factories.message({
      connection: workspace.connection,
      recipient: testPhone(),
      nextAttemptAt: new Date(Date.now() + 3_600_000),
    });
    expect((await stranger.api.get(`/messages/${queued}`)).status).toBe(404);
  });
});
