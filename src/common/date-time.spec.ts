import { isDateTime } from './date-time.js';

describe('isDateTime', () => {
  it.each([
    '2026-11-21T08:00:00Z',
    '2026-11-21t08:00:00.123456789z',
    '2028-02-29T23:59:59+05:30',
    '2026-12-31T00:00:00.0-11:00',
  ])('takes %s', (text) => expect(isDateTime(text)).toBe(true));

  it.each(['', '2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-13-01T00:00:00Z'])(
    'refuses %s',
    (text) => expect(isDateTime(text)).toBe(false),
  );

  it.each(['2026-11-21', '2026-11-21T08:00:00', '2026-11-21 08:00:00Z', '2026-11-21T25:00:00Z', '1700000000'])(
    'refuses %s as well',
    (text) => expect(isDateTime(text)).toBe(false),
  );
});
