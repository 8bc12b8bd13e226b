import { MAX_TRIES } from '../../../common/retry-schedule.js';
import type { SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { ClaimedMessage } from '../claim/claim.repository.js';
import { released, recordOf, refusal, refusedByEndpoint } from './outcome.repository.js';

const claimed = (tries: number) => ({ id: 'message-1', attemptId: 'attempt-1', tries }) as ClaimedMessage;
// Of a lost claim no more is known.
const IDS_OF_A_LOST_CLAIM = { id: 'message-1', attemptId: 'attempt-1' };
const IDS = { messageId: 'message-1', attemptId: 'attempt-1' };

type Kind = Exclude<SendOutcome['kind'], 'accepted'>;
const SAID = {
  httpStatus: 429,
  platformCode: 131056,
  platformMessage: 'later',
  category: 'rate_limited',
  traceId: 'T1',
} as const;
const outcome = (kind: Kind, retryAfterMs: number | null = null) => ({ kind, retryAfterMs, written: true, ...SAID });

it('the record of an accepted message has the platform’s id', () => {
  const accepted = { kind: 'accepted', metaMessageId: 'wamid.1', waId: null, userId: null, httpStatus: 200 } as const;
  expect(recordOf(claimed(3), accepted)).toEqual({
    ...IDS,
    status: 'accepted',
    metaMessageId: 'wamid.1',
    httpStatus: 200,
  });
});

it.each<[Kind, number, object]>([
  ['rejected', 0, { status: 'failed' }],
  ['unknown', 0, { status: 'outcome_unknown' }],
  ['lane_paused', 3, { status: 'queued', delayMs: 0, tries: 3 }],
  ['recipient_deferred', 1, { status: 'queued', delayMs: 4_000, tries: 2 }],
  ['recipient_deferred', MAX_TRIES - 1, { status: 'failed' }],
  ['deferred', MAX_TRIES - 1, { status: 'failed' }],
])('the record of %s after %i tries', (kind, tries, expected) => {
  expect(recordOf(claimed(tries), outcome(kind))).toEqual({ ...IDS, ...SAID, ...expected });
});

it('what is deferred waits longer with each try, and as long as the platform asks', () => {
  const first = recordOf(claimed(0), outcome('deferred'));
  expect(first).toMatchObject({ status: 'queued', tries: 1 });
  expect(first.delayMs).toBeGreaterThanOrEqual(800);
  expect(first.delayMs).toBeLessThanOrEqual(1_200);
  expect(recordOf(claimed(2), outcome('deferred')).delayMs).toBeGreaterThanOrEqual(12_800);
  expect(recordOf(claimed(0), outcome('deferred', 60_000)).delayMs).toBe(60_000);
  expect(recordOf(claimed(0), outcome('recipient_deferred', 60_000)).delayMs).toBe(60_000);
});

it('what is released counts as no try, and what one endpoint refused neither', () => {
  const back = { ...IDS, status: 'queued', delayMs: 0, tries: 2 };
  expect(released(claimed(2))).toEqual(back);
  expect(released(IDS_OF_A_LOST_CLAIM, 500)).toEqual({ ...back, delayMs: 500, tries: 0 });
  expect(refusedByEndpoint(claimed(2), outcome('rejected'))).toEqual({ ...back, ...SAID });
});

it('what Herald refuses itself was not written', () => {
  expect(refusal('expired', 'too late')).toMatchObject({
    kind: 'rejected',
    category: 'expired',
    platformMessage: 'too late',
    written: false,
  });
});
