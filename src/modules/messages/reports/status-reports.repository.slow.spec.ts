import fc from 'fast-check';
import { runs } from '../../../../test/support/runs.js';
import {
  opened,
  statuses,
  outcomes,
  make,
  report,
  row,
  occurrences,
  UNKNOWN,
  accepted,
} from '../../../../test/support/fixtures/status-reports.js';
import { type OutboundStatus } from '../../message-state/message-state.types.js';
import { StatusBatches } from '../../../../test/messages/report-batches.js';

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
