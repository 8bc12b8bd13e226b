import fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { bucketsOf, TimeZone } from './periods.js';
import { INTERVALS } from './usage.types.js';

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
  bucketsOf({ since: new Date(since), until: new Date(until), interval }, new TimeZone(timezone)).map(
    ({ label }) => label,
  );

describe('bucketsOf', () => {
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

  it('each quarter of the range is in the interval of its local time, in every zone', () => {
    const first = Date.parse('2025-01-01T00:00:00Z') / SLOT;
    const written = (name: string, interval: (typeof INTERVALS)[number]): ((time: number) => string) => {
      const format = new Intl.DateTimeFormat('sv-SE', {
        timeZone: name,
        year: 'numeric',
        month: '2-digit',
        ...(interval !== 'month' && { day: '2-digit' }),
        // An hour that comes twice a year has two offsets.
        ...(interval === 'hour' && { hour: '2-digit', timeZoneName: 'longOffset' }),
      });
      return (time) => format.format(time);
    };
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 96 * 600 }),
        fc.integer({ min: 1, max: 96 * 60 }),
        fc.constantFrom(...INTERVALS),
        fc.constantFrom(...ZONES),
        (start, length, interval, name) => {
          const since = new Date((first + start) * SLOT);
          const until = new Date((first + start + length) * SLOT);
          const buckets = bucketsOf({ since, until, interval }, new TimeZone(name));
          expect(buckets[0]?.start).toEqual(since);
          expect(buckets.filter(({ start }) => start.getTime() % SLOT !== 0)).toEqual([]);
          const localTime = written(name, interval);
          const wrong: string[] = [];
          let bucket = -1;
          let before = '';
          for (let at = since.getTime(); at < until.getTime(); at += SLOT) {
            const local = localTime(at);
            if (local !== before) bucket++;
            before = local;
            const [from = Infinity, to = Infinity] = [bucket, bucket + 1].map((n) => buckets[n]?.start.getTime());
            if (from > at || to <= at) wrong.push(local);
          }
          expect([wrong, buckets.length]).toEqual([[], bucket + 1]);
        },
      ),
      { numRuns: runs(40) },
    );
  });
});
