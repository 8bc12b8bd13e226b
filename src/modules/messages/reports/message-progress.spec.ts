import fc from 'fast-check';
import {
  isInQueue,
  OUTBOUND_STATUSES,
  nextStatus,
  type StateEvent,
  type OutboundStatus,
} from '../message/message-state.js';
import type { StatusReport } from '../messages.types.js';
import { MessageProgress, type ReportedAttempt, type ReportedMessage } from './message-progress.js';

const SECOND = 1_000_000;
const NOW = 1_700_000_100 * SECOND;
const OWN = 'attempt-2';
const OTHER = 'attempt-1';

function message(change: Partial<ReportedMessage> = {}): ReportedMessage {
  return {
    id: 'message-1',
    status: 'accepted',
    metaMessageId: 'wamid.2',
    attemptId: change.status === 'queued' ? null : OWN,
    latestAt: NOW - 50 * SECOND,
    eventCount: 0,
    isPriced: false,
    ...change,
  };
}

function attempt(change: Partial<ReportedAttempt> = {}): ReportedAttempt {
  return { id: OWN, number: 2, status: 'accepted', metaMessageId: 'wamid.2', failed: false, ...change };
}

function report(status: StatusReport['status'], change: Partial<StatusReport> = {}): StatusReport {
  return {
    status,
    metaMessageId: 'wamid.2',
    callbackData: null,
    occurredAt: new Date((NOW - 10 * SECOND) / 1_000),
    recipientId: null,
    recipientUserId: null,
    error: null,
    pricing: null,
    connectionId: 'connection-1',
    ...change,
  };
}

