import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { connectionAtSimulator, postNotification, sendingWorkspace, type SendingWorkspace } from './fixture.js';

/**
 * What sweeps, notifications and late answers do where the magic recipients do not lead. The state table, row by row, is
 * held by message-transitions.spec.ts.
 */
let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ env: { WHATSAPP_TIMEOUT_MS: '1500' }, simulator: { statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

interface Fabricated {
  id: string;
  attemptId: string;
  to: string;
}

async function messageIn(status: Parameters<TestApp['factories']['message']>[0]['status']): Promise<Fabricated> {
  const to = await workspace.contact();
  const made = await test.factories.message({
    connection: workspace.connection,
    status,
    recipient: to,
    nextAttemptAt: new Date(Date.now() + 3_600_000),
  });
  return { id: made.id, attemptId: made.attemptId ?? '', to };
}

/** Lets the simulator post a signed notification about a message. */
async function notify(about: { id: string; to: string; attemptId: string | null }, status: string): Promise<void> {
  const value = {
    messaging_product: 'whatsapp',
    metadata: {
      display_phone_number: workspace.connection.phoneNumber,
      phone_number_id: workspace.connection.phoneNumberId,
    },
    statuses: [
      {
        id: `wamid.${newId()}`,
        status,
        timestamp: String(Math.floor(Date.now() / 1_000)),
        recipient_id: about.to,
        ...(about.attemptId ? { biz_opaque_callback_data: `${about.id}.${about.attemptId}` } : {}),
      },
    ],
  };
  const response = await postNotification(test, value, workspace.connection.wabaId);
  expect(response).toBe(200);
}

describe('queued', () => {
  it('for longer than 24 hours fails as expired and is never sent', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { status: 'connected' });
    const old = new Date(Date.now() - 25 * 3_600_000);
    const { id } = await test.factories.message({
      connection,
      recipient: '15550109999',
      createdAt: old,
      nextAttemptAt: old,
    });
    const message = await waitFor(async () => {
      const current = await workspace.message(id);
      return current.status === 'failed' && current;
    });
    expect(message).toMatchObject({ failure_category: 'expired', attempt_count: 0 });
    expect(test.simulator.messages.list({ to: '15550109999' })).toHaveLength(0);
  });
});

describe('processing', () => {
  it('whose lease ran out is outcome_unknown, its attempt closed as unknown, and never resent', async () => {
    const to = await workspace.contact();
    const { id } = await test.factories.message({
      connection: workspace.connection,
      status: 'processing',
      recipient: to,
      leaseUntil: new Date(Date.now() - 1_000),
    });
    expect(await workspace.reaches(id, 'outcome_unknown')).toMatchObject({ attempts: [{ status: 'unknown' }] });
    // It would go out before a later message to the same recipient.
    const later = await workspace.sendText(to);
    await workspace.reaches(later, 'read');
    expect(await workspace.message(id)).toMatchObject({ status: 'outcome_unknown', attempt_count: 1 });
    expect(test.simulator.messages.list({ to })).toHaveLength(1);
  });
});

describe('outcome_unknown', () => {
  it('is settled by a notification of its attempt', async () => {
    const made = await messageIn('outcome_unknown');
    await notify({ id: made.id, to: made.to, attemptId: made.attemptId }, 'sent');
    await workspace.reaches(made.id, 'sent');
  });

  it('is not settled by another message, nor by another workspace', async () => {
    const made = await messageIn('outcome_unknown');
    await notify({ id: made.id, to: made.to, attemptId: newId() }, 'sent');
    const stranger = await sendingWorkspace(test);
    const foreign = await test.factories.message({ connection: stranger.connection, status: 'outcome_unknown' });
    await notify({ id: foreign.id, to: made.to, attemptId: foreign.attemptId }, 'delivered');
    expect(await workspace.message(made.id)).toMatchObject({ status: 'outcome_unknown' });
    expect(await stranger.message(foreign.id)).toMatchObject({ status: 'outcome_unknown' });
  });
});

describe('the order to one recipient', () => {
  it('is that of acceptance', async () => {
    const to = await workspace.contact();
    for (let index = 0; index < 20; index++) {
      expect((await workspace.send(to, { body: { text: { body: `line ${index}` } } })).status).toBe(202);
    }
    await waitFor(() => test.simulator.messages.list({ to }).length === 20);
    const lines = test.simulator.messages
      .list({ to })
      .map((taken) => (taken.body as { text: { body: string } }).text.body);
    expect(lines).toEqual(Array.from({ length: 20 }, (_unused, index) => `line ${index}`));
  });
});

describe('the queue', () => {
  it('may lose every job: the sweep finds the rows', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 10; index++) {
      const to = await workspace.contact();
      const { id } = await test.factories.message({ connection: workspace.connection, recipient: to });
      ids.push(id);
    }
    for (const id of ids) await workspace.reaches(id, 'read');
  });
});

describe('a token that the platform refuses', () => {
  it('rests the lane, and its messages wait instead of failing', async () => {
    const connection = await connectionAtSimulator(test, workspace.organizationId, { token: 'revoked token' });
    const { phone } = await test.factories.conversation({ connection });
    const response = await workspace.send(phone, { body: { connection_id: connection.id } });
    expect(response.status).toBe(202);
    const id = response.body.data.id as string;
    await waitFor(async () => {
      const message = await workspace.message(id);
      return message.status === 'queued' && message.attempts.length > 0 && message.attempts[0].status === 'deferred';
    });
    const [row] = await test.database.query<{ tries: number }>(
      'select tries from message_queue where message_id = $1',
      [id],
    );
    expect(row?.tries).toBe(0);
  });
});
