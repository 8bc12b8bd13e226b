import { factsOf, retryMessage } from '../../../../test/support/facts.js';
import { runs } from '../../../../test/support/runs.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import fc from 'fast-check';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { attemptRow, attemptRows } from '../../../../test/messages/attempt-row.js';
import { statusReport } from '../../../../test/messages/platform-reports.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { statesThatTake } from '../../message-state/message-state.types.js';
import type { Attempt, StatusReport } from '../../message-state/message.types.js';
import { OutcomeRepository, released } from '../../sending/outcome/outcome.repository.js';
import type { OutcomeRecord } from '../../message-state/facts.types.js';
import { ClaimRepository } from '../../sending/claim/claim.repository.js';
import { StatusBatches } from '../../../../test/messages/report-batches.js';

const OWNER = newId();
const RETRYABLE = [...new Set([...statesThatTake('retry'), ...statesThatTake('retry_confirmed')])];
const OUTCOMES = {
  accepted: { status: 'accepted', httpStatus: 200 },
  rejected: { status: 'failed', httpStatus: 400, category: 'invalid_content' },
  deferred: { status: 'queued', httpStatus: 429, category: 'rate_limited' },
  unknown: { status: 'outcome_unknown', category: 'platform_unavailable' },
} as const satisfies Record<string, Partial<OutcomeRecord>>;

let opened: OpenTestDatabase;
let statuses: StatusBatches;
let outcomes: OutcomeRepository;
let sends: ClaimRepository;
let lanes: LaneRepository;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  const { database } = opened;
  statuses = new StatusBatches(database);
  outcomes = new OutcomeRepository(database, factsOf(database));
  sends = new ClaimRepository(database);
  lanes = new LaneRepository(database);
  factories = new Factories(database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
});

afterAll(() => opened.close());

/** A message of which the platform took the first attempt. */
async function take(): Promise<Flow> {
  const made = await factories.message({ connection, status: 'accepted', recipient: testPhone() });
  return new Flow(made.id, [{ id: made.attemptId ?? '', metaMessageId: made.metaMessageId ?? '', failed: false }]);
}

interface SentAttempt {
  id: string;
  metaMessageId: string;
  /** The platform refused it, or reported that it failed. */
  failed: boolean;
}

/** One message, driven through the same statements as in the service. */
class Flow {
  constructor(
    readonly messageId: string,
    readonly attempts: SentAttempt[],
  ) {}

  async row(): Promise<Record<string, unknown>> {
    const rows = await opened.database.query('select * from message_view where id = $1', [this.messageId]);
    return rows[0] ?? {};
  }

  attempt(n = 0): Promise<Record<string, unknown>> {
    return attemptRow(opened.database, this.attempts[n]?.id ?? '');
  }

  async report(status: StatusReport['status'], n = 0): Promise<void> {
    const { id, metaMessageId } = this.attempts[n] ?? { id: '', metaMessageId: '' };
    const reported = { id: this.messageId, attemptId: id, metaMessageId };
    await statuses.apply(statusReport(connection.id, reported, status));
  }

  retry(): Promise<boolean> {
    const { organizationId } = connection;
    return retryMessage(opened.database, organizationId, this.messageId, RETRYABLE);
  }

  /** True where the message was claimed for another attempt. */
  async claim(): Promise<boolean> {
    const { id } = connection;
    await lanes.ensure(id);
    const { items } = await claimLane(sends, claimRequest(id, OWNER, 64), { leaseMs: 3_600_000 });
    const mine = items.find((message) => message.id === this.messageId);
    if (mine !== undefined)
      this.attempts.push({ id: mine.attemptId, metaMessageId: `wamid.${mine.attemptId}`, failed: false });
    return mine !== undefined;
  }

  /** The answer to an attempt: the latest one, or the n-th. True where the message was moved. */
  async answer(kind: keyof typeof OUTCOMES, n = -1): Promise<boolean> {
    const { id, metaMessageId } = this.attempts.at(n) ?? { id: '', metaMessageId: '' };
    const recorded = await outcomes.record({
      ...released({ id: this.messageId, attemptId: id }),
      metaMessageId: kind === 'accepted' ? metaMessageId : null,
      ...OUTCOMES[kind],
    });
    return recorded === 'recorded' || recorded === 'retry_canceled';
  }
}

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
