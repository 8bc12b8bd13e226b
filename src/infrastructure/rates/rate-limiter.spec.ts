import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { RateBucketRepository } from './rate-limiter.js';

let opened: OpenTestDatabase;
let buckets: RateBucketRepository;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  buckets = new RateBucketRepository(opened.database);
});

afterAll(() => opened.close());

// Hardly anything flows in while a test runs.
const LIMITS = { ratePerSecond: 0.001, burst: 100 };

async function one(key: string, want: number, held = 0, limits = LIMITS) {
  const [grant] = await buckets.exchange([{ key, want, held, limits }]);
  return { granted: grant?.granted, left: Math.round((grant?.left ?? 0) * 10) / 10 };
}

describe('RateBucketRepository', () => {
  it('begins with a full bucket and grants whole tokens while there are any', async () => {
    expect(await one('fresh', 30)).toEqual({ granted: 30, left: 70 });
    expect(await one('fresh', 80)).toEqual({ granted: 70, left: 0 });
    expect(await one('fresh', 1)).toEqual({ granted: 0, left: 0 });
  });

  it('takes back what is given back, up to the burst less what the process holds', async () => {
    await one('back', 60);
    expect(await one('back', -20, 10)).toEqual({ granted: 0, left: 60 });
    expect(await one('back', -60, 10)).toEqual({ granted: 0, left: 90 });
  });

  it('fills up by its own clock', async () => {
    await one('aged', 100);
    await opened.database.execute(
      `update rate_bucket set refilled_at = refilled_at - interval '100 seconds' where key = 'aged'`,
    );
    // So slow that a slow machine brings no ten more.
    const grant = await one('aged', 100, 0, { ratePerSecond: 0.5, burst: 100 });
    expect(grant.granted).toBeGreaterThanOrEqual(50);
    expect(grant.granted).toBeLessThan(60);
  });

  it('answers many asks in one statement, in their order', async () => {
    const asks = ['m3', 'm1', 'm2'].map((key, index) => ({ key, want: index + 1, held: 0, limits: LIMITS }));
    const grants = await buckets.exchange(asks);
    expect(grants.map((grant) => grant.granted)).toEqual([1, 2, 3]);
  });

  it('never grants more than the bucket holds, however many ask at once, and never deadlocks', async () => {
    const keys = ['race1', 'race2', 'race3'];
    const rounds = Array.from({ length: 60 }, (_, round) => {
      const order = round % 2 === 0 ? keys : keys.toReversed();
      return buckets.exchange(order.map((key) => ({ key, want: 7, held: 0, limits: LIMITS })));
    });
    const granted = (await Promise.all(rounds)).flat().reduce((sum, grant) => sum + grant.granted, 0);
    expect(granted).toBe(300);
  });
});
