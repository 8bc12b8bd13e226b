import { ExpiringCache } from './expiring-cache.js';

function cacheAt(ttlMs: number, maxEntries = 100) {
  const time = { ms: 1 };
  const clock = { monotonic: () => time.ms };
  return { time, cache: new ExpiringCache<string, string | null>({ ttlMs, maxEntries, clock }) };
}

describe('ExpiringCache', () => {
  it('counts the time to live from the start of the read', async () => {
    const { time, cache } = cacheAt(2_000);
    await cache.get('a', async () => {
      time.ms += 1_500;
      return 'old';
    });
    time.ms += 499;
    expect(await cache.get('a', () => Promise.resolve('new'))).toBe('old');
    time.ms += 2;
    expect(await cache.get('a', () => Promise.resolve('new'))).toBe('new');
  });

  it('shares one read among concurrent callers, and its error too', async () => {
    const { cache } = cacheAt(1_000);
    let reads = 0;
    const load = async (): Promise<string> => {
      reads++;
      await new Promise(setImmediate);
      return 'value';
    };
    expect(await Promise.all([cache.get('a', load), cache.get('a', load), cache.get('a', load)])).toEqual(
      Array(3).fill('value'),
    );
    expect(reads).toBe(1);
    const fail = (): Promise<string> => Promise.reject(new Error('away'));
    await expect(cache.get('b', fail)).rejects.toThrow('away');
    expect(await cache.get('b', () => Promise.resolve('back'))).toBe('back');
  });

  it('keeps no negative answer', async () => {
    const { cache } = cacheAt(1_000);
    expect(await cache.get('a', () => Promise.resolve(null))).toBeNull();
    expect(await cache.get('a', () => Promise.resolve('made'))).toBe('made');
  });

  it('does not keep a read that an invalidation overtook', async () => {
    const { cache } = cacheAt(1_000);
    let release = (): void => undefined;
    const read = cache.get(
      'a',
      () =>
        new Promise<string>((resolve) => {
          release = () => resolve('stale');
        }),
    );
    cache.clear();
    release();
    expect(await read).toBe('stale');
    expect(cache.peek('a')).toBeUndefined();
  });

  it('is bounded', async () => {
    const { cache } = cacheAt(1_000, 3);
    for (const key of ['a', 'b', 'c', 'd']) cache.set(key, key);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.peek(key))).toEqual([undefined, 'b', 'c', 'd']);
  });
});
