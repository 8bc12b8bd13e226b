import { runs } from '../../../../test/support/runs.js';
import { OUTCOMES, opened, take } from '../../../../test/support/fixtures/retries-and-reports.js';
import fc from 'fast-check';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import type { Attempt, StatusReport } from '../../message-state/message.types.js';

type Step =
  | { do: 'report'; status: StatusReport['status']; which: number }
  | { do: 'retry' }
  | { do: 'claim' }
  | { do: 'answer'; kind: keyof typeof OUTCOMES }
  | { do: 'late_accepted'; which: number };

it('an accepted retry is sent, or an attempt that did not fail proves that it need not be, in any order of events', async () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant('report' as const),
        status: fc.constantFrom(
          'sent' as const,
          'sent' as const,
          'failed' as const,
          'failed' as const,
          'delivered' as const,
        ),
        which: fc.nat(2),
      }),
    },
    { weight: 3, arbitrary: fc.constant({ do: 'retry' } as const) },
    { weight: 2, arbitrary: fc.constant({ do: 'claim' } as const) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant('answer' as const),
        kind: fc.constantFrom('accepted' as const, 'rejected' as const, 'deferred' as const, 'unknown' as const),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('late_accepted' as const), which: fc.nat(2) }) },
  );
  // Thirty random sequences may have neither.
  const KEPT: Step[] = [{ do: 'report', status: 'failed', which: 0 }, { do: 'retry' }];
  const WITHDRAWN: Step[] = [...KEPT, { do: 'report', status: 'delivered', which: 0 }];
  const ANSWERED: Step[] = [
    ...KEPT,
    { do: 'claim' },
    { do: 'answer', kind: 'unknown' },
    { do: 'retry' },
    { do: 'late_accepted', which: 1 },
  ];
  const NOT_NOW: Step[] = [
    ...ANSWERED.slice(0, -1),
    { do: 'claim' },
    { do: 'report', status: 'sent', which: 1 },
    { do: 'answer', kind: 'deferred' },
  ];
  const retried = { withdrawn: 0, kept: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
      const flow = await take();
      let open: Attempt['status'] = 'accepted';
      // What is promised to the caller: the message waits for an attempt.
      let owed = false;
      for (const step of steps) {
        if (step.do === 'report') {
          const attempt = flow.attempts[step.which % flow.attempts.length];
          if (attempt === undefined) continue;
          await flow.report(step.status, flow.attempts.indexOf(attempt));
          if (owed && (step.status === 'delivered' || (step.status === 'sent' && !attempt.failed))) {
            owed = false;
            retried.withdrawn++;
          }
          attempt.failed ||= step.status === 'failed';
        } else if (step.do === 'retry') {
          owed = (await flow.retry()) || owed;
        } else if (step.do === 'claim') {
          if (await flow.claim()) [owed, open] = [false, 'started'];
        } else if (step.do === 'late_accepted') {
          // Of an attempt that a retry has replaced while its outcome was unknown.
          const n = step.which % flow.attempts.length;
          const attempt = flow.attempts[n];
          if (attempt === undefined || (n === flow.attempts.length - 1 && open !== 'unknown')) continue;
          if ((await flow.attempt(n)).status !== 'unknown') continue;
          const moved = await flow.answer('accepted', n);
          if (owed) expect(moved).toBe(!attempt.failed);
          if (n === flow.attempts.length - 1) open = 'accepted';
          owed &&= attempt.failed;
        } else if (open === 'started') {
          const moved = await flow.answer(step.kind);
          open = step.kind;
          const attempt = flow.attempts.at(-1);
          if (moved && step.kind === 'deferred') {
            // A `sent` of an attempt with an unknown outcome that came while the retry was in flight is used now.
            const earlier = flow.attempts.slice(0, -1);
            const isTaken = await Promise.all(
              earlier.map(async ({ failed }, n) => !failed && (await flow.attempt(n)).status === 'accepted'),
            );
            owed = !isTaken.includes(true);
            if (!owed) retried.withdrawn++;
          }
          if (attempt !== undefined) attempt.failed ||= step.kind === 'rejected';
        }
        if (owed) retried.kept++;
        expect((await flow.row()).status === 'queued').toBe(owed);
      }
      // However they moved between the tables: each of them once, numbered without a gap.
      const known = await attemptRows(opened.database, flow.messageId);
      expect(known.map(({ number }) => number)).toEqual(flow.attempts.map((_attempt, index) => index + 1));
      expect((await flow.row()).attempt_count).toBe(flow.attempts.length);
    }),
    { numRuns: runs(30), examples: [[WITHDRAWN], [KEPT], [ANSWERED], [NOT_NOW]] },
  );
  expect(retried.withdrawn).toBeGreaterThan(0);
  expect(retried.kept).toBeGreaterThan(0);
});
