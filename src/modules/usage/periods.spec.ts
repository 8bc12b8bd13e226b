import fc from 'fast-check';
import { divide, TimeZone } from './periods.js';
import { INTERVALS } from './usage.types.js';

const DAY = 86_400_000;
const SLOT = 900_000;
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Pacific/Apia',
  'America/Sao_Paulo',
];

const starts = (since: string, until: string, interval: 'hour' | 'day' | 'month', timezone: string): string[] =>
  divide({ since: new Date(since), until: new Date(until), interval }, new TimeZone(timezone)).buckets.map(
    ({ label }) => label,
  );

describe('divide', () => {
  it('days and months of a zone, across its change of the clock', () => {
    expect(starts('2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z', 'day', 'Europe/Berlin')).toEqual([
      '2026-03-28T00:00:00.000+01:00',
      '2026-03-29T00:00:00.000+01:00',
      '2026-03-30T00:00:00.000+02:00',
    ]);
    expect(starts('2026-01-15T00:00:00Z', '2026-03-01T00:00:00Z', 'month', 'Asia/Kolkata')).toEqual([
      '2026-01-01T00:00:00.000+05:30',
      '2026-02-01T00:00:00.000+05:30',
      '2026-03-01T00:00:00.000+05:30',
    ]);
    expect(starts('2026-10-25T00:00:00Z', '2026-10-25T03:00:00Z', 'hour', 'Europe/Berlin')).toHaveLength(3);
  });

  it('a midnight that a zone skips', () => {
    expect(starts('2018-11-03T12:00:00Z', '2018-11-04T12:00:00Z', 'day', 'America/Sao_Paulo')).toEqual([
      '2018-11-03T00:00:00.000-03:00',
      '2018-11-04T01:00:00.000-02:00',
    ]);
  });

  it('pieces are the whole range once, in whole days or quarters', () => {
    const from = Date.parse('2025-01-01T00:00:00Z') / SLOT;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 96 * 600 }),
        fc.integer({ min: 1, max: 96 * 60 }),
        fc.constantFrom(...INTERVALS),
        fc.constantFrom(...ZONES),
        (start, length, interval, name) => {
          const since = new Date((from + start) * SLOT);
          const until = new Date((from + start + length) * SLOT);
          const { buckets, pieces } = divide({ since, until, interval }, new TimeZone(name));
          let at = since.getTime();
          for (const { bucket, span, from: begins, to } of pieces) {
            expect(begins.getTime()).toBe(at);
            expect(begins.getTime()).toBeGreaterThanOrEqual(buckets[bucket]?.start.getTime() ?? Infinity);
            expect(to.getTime()).toBeLessThanOrEqual(buckets[bucket + 1]?.start.getTime() ?? Infinity);
            expect(begins.getTime() % (span === 'day' ? DAY : SLOT)).toBe(0);
            at = to.getTime();
          }
          expect(at).toBe(until.getTime());
        },
      ),
    );
  });
});
