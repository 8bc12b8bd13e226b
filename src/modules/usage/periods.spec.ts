import fc from 'fast-check';
import { divide, TimeZone } from './periods.js';
import { INTERVALS } from './usage.types.js';

const DAY = 86_400_000;
const SLOT = 900_000;
const SPANS = { day: DAY, hour: 4 * SLOT, slot: SLOT };
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

  it('pieces are each quarter of the range once, in days and hours as far as there are', () => {
    const first = Date.parse('2025-01-01T00:00:00Z') / SLOT;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 96 * 600 }),
        fc.integer({ min: 1, max: 96 * 60 }),
        fc.constantFrom(...INTERVALS),
        fc.constantFrom(...ZONES),
        (start, length, interval, name) => {
          const since = new Date((first + start) * SLOT);
          const until = new Date((first + start + length) * SLOT);
          const { buckets, pieces } = divide({ since, until, interval }, new TimeZone(name));
          const times = new Map<string, number>();
          for (const { bucket, span, from, to, sign } of pieces) {
            for (const edge of [from, to]) expect(edge.getTime() % SPANS[span]).toBe(0);
            for (let at = from.getTime(); at < to.getTime(); at += SLOT) {
              times.set(`${bucket} ${at}`, (times.get(`${bucket} ${at}`) ?? 0) + sign);
            }
          }
          const counted = [...times].filter(([, count]) => count !== 0);
          const wanted: [string, number][] = [];
          let bucket = 0;
          for (let at = since.getTime(); at < until.getTime(); at += SLOT) {
            while ((buckets[bucket + 1]?.start.getTime() ?? Infinity) <= at) bucket++;
            wanted.push([`${bucket} ${at}`, 1]);
          }
          expect(new Map(counted)).toEqual(new Map(wanted));
        },
      ),
    );
  });

  it('a year by day needs few hours beside the days, in every zone', () => {
    const range = { since: new Date('2025-01-01T00:00:00Z'), until: new Date('2026-01-01T00:00:00Z') };
    const { pieces } = divide({ ...range, interval: 'day' }, new TimeZone('Asia/Tokyo'));
    const hours = pieces.filter(({ span }) => span === 'hour');
    const total = hours.reduce((sum, { from, to }) => sum + (to.getTime() - from.getTime()) / 3_600_000, 0);
    expect(total).toBeLessThanOrEqual(2 * 9 * 366);
  });
});
