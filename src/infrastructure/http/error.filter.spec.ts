import { AppError } from '../../common/app-error.js';
import { errorBody, toAppError } from './error.filter.js';

const long = '\u0001\ud800\u4e00'.repeat(100_000);

function bodyOf(extra: Record<string, unknown>, message = 'No.') {
  return errorBody(new AppError({ kind: 'invalid_request', code: 'NO', message, extra }), 'id', 'http://x').error;
}

describe('the body of an error', () => {
  it('has what the error has', () => {
    const details = [{ field: 'a', rule: 'b', message: 'c' }];
    expect(bodyOf({ details, status: 'queued', platform: { code: null, list: [1, 'x', true] } })).toEqual({
      code: 'NO',
      message: 'No.',
      request_id: 'id',
      details,
      status: 'queued',
      platform: { code: null, list: [1, 'x', true] },
      doc_url: 'http://x/docs/errors#NO',
    });
  });

  it('stays below 64 KiB, whatever it repeats', () => {
    const details = Array.from({ length: 900 }, () => ({ field: long, rule: long, message: long }));
    expect(Buffer.byteLength(JSON.stringify(bodyOf({ details }, long)))).toBeLessThan(65_536);
    expect(bodyOf({ details }).details).toHaveLength(20);
    const platform = bodyOf({ platform: { message: long, names: Array.from({ length: 5_000 }, () => 'a') } }).platform;
    expect(platform).toEqual({
      message: `${long.slice(0, 999)}\u2026`,
      names: Array.from({ length: 50 }, () => 'a'),
    });
  });

  it('is not cut within a surrogate pair', () => {
    expect(bodyOf({}, `${'a'.repeat(998)}\u{1F600}b`).message).toBe(`${'a'.repeat(998)}\u2026`);
  });
});

function databaseError(code: string): Error {
  return Object.assign(new Error('the driver says something'), { code });
}

describe('toAppError', () => {
  it.each([
    ['cannot be reached', 'ECONNREFUSED'],
    ['was shut down', '57P01'],
    ['has no disk space', '53100'],
    ['was too slow', '57014'],
    ['cannot read its disk', '58030'],
    ['is not the primary', '25006'],
    ['met a deadlock', '40P01'],
  ])('asks the caller to come back where the database %s', (_, code) => {
    expect(toAppError(databaseError(code))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    expect(toAppError({ driverError: databaseError(code) })).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('answers anything else as an internal error', () => {
    expect(toAppError(databaseError('42601'))).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
    expect(toAppError(null)).toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});
