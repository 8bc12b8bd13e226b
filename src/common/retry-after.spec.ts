import { parseRetryAfter } from './retry-after.js';

const NOW = Date.parse('2026-11-21T20:00:00.000Z');
const DAY = 86_400_000;

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['5', 5_000],
    [' 120 ', 120_000],
    ['86400', 86_400_000],
    ['86401', 86_400_000],
    ['999999999999', 86_400_000],
    ['Sat, 21 Nov 2026 20:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 19:00:00 GMT', 0],
    ['Sun, 21 Nov 2027 20:00:00 GMT', 86_400_000],
  ])('reads %j as %d ms', (header, waitMs) => {
    expect(parseRetryAfter(header, NOW, DAY)).toBe(waitMs);
  });

  it.each([
    undefined,
    '',
    'soon',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '5 s',
    '9999999999999',
    '2026-11-21T20:00:30Z',
    'Sat, 99 Nov 2026 20:00:30 GMT',
    'Sat, 21 Foo 2026 20:00:30 GMT',
    'Saturday, 21-Nov-26 20:00:30 GMT',
  ])('reads nothing from %j', (header) => {
    expect(parseRetryAfter(header, NOW, DAY)).toBeNull();
  });

  it('reads nothing from a header that came twice', () => {
    expect(parseRetryAfter(['5', '6'], NOW, DAY)).toBeNull();
  });
});
