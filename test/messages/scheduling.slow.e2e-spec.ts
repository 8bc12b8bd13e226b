import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
});

afterAll(() => test.stop());

const HOUR_MS = 3_600_000;
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** It is looked at now, at its time: released, failed or deferred. */
async function becomesDue(id: string): Promise<void> {
  await test.database.execute(
    `update message_queue set scheduled_for = clock_timestamp(), held_until = clock_timestamp(),
       expires_at = clock_timestamp() + (expires_at - scheduled_for)
     where message_id = $1`,
    [id],
  );
  await test.app.get(Sweeps, { strict: false }).runNow('schedule_due');
  const due = 'select 1 from message_queue where held_until <= clock_timestamp()';
  await waitFor(async () => (await test.database.query(due)).length === 0, { what: 'nothing scheduled to be due' });
}

/** Messages to the number that the platform took, in their order. */
const taken = (to: string): string[] =>
  test.simulator.messages.list({ to }).map(({ callback }) => callback?.split('.')[0] ?? '');

describe('POST /messages/{id}/cancel', () => {
  it('never both sends and cancels, however claims, releases and cancels meet', async () => {
    const own = await sendingWorkspace(test);
    const ids = new Map<string, string>();
    for (let n = 0; n < 60; n++) {
      const to = await own.contact();
      // Some are due at once, some by their release at the moment of the cancel.
      const body = n % 2 === 0 ? {} : { send_at: inMs(HOUR_MS) };
      const send = own.send(to, { body }).then(async ({ body: answer }) => {
        const { id } = answer.data as { id: string };
        ids.set(id, to);
        const due = n % 2 === 0 ? Promise.resolve() : becomesDue(id);
        const [answered] = await Promise.all([own.api.post(`/messages/${id}/cancel`), due]);
        expect([200, 409]).toContain(answered.status);
      });
      if (n % 6 === 5) await send;
    }
    await waitFor(() => ids.size === 60, { what: 'all to be taken' });
    const ends = { canceled: 0, sent: 0 };
    for (const [id, to] of ids) {
      const message = await own.reaches(id, 'read', 'failed');
      const wasSent = message.status === 'read';
      expect([id, message.failure_category, taken(to)]).toEqual([id, wasSent ? null : 'canceled', wasSent ? [id] : []]);
      ends[wasSent ? 'sent' : 'canceled']++;
    }
    expect(ends.canceled).toBeGreaterThan(0);
  });
});
