import fc from 'fast-check';
import { deferralMs, pairLimitMs } from './retry-schedule.js';

describe('retry schedule', () => {
  it('waits 1, 4, 16, 64, 256 and then 900 seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 9].map((tries) => deferralMs(tries, 0.5))).toEqual([
      1_000, 4_000, 16_000, 64_000, 256_000, 900_000, 900_000,
    ]);
  });

  it('stays within 20 % of its step and under 15 minutes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (tries, random) => {
        const step = deferralMs(tries, 0.5);
        const delay = deferralMs(tries, random);
        expect(delay).toBeGreaterThanOrEqual(step * 0.8 - 1);
        expect(delay).toBeLessThanOrEqual(Math.min(step * 1.2 + 1, 900_000));
      }),
    );
  });

  it('lets a recipient over the pair limit wait 4^n seconds', () => {
    expect([0, 1, 2, 3].map(pairLimitMs)).toEqual([1_000, 4_000, 16_000, 64_000]);
    expect(pairLimitMs(30)).toBe(900_000);
  });
});