describe('one report', () => {
  it('moves the message and takes the platform’s time', () => {
    const progress = new MessageProgress(message());
    progress.apply(report('sent'), attempt(), NOW);
    expect(progress.moves).toEqual([
      { from: 'accepted', to: 'sent', at: NOW - 10 * SECOND, attemptId: OWN, attemptNumber: 2, failure: null },
    ]);
    expect(progress.attempts.size).toBe(0);
    expect(progress.metaMessageId).toBe('wamid.2');
  });

  it('takes a time no earlier than the state before it', () => {
    const progress = new MessageProgress(message({ latestAt: NOW - 10 * SECOND + 123_456 }));
    progress.apply(report('sent'), attempt(), NOW);
    expect(progress.moves[0]?.at).toBe(NOW - 10 * SECOND + 123_456);
  });

  it('takes a time no later than the present, and the present where the platform gave none', () => {
    for (const occurredAt of [new Date(NOW / 1_000 + 5_000), null]) {
      const progress = new MessageProgress(message());
      progress.apply(report('sent', { occurredAt }), attempt(), NOW);
      expect(progress.moves[0]?.at).toBe(NOW);
    }
  });

  it('says of a failure what the platform said', () => {
    const progress = new MessageProgress(message());
    const error = { code: 131026, title: 'Message undeliverable', details: 'Not on WhatsApp' };
    progress.apply(report('failed', { error }), attempt(), NOW);
    const failure = { category: 'recipient_unreachable', code: 131026, message: 'Not on WhatsApp' };
    expect(progress.moves).toEqual([expect.objectContaining({ to: 'failed', failure })]);
    expect(progress.attempts.get(OWN)).toEqual({ taken: false, failure, metaMessageId: 'wamid.2' });
  });

  it.each([
    ['no error at all', null, { category: 'unknown', code: null, message: null }],
    [
      'a title only',
      { code: 131047, title: 'Re-engagement', details: null },
      { code: 131047, message: 'Re-engagement' },
    ],
    [
      'a code that no column takes',
      { code: 2 ** 40, title: 'Odd', details: null },
      { category: 'unknown', code: null },
    ],
  ])('copes with a failure that names %s', (_name, error, expected) => {
    const progress = new MessageProgress(message());
    progress.apply(report('failed', { error }), attempt(), NOW);
    expect(progress.moves[0]?.failure).toMatchObject(expected);
  });

  it('resolves an unknown outcome, and records that the attempt was taken after all', () => {
    const progress = new MessageProgress(message({ status: 'outcome_unknown', metaMessageId: null }));
    progress.apply(report('delivered'), attempt({ status: 'unknown', metaMessageId: null }), NOW);
    expect(progress.moves).toEqual([expect.objectContaining({ from: 'outcome_unknown', to: 'delivered' })]);
    expect(progress.metaMessageId).toBe('wamid.2');
    expect(progress.attempts.get(OWN)).toEqual({ taken: true, failure: null, metaMessageId: 'wamid.2' });
  });

  it('about another attempt withdraws a retry that waits; that attempt counts then', () => {
    const queued = new MessageProgress(message({ status: 'queued' }));
    queued.apply(report('sent'), attempt({ id: OTHER }), NOW);
    expect(queued.moves).toEqual([expect.objectContaining({ from: 'queued', to: 'sent', attemptId: OTHER })]);
    expect(queued.enteringAttemptId).toBe(OTHER);
  });

  it('about another attempt is believed about nothing less than delivery, once the message has left the queue', () => {
    const accepted = new MessageProgress(message());
    accepted.apply(report('sent'), attempt({ id: OTHER }), NOW);
    accepted.apply(report('failed'), attempt({ id: OTHER }), NOW);
    expect(accepted.moves).toEqual([]);
    accepted.apply(report('delivered'), attempt({ id: OTHER }), NOW);
    expect(accepted.moves).toEqual([expect.objectContaining({ from: 'accepted', to: 'delivered' })]);
  });

  it('makes a waiting retry unnecessary by "sent", but not after "failed" of the same attempt', () => {
    const doubtful = attempt({ status: 'unknown', metaMessageId: null });
    const ends = (...statuses: StatusReport['status'][]) => {
      const progress = new MessageProgress(message({ status: 'queued', metaMessageId: null }));
      for (const status of statuses) progress.apply(report(status), doubtful, NOW);
      return progress.moves.map(({ to }) => to);
    };
    expect(ends('sent', 'failed')).toEqual(['sent', 'failed']);
    expect(ends('failed', 'sent')).toEqual([]);
    expect(ends('failed', 'delivered')).toEqual(['delivered']);
  });

  it('"failed" counts where the answer had refused an attempt that was reported "sent" before it', () => {
    const progress = new MessageProgress(message({ status: 'sent' }));
    progress.apply(report('failed'), attempt({ status: 'rejected', failed: true }), NOW);
    expect(progress.moves.map(({ to }) => to)).toEqual(['failed']);
  });

  it('about the attempt in the row sets the message’s id; one about another only where none is known and it moves the message', () => {
    const progress = new MessageProgress(message({ metaMessageId: 'wamid.1' }));
    progress.apply(report('sent', { metaMessageId: 'wamid.1b' }), attempt({ id: OTHER }), NOW);
    expect(progress.metaMessageId).toBe('wamid.1');
    progress.apply(report('sent'), attempt(), NOW);
    expect(progress.metaMessageId).toBe('wamid.2');

    const unknown = new MessageProgress(message({ status: 'outcome_unknown', metaMessageId: null }));
    unknown.apply(report('sent', { metaMessageId: 'wamid.1' }), attempt({ id: OTHER }), NOW);
    expect(unknown.metaMessageId).toBeNull();
    unknown.apply(report('delivered', { metaMessageId: 'wamid.1' }), attempt({ id: OTHER }), NOW);
    expect(unknown.metaMessageId).toBe('wamid.1');
  });
});

interface ReportedStatus {
  status: StatusReport['status'];
  attemptId: string;
  /** Seconds from now. */
  second: number;
}

