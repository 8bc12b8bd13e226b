import { factsOf } from '../../../../test/support/facts.js';
import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { reportedAs, secondsAgo, statusReport, type Reported } from '../../../../test/messages/platform-reports.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { type MessageStatus, type OutboundStatus } from '../../message-state/message-state.types.js';
import type { StatusReport } from '../../message-state/message.types.js';
import { OutcomeRepository } from '../../sending/outcome/outcome.repository.js';
import { StatusBatches } from '../../../../test/messages/report-batches.js';

let opened: OpenTestDatabase;
let statuses: StatusBatches;
let outcomes: OutcomeRepository;
let factories: Factories;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  statuses = new StatusBatches(opened.database);
  outcomes = new OutcomeRepository(opened.database, factsOf(opened.database));
  factories = new Factories(opened.database);
  const workspace = await factories.workspace();
  connection = await factories.connection({ organizationId: workspace.id });
  await opened.database.execute('insert into event_recording (organization_id) values ($1)', [workspace.id]);
});

afterAll(() => opened.close());

async function make(status: MessageStatus): Promise<Reported> {
  return reportedAs(await factories.message({ connection, status, recipient: testPhone(), createdAt: secondsAgo(60) }));
}

const report = (made: Reported, status: StatusReport['status'], change?: Partial<StatusReport>) =>
  statusReport(connection.id, made, status, change);

async function row(id: string): Promise<Record<string, unknown>> {
  const rows = await opened.database.query('select * from message_view where id = $1', [id]);
  return rows[0] ?? {};
}

/** When each event of a message occurred, in the order of their sequence. */
async function occurrences(id: string): Promise<[status: string, at: string][]> {
  const rows = await opened.database.query<{ status: string; at: string }>(
    `select data ->> 'status' as status, data ->> 'occurred_at' as at from webhook_event where data ->> 'message_id' = $1
     order by (data ->> 'sequence')::integer`,
    [id],
  );
  return rows.map(({ status, at }) => [status, at]);
}

describe('many reports at once', () => {
  it('come to the highest evidence, however they interleave with each other and with the send’s own answers', async () => {
    const reported = fc.array(
      fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
      {
        maxLength: 7,
      },
    );
    // An attempt has one answer at the most.
    const answer = fc.constantFrom(['accepted' as const], ['unknown' as const], []);
    const repositories = Array.from({ length: 3 }, () => new StatusBatches(opened.database));
    const histories = fc.array(
      fc.tuple(reported, answer).map(([reports, answers]) => [...reports, ...answers]),
      { minLength: 1, maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(histories, fc.array(fc.nat(), { minLength: 96, maxLength: 96 }), async (planned, order) => {
        const all = await Promise.all(
          planned.map(async (kinds) => ({ kinds, made: await make('processing'), seen: [] as Seen[] })),
        );
        const steps = all
          .flatMap((history) => history.kinds.map((kind) => ({ history, kind })))
          .map((step, n) => ({ ...step, key: order[n] ?? 0 }))
          .sort((a, b) => a.key - b.key);
        await Promise.all(
          steps.map(async ({ history: { made, seen }, kind }, n) => {
            const repository = repositories[n % repositories.length] ?? statuses;
            if (kind === 'accepted') await outcomes.record(accepted(made));
            else if (kind === 'unknown') await outcomes.record({ ...accepted(made), ...UNKNOWN });
            else await repository.apply(report(made, kind));
            seen.push((await row(made.id)) as unknown as Seen);
          }),
        );
        for (const { kinds, made, seen } of all) {
          const end = (await row(made.id)) as unknown as Seen;
          expect(end.status).toBe(highest(kinds));
          for (const before of seen) expect(RANK[end.status]).toBeGreaterThanOrEqual(RANK[before.status]);
          const times = [end.queued_at, end.processing_at, end.accepted_at, end.sent_at, end.delivered_at, end.read_at];
          const reached = times.flatMap((time) => time?.getTime() ?? []);
          expect(reached).toEqual([...reached].sort((a, b) => a - b));
          const occurred = (await occurrences(made.id)).map(([, at]) => at);
          expect(occurred).toEqual([...occurred].sort());
        }
      }),
      { numRuns: runs(15) },
    );
  });
});

type Seen = Record<`${string}_at`, Date | null> & { status: OutboundStatus };
const UNKNOWN = { status: 'outcome_unknown', metaMessageId: null, httpStatus: null } as const;

function accepted(made: Reported) {
  return {
    attemptId: made.attemptId,
    messageId: made.id,
    status: 'accepted' as const,
    metaMessageId: made.metaMessageId,
    httpStatus: 200,
    platformCode: null,
    platformMessage: null,
    category: null,
    traceId: null,
    delayMs: 0,
    tries: 0,
  };
}

const RANK: Record<OutboundStatus, number> = {
  queued: 0,
  processing: 0,
  outcome_unknown: 1,
  accepted: 2,
  sent: 3,
  failed: 4,
  delivered: 5,
  read: 6,
};

/** The model: the highest status that was reported of the only attempt. */
function highest(kinds: readonly string[]): OutboundStatus {
  for (const status of ['read', 'delivered', 'failed', 'sent', 'accepted'] as const) {
    if (kinds.includes(status)) return status;
  }
  return kinds.includes('unknown') ? 'outcome_unknown' : 'processing';
}
