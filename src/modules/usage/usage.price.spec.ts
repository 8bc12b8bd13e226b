import { codesPrice, messagesPrice, mostOfCodes, mostOfMessages } from './usage.price.js';
import type { UsageAnswer, UsageQuestion } from './usage.types.js';

const question = (
  days: number,
  interval: UsageQuestion['interval'],
  more: Partial<UsageQuestion> = {},
): UsageQuestion => ({
  organizationId: 'o',
  since: new Date(0),
  until: new Date(days * 86_400_000),
  interval,
  timezone: 'UTC',
  groupBy: [],
  filter: {},
  ...more,
});
const answer = (rows: number, counts: number): UsageAnswer =>
  ({ rows: Array.from({ length: rows }), counts }) as unknown as UsageAnswer;

describe('what GET /usage costs', () => {
  it.each([
    ['a month by day', question(30, 'day'), 3],
    ['a year by day', question(365, 'day'), 34],
    ['a month by hour', question(31, 'hour'), 4],
    ['two months by month', question(60, 'month'), 6],
    ['with a group', question(1, 'day', { groupBy: ['country'] }), 34],
    ['with a filter', question(1, 'day', { filter: { type: 'text' } }), 34],
  ])('may be, %s', (_what, asked, most) => {
    expect(mostOfMessages(asked)).toBe(most);
  });

  it.each([
    [0, 0, 1],
    [300, 5_000, 1],
    [301, 0, 2],
    [1, 5_001, 2],
    [10_000, 1_000_000, 34],
  ])('is for %i rows of %i counts %i', (rows, counts, price) => {
    expect(messagesPrice(answer(rows, counts))).toBe(price);
  });

  it('is never more than it may be', () => {
    for (const days of [1, 31, 400]) {
      for (const interval of ['hour', 'day', 'month'] as const) {
        const rows = { hour: days * 24 + 1, day: days + 1, month: Math.ceil(days / 28) + 1 }[interval];
        if (rows > 801) continue;
        expect(mostOfMessages(question(days, interval))).toBeGreaterThanOrEqual(
          messagesPrice(answer(rows - 1, rows - 1)),
        );
      }
    }
  });

  it('is for codes a token for a thousand rows', () => {
    expect([mostOfCodes(question(30, 'day')), mostOfCodes(question(31, 'hour'))]).toEqual([1, 10]);
    expect(codesPrice({ rows: Array.from({ length: 2_500 }) as never })).toBe(3);
  });
});
