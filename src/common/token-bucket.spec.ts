import fc from 'fast-check';
import { TokenBucket } from './token-bucket.js';

const limits = fc.record({
  ratePerSecond: fc.integer({ min: 1, max: 1_000 }),
  burst: fc.integer({ min: 1, max: 500 }),
});
const steps = fc.array(
  fc.record({ waitMs: fc.integer({ min: 0, max: 400 }), tries: fc.integer({ min: 0, max: 60 }) }),
  {
    maxLength: 60,
  },
);
const EPSILON = 1e-6;

describe('TokenBucket', () => {
  it('never gives more in any span than its burst and what flowed in since', () => {
    fc.assert(
      fc.property(limits, steps, (rule, walk) => {
        const bucket = new TokenBucket(rule, 0);
        const given: number[] = [];
        let now = 0;
        for (const { waitMs, tries } of walk) {
          now += waitMs;
          for (let i = 0; i < tries; i++) if (bucket.take(now)) given.push(now);
        }
        for (let from = 0; from < given.length; from++) {
          for (let to = from; to < given.length; to++) {
            const seconds = ((given[to] ?? 0) - (given[from] ?? 0)) / 1_000;
            if (to - from + 1 > rule.burst + seconds * rule.ratePerSecond + EPSILON) {
              throw new Error(`${to - from + 1} tokens in ${seconds} s`);
            }
          }
        }
      }),
    );
  });

  it('refuses only when the bucket really is empty', () => {
    fc.assert(
      fc.property(limits, steps, (rule, walk) => {
        const bucket = new TokenBucket(rule, 0);
        let now = 0;
        for (const { waitMs, tries } of walk) {
          now += waitMs;
          for (let i = 0; i < tries; i++) {
            const before = bucket.level(now);
            if (bucket.take(now) !== before >= 1) throw new Error(`with ${before} tokens`);
          }
        }
      }),
    );
  });

  it('says how long to wait, no less and hardly more', () => {
    fc.assert(
      fc.property(limits, fc.integer({ min: 1, max: 500 }), (rule, drained) => {
        const bucket = new TokenBucket(rule, 0);
        for (let i = 0; i < drained; i++) bucket.take(0);
        const wait = bucket.msUntil(1, 0);
        expect(new TokenBucket(rule, 0, bucket.level(0)).take(wait + EPSILON)).toBe(true);
        fc.pre(wait > 1);
        expect(new TokenBucket(rule, 0, bucket.level(0)).take(wait - 1)).toBe(false);
      }),
    );
  });

  it('is not fooled by a clock that stands still or steps back', () => {
    const bucket = new TokenBucket({ ratePerSecond: 10, burst: 1 }, 1_000);
    expect(bucket.take(1_000)).toBe(true);
    expect(bucket.take(500)).toBe(false);
    expect(bucket.take(1_000)).toBe(false);
    expect(bucket.take(1_100)).toBe(true);
  });

  it('can never give more than it holds', () => {
    expect(new TokenBucket({ ratePerSecond: 10, burst: 2 }, 0).msUntil(3, 0)).toBe(Infinity);
  });

  it('keeps its level under new limits, up to the new size', () => {
    const bucket = new TokenBucket({ ratePerSecond: 1, burst: 100 }, 0);
    bucket.setLimits({ ratePerSecond: 1, burst: 10 }, 0);
    expect(bucket.level(0)).toBe(10);
    bucket.setLimits({ ratePerSecond: 5, burst: 100 }, 0);
    expect(bucket.level(1_000)).toBe(15);
  });
});
