import { factsOf, cancelMessage, retryMessage } from '../../../test/support/facts.js';
import fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { attemptRows } from '../../../test/messages/attempt-row.js';
import { statusReport } from '../../../test/messages/platform-reports.js';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { statesThatTake } from './message-state.types.js';
import { OutcomeRepository, released } from '../sending/outcome/outcome.repository.js';
import type { OutcomeRecord } from './facts.types.js';
import { type ClaimedMessage, ClaimRepository } from '../sending/claim/claim.repository.js';
import { SendingSweepsRepository } from '../sending/sweeps/sending-sweeps.repository.js';
import { applyStatusReports } from '../messages/reports/status-reports.repository.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };
const MESSAGES = 6;
const RETRYABLE = [...new Set([...statesThatTake('retry'), ...statesThatTake('retry_confirmed')])];

let opened: OpenTestDatabase;
let factories: Factories;
let connection: ConnectionRow;
let sends: ClaimRepository;
let sweeps: SendingSweepsRepository;
let outcomes: OutcomeRepository[];

beforeAll(async () => {
  opened = await openTestDatabase(8);
  factories = new Factories(opened.database);
  sends = new ClaimRepository(opened.database);
  sweeps = new SendingSweepsRepository(opened.database, factsOf(opened.database));
  // As two processes have them: their statements overlap.
  outcomes = [
    new OutcomeRepository(opened.database, factsOf(opened.database)),
    new OutcomeRepository(opened.database, factsOf(opened.database)),
  ];
});
afterAll(() => opened.close());

const OUTCOMES = {
  accepted: { status: 'accepted', httpStatus: 200 },
  rejected: { status: 'failed', httpStatus: 400, category: 'invalid_content' },
  deferred: { status: 'queued', httpStatus: 429, category: 'rate_limited', tries: 1 },
  unknown: { status: 'outcome_unknown', category: 'platform_unavailable' },
} as const satisfies Record<string, Partial<OutcomeRecord>>;

function outcomeOf({ id, attemptId }: ClaimedMessage, kind: keyof typeof OUTCOMES): OutcomeRecord {
  return {
    ...released({ id, attemptId }),
    metaMessageId: kind === 'accepted' ? `wamid.${attemptId}` : null,
    ...OUTCOMES[kind],
  };
}

type Step =
  | { do: 'claim' | 'lease' | 'expiry' }
  | { do: 'retry' | 'cancel'; which: number }
  | { do: 'answer'; which: number; kind: keyof typeof OUTCOMES }
  | { do: 'report'; which: number; status: 'sent' | 'delivered' | 'read' | 'failed' };

const nat = fc.nat(1_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ do: 'claim' } as const) },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'lease' } as const, { do: 'expiry' } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('retry' as const), which: nat }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: nat }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('answer' as const),
      which: nat,
      kind: fc.constantFrom('accepted' as const, 'rejected' as const, 'deferred' as const, 'unknown' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('report' as const),
      which: nat,
      status: fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
    }),
  },
);

it('a message is in one place, each attempt once, however claims, answers, sweeps, retries, cancels and reports overlap', async () => {
  const claimedEver = { attempts: 0, statuses: new Set<string>() };
  await fc.assert(
    // Those of one list are under way at once.
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 3, maxLength: 12 }),
      async (rounds) => {
        connection = await factories.connection({ organizationId: (await factories.workspace()).id });
        await new LaneRepository(opened.database).ensure(connection.id);
        const ids: string[] = [];
        for (let n = 0; n < MESSAGES; n++) {
          ids.push(
            (
              await factories.message({
                connection,
                recipient: `1555${n % 3}`,
                createdAt: new Date(Date.now() - 1_000),
              })
            ).id,
          );
        }
        const claimed: ClaimedMessage[] = [];
        const run = async (now: Step): Promise<void> => {
          switch (now.do) {
            case 'claim': {
              const { items } = await claimLane(sends, claimRequest(connection.id, OWNER, 4), LIMITS);
              claimed.push(...items);
              break;
            }
            case 'lease':
              await opened.database.execute(
                'update message_queue set lease_until = clock_timestamp() where connection_id = $1 and lease_until is not null',
                [connection.id],
              );
              await sweeps.expireLeases(2);
              break;
            case 'expiry':
              await opened.database.execute(
                `update message_queue set expires_at = expires_at - interval '2 days'
               where message_id = (select min(message_id::text)::uuid from message_queue where connection_id = $1 and attempt_id is null)`,
                [connection.id],
              );
              await sweeps.expireQueued(100);
              break;
            case 'retry': {
              const messageId = ids[now.which % ids.length] ?? '';
              const { organizationId } = connection;
              await retryMessage(opened.database, organizationId, messageId, RETRYABLE, 'again');
              break;
            }
            case 'cancel':
              await cancelMessage(opened.database, connection.organizationId, ids[now.which % ids.length] ?? '');
              break;
            case 'answer': {
              const attempt = claimed[now.which % Math.max(1, claimed.length)];
              if (attempt !== undefined) await outcomes[now.which % 2]?.record(outcomeOf(attempt, now.kind));
              break;
            }
            case 'report': {
              const attempt = claimed[now.which % Math.max(1, claimed.length)];
              if (attempt === undefined) break;
              const reported = {
                id: attempt.id,
                attemptId: attempt.attemptId,
                metaMessageId: `wamid.${attempt.attemptId}`,
              };
              const report = statusReport(connection.id, reported, now.status);
              const { database } = opened;
              await database.transaction(() => applyStatusReports([report], database, factsOf(database)));
              break;
            }
          }
        };
        for (const round of rounds) {
          await Promise.all(round.map(run));
          const places = await opened.database.query<{ id: string; waits: boolean; decided: boolean; status: string }>(
            `select m.id, q.message_id is not null as waits, s.status <> 'queued' as decided,
             case when q.attempt_id is not null then 'processing' else s.status end as status
           from message m left join message_queue q on q.message_id = m.id left join message_state s on s.message_id = m.id
           where m.connection_id = $1`,
            [connection.id],
          );
          expect(places).toHaveLength(MESSAGES);
          for (const { id, waits, decided, status } of places) {
            expect({ id, waits, decided: !decided }).toEqual({ id, waits, decided: waits });
            claimedEver.statuses.add(status);
          }
          const wire = await opened.database.query<{ recipient: string }>(
            'select recipient from message_queue where connection_id = $1 and attempt_id is not null',
            [connection.id],
          );
          expect(new Set(wire.map(({ recipient }) => recipient)).size).toBe(wire.length);
        }
        for (const id of ids) {
          const attempts = await attemptRows(opened.database, id);
          const own = claimed.filter((one) => one.id === id);
          expect(new Set(attempts.map(({ id: attemptId, number }) => JSON.stringify([attemptId, number])))).toEqual(
            new Set(own.map(({ attemptId, attemptNumber }) => JSON.stringify([attemptId, attemptNumber]))),
          );
          expect(attempts).toHaveLength(own.length);
          claimedEver.attempts += own.length;
        }
      },
    ),
    { numRuns: runs(20) },
  );
  expect(claimedEver.attempts).toBeGreaterThan(0);
  expect([...claimedEver.statuses].sort()).toEqual(
    expect.arrayContaining(['queued', 'processing', 'accepted', 'failed', 'outcome_unknown']),
  );
});
