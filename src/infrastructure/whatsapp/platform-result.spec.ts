import { failure, isTokenRefused, platformError, toPlatformResult } from './platform-result.js';

describe('platformError', () => {
  it.each([
    ['a refusal', failure('rejected', { message: 'no', code: 100, subcode: 2388024 }), 'PLATFORM_REJECTED', 400],
    ['a timeout', failure('timeout', { message: 'slow' }), 'PLATFORM_TIMEOUT', 504],
    ['an outage', failure('unavailable', { message: 'down' }), 'PLATFORM_UNAVAILABLE', 502],
    ['a limit of our calls', failure('rejected', { message: 'many', code: 80007 }), 'RATE_LIMITED', 429],
  ])('recognizes %s', (_name, given, code, status) => {
    const error = platformError(given);
    expect([error.code, error.status]).toEqual([code, status]);
  });

  it('gives the reason of a refusal, its code and its trace', () => {
    const error = platformError(failure('rejected', { message: 'bad name', code: 100, subcode: 1, traceId: 'A1' }));
    expect(error.extra).toEqual({ platform: { code: 100, subcode: 1, message: 'bad name', trace_id: 'A1' } });
  });

  it('knows a refused token', () => {
    expect([190, 0, 100, null].map((code) => isTokenRefused({ code }))).toEqual([true, true, false, false]);
  });
});

describe('toPlatformResult', () => {
  const resultOf = (status: number, body: string) =>
    toPlatformResult({ kind: 'answered', status, headers: {}, body }, 'token');

  it.each([413, 414, 431])(
    'takes HTTP %d without a readable body for a refusal: the request is too large',
    (status) => {
      const message = `The request is too large for the platform (HTTP ${status}); send shorter texts.`;
      expect(resultOf(status, '<html>Too Large</html>')).toMatchObject({
        kind: 'rejected',
        status,
        code: null,
        message,
      });
    },
  );

  it.each([400, 403, 404, 408, 500])('takes no other HTTP %d without a readable body for a refusal', (status) => {
    expect(resultOf(status, '<html></html>')).toMatchObject({ kind: status === 408 ? 'timeout' : 'unavailable' });
  });
});
