import type { NotAcceptedOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import { verdictOf } from './upload-verdict.js';

const OUTCOME: NotAcceptedOutcome = {
  kind: 'rejected',
  httpStatus: 400,
  platformCode: 100,
  platformMessage: 'no such type',
  category: 'invalid_content',
  traceId: null,
  retryAfterMs: null,
  written: true,
};

describe('an upload that gave no id', () => {
  it.each(['invalid_content', 'media_error', 'unknown'] as const)(
    'fails its messages where the platform refused it as %s',
    (category) => {
      expect(verdictOf({ ...OUTCOME, category }, 0)).toEqual({
        kind: 'failed',
        message: 'The platform refused the file: no such type',
      });
    },
  );

  it.each([
    ['lane_paused', 'authentication'],
    ['lane_paused', 'rate_limited'],
    ['rejected', 'sender_not_ready'],
    ['rejected', 'account_restricted'],
    ['rejected', 'authentication'],
  ] as const)('is the number’s affair where it is %s for %s', (kind, category) => {
    const outcome = { ...OUTCOME, kind, category };
    expect(verdictOf(outcome, 0)).toEqual({ kind: 'account', outcome });
  });

  it.each([
    ['unknown', 'platform_unavailable'],
    ['unknown', 'unknown'],
    ['deferred', 'platform_unavailable'],
    ['recipient_deferred', 'rate_limited'],
    ['rejected', 'rate_limited'],
    ['rejected', 'platform_unavailable'],
  ] as const)('is made again where it is %s for %s', (kind, category) => {
    expect(verdictOf({ ...OUTCOME, kind, category }, 0, 0.5)).toEqual({ kind: 'later', retryInMs: 1_000 });
  });

  it('is made again later and later, after a minute at the latest', () => {
    const delays = [0, 1, 2, 3, 4, 50].map((failures) => verdictOf({ ...OUTCOME, kind: 'unknown' }, failures, 0.5));
    expect(delays.map((delay) => (delay.kind === 'later' ? delay.retryInMs : null))).toEqual([
      1_000, 4_000, 16_000, 60_000, 60_000, 60_000,
    ]);
  });

  it('waits as long as the platform asks', () => {
    const outcome = { ...OUTCOME, kind: 'unknown', retryAfterMs: 90_000 } as const;
    expect(verdictOf(outcome, 0)).toEqual({ kind: 'later', retryInMs: 90_000 });
  });
});