describe('any sequence of reports', () => {
  const RANK: Record<OutboundStatus, number> = {
    queued: 0,
    processing: 0,
    outcome_unknown: 0,
    accepted: 1,
    sent: 2,
    failed: 3,
    delivered: 4,
    read: 5,
  };
  const anyReport: fc.Arbitrary<ReportedStatus> = fc.record({
    status: fc.constantFrom('sent' as const, 'delivered' as const, 'read' as const, 'failed' as const),
    attemptId: fc.constantFrom(OWN, OWN, OTHER),
    second: fc.integer({ min: -100, max: 20 }),
  });
  const anyReports = fc.array(anyReport, { maxLength: 12 });
  const anyStatus = fc.constantFrom(...OUTBOUND_STATUSES);

  function run(status: OutboundStatus, reports: ReportedStatus[]): MessageProgress {
    const progress = new MessageProgress(message({ status }));
    for (const { status, attemptId, second } of reports) {
      const occurredAt = new Date((NOW + second * SECOND) / 1_000);
      progress.apply(report(status, { occurredAt }), attempt({ id: attemptId }), NOW);
    }
    return progress;
  }

  it('makes legal moves only, each from where the last one led, and never to an earlier time', () => {
    fc.assert(
      fc.property(anyStatus, anyReports, (status, reports) => {
        let at = message().latestAt;
        let state = status;
        let own = status === 'queued' ? null : OWN;
        for (const move of run(status, reports).moves) {
          const side = move.attemptId === own ? 'own' : 'other';
          expect(move.from).toBe(state);
          expect(nextStatus(state, `${side}_${move.to}` as StateEvent)).toBe(move.to);
          expect(move.at).toBeGreaterThanOrEqual(at);
          expect(move.at).toBeLessThanOrEqual(NOW);
          ({ at } = move);
          // The attempt that takes the message out of the queue goes into its row.
          if (isInQueue(state)) own = move.attemptId;
          state = move.to;
        }
      }),
    );
  });

  it('never goes back: each move leads to a higher rank', () => {
    fc.assert(
      fc.property(anyStatus, anyReports, (status, reports) => {
        for (const { from, to } of run(status, reports).moves) expect(RANK[to]).toBeGreaterThan(RANK[from]);
      }),
    );
  });

  it('ends where the highest evidence leads, in whatever order and however often it came', () => {
    const shuffled = anyReports.chain((reports) =>
      fc.tuple(fc.constant(reports), fc.shuffledSubarray([...reports, ...reports], { minLength: reports.length * 2 })),
    );
    fc.assert(
      fc.property(
        fc.constantFrom('processing', 'outcome_unknown', 'accepted'),
        shuffled,
        (status, [reports, again]) => {
          const end = (progress: MessageProgress) => progress.moves.at(-1)?.to ?? status;
          const expected = highest(status, reports);
          expect(end(run(status, reports))).toBe(expected);
          expect(end(run(status, again))).toBe(expected);
        },
      ),
    );
  });

  it('takes a waiting message out of the queue by delivery, or by "sent" before "failed" of the same attempt; that attempt counts then', () => {
    fc.assert(
      fc.property(anyReports, (reports) => {
        const leaves = reports.findIndex(({ status, attemptId }, n) => {
          const failed = reports.slice(0, n).some((each) => each.status === 'failed' && each.attemptId === attemptId);
          return status === 'sent' ? !failed : status !== 'failed';
        });
        const own = reports[leaves]?.attemptId ?? null;
        const progress = run('queued', reports);
        expect(progress.enteringAttemptId).toBe(own);
        expect(progress.moves.at(-1)?.to ?? 'queued').toBe(own === null ? 'queued' : highest('queued', reports, own));
      }),
    );
  });

  /** The model: delivery of any attempt counts for the message, anything less only of the one in its row. */
  function highest(status: OutboundStatus, reports: ReportedStatus[], own = OWN): OutboundStatus {
    const of = (wanted: string) => reports.filter((each) => each.status === wanted);
    if (of('read').length > 0) return 'read';
    if (of('delivered').length > 0) return 'delivered';
    const isOwn = (wanted: string) => of(wanted).some((each) => each.attemptId === own);
    if (isOwn('failed')) return 'failed';
    return isOwn('sent') ? 'sent' : status;
  }
});
