import fc from 'fast-check';
import { runs } from '../support/runs.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { earlierMessage, envelope, entries, changeOf, messageOf, notify, secondsNow, statusOf } from './fixture.js';

let test: TestApp;
let sender: TestSender;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
  sender = await test.sender();
});

afterAll(() => test.stop());

describe('statuses that come twice, late and out of order', () => {
  const RANK: Record<string, number> = { accepted: 0, sent: 1, failed: 2, delivered: 3, read: 4 };

  it('leave the highest state, whatever the order, the spelling and the number of notifications', async () => {
    const sequences = fc.array(fc.constantFrom('sent', 'delivered', 'read', 'failed', 'played'), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(sequences, fc.boolean(), fc.boolean(), async (statuses, together, parallel) => {
        const message = await earlierMessage(test, sender, 'accepted');
        // All of one second, whenever they are made.
        const timestamp = String(secondsNow() - 5);
        const items = [...statuses, ...statuses].map((status) => statusOf(message, status, { timestamp }));
        const payloads = together
          ? [entries(items.map((item) => ({ id: '1', changes: [changeOf(sender.connection, { statuses: [item] })] })))]
          : items.map((item) => envelope(sender.connection, { statuses: [item] }));
        if (parallel) await Promise.all(payloads.map((payload) => notify(test, payload)));
        else for (const payload of payloads) await notify(test, payload);

        const ranks = statuses.map((status) => (status === 'played' ? 'read' : status));
        const highest = ranks.reduce((best, each) => ((RANK[each] ?? 0) > (RANK[best] ?? 0) ? each : best), 'accepted');
        const end = await messageOf(sender, message.id);
        expect(end.status).toBe(highest);
        const times = [end.queued_at, end.accepted_at, end.sent_at, end.delivered_at, end.read_at].filter(Boolean);
        expect(times).toEqual([...(times as string[])].sort());
      }),
      { numRuns: runs(6) },
    );
  });
});
