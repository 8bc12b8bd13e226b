import { failure } from '../../../infrastructure/whatsapp/platform-result.js';
import { failureOfDescription, failureOfDownload, isStaleAddress } from './fetch.processor.js';

describe('a file that was not described', () => {
  it.each([
    ['unavailable', null, null, 'wait'],
    ['timeout', null, null, 'wait'],
    ['unavailable', 500, 131000, 'wait'],
    ['rejected', 401, 190, 'account'],
    ['rejected', 401, 0, 'account'],
    ['rejected', 403, 10, 'account'],
    ['rejected', 429, 4, 'account'],
    ['rejected', 429, 80007, 'account'],
    ['rejected', 400, 613, 'wait'],
    ['rejected', 400, 100, 'refused'],
    ['rejected', 404, 803, 'refused'],
    ['rejected', 400, 424242, 'refused'],
    ['rejected', 400, null, 'refused'],
    // A token that can't be in a header was never sent.
    ['rejected', null, null, 'account'],
  ] as const)('%s, HTTP %s, code %s: %s', (kind, status, code, expected) => {
    const failed = failureOfDescription(failure(kind, { status, code, message: 'so it is' }));
    expect(failed).toEqual({ kind: expected, failure: 'so it is' });
  });
});

describe('a file that did not come', () => {
  it.each([
    [{ kind: 'too_large' }, 'failed'],
    [{ kind: 'address' }, 'refused'],
    [{ kind: 'refused', status: 500 }, 'wait'],
    [{ kind: 'refused', status: 404 }, 'wait'],
    [{ kind: 'broken', code: 'ECONNRESET' }, 'wait'],
  ] as const)('%j: %s', (exchange, expected) => {
    expect(failureOfDownload(exchange, 10)?.kind).toBe(expected);
  });

  it('is no failed where it came', () => {
    expect(failureOfDownload({ kind: 'downloaded', sizeBytes: 1 }, 10)).toBeNull();
  });
});

describe('an address', () => {
  it.each([
    [404, true],
    [410, true],
    [403, true],
    [401, false],
    [500, false],
  ])('answered with %d is too old: %s', (status, stale) => {
    expect(isStaleAddress({ kind: 'refused', status })).toBe(stale);
  });
});
