import type { Response } from 'express';
import { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { LeasedBuckets } from './leased-buckets.js';
import { rateLimits, Spending } from './rate-limiter.js';

const LIMITS = rateLimits(1, 100);

/** A request whose guard took one of a hundred tokens; the clock stands still. */
async function setup() {
  let shared = 100;
  const buckets = new LeasedBuckets({
    clock: { monotonic: () => 0 },
    exchange: async (asks) =>
      asks.map(({ want, held }) => {
        const level = Math.min(100 - held, shared + Math.max(-want, 0));
        const granted = Math.max(0, Math.min(want, level));
        shared = level - granted;
        return { granted, left: shared };
      }),
  });
  await buckets.take('key', LIMITS);
  const headers: Record<string, string> = {};
  const res = { headersSent: false, setHeader: (name: string, value: string) => (headers[name] = value) };
  const spending = new Spending(buckets, 'key', LIMITS, res as unknown as Response);
  const left = (): number => Number(/r=(\d+)/.exec(headers.RateLimit ?? '')?.[1]);
  return { buckets, spending, left };
}

describe('Spending', () => {
  it('takes as many as may be needed before the work, and gives back what it did not cost', async () => {
    const { spending, left } = await setup();
    const work = async (): Promise<number> => left();
    expect(await spending.upTo(34, work, () => 5)).toBe(66);
    expect([spending.taken, left()]).toEqual([5, 95]);
  });

  it('takes none where fewer are left, and begins no work', async () => {
    const { buckets, spending, left } = await setup();
    await buckets.take('key', LIMITS, 80);
    let began = false;
    const refused = spending.upTo(
      34,
      async () => void (began = true),
      () => 1,
    );
    await expect(refused).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      extra: { retry_after_seconds: 14 },
      message: 'This request counts as 34, and this key has fewer left; try again in 14 s.',
    });
    expect([began, left(), spending.taken]).toEqual([false, 19, 1]);
  });

  it('never takes more than a full bucket has', async () => {
    const { spending, left } = await setup();
    await spending.raiseTo(103);
    expect([spending.taken, left()]).toEqual([100, 0]);
  });

  it.each<[string, () => AppError, number]>([
    ['all where it is too large', () => commonErrors.VALIDATION_FAILED({ details: [] }), 34],
    ['one where it fails', () => commonErrors.SERVICE_UNAVAILABLE(undefined), 1],
  ])('costs %s', async (_what, error, price) => {
    const { spending, left } = await setup();
    const failing = spending.upTo(
      34,
      () => Promise.reject(error()),
      () => 2,
    );
    await expect(failing).rejects.toBeInstanceOf(AppError);
    expect([spending.taken, left()]).toEqual([price, 100 - price]);
  });
});
