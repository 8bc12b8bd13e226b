import { setTimeout as delay } from 'node:timers/promises';
import { UploadLimiter } from './upload-limiter.js';

/** Takes places for `count` uploads of a number, and tells how many were held at once. */
async function mostAtOnce(places: UploadLimiter, numbers: readonly string[], count: number): Promise<number> {
  let atOnce = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++atOnce);
    await delay(5);
    atOnce--;
  };
  const all = numbers.flatMap((number) => {
    // `a1` and `a2` are numbers of one workspace.
    const connection = { id: number, organizationId: number.slice(0, 1) };
    return Array.from({ length: count }, () => places.within(connection, work));
  });
  await Promise.all(all);
  return most;
}

describe('places for uploads', () => {
  it('are twelve for one number, 16 for one workspace and 32 for all', async () => {
    const places = new UploadLimiter();
    expect(await mostAtOnce(places, ['a'], 40)).toBe(12);
    expect(await mostAtOnce(places, ['a1', 'a2', 'a3'], 40)).toBe(16);
    expect(await mostAtOnce(places, ['a', 'b', 'c', 'd'], 40)).toBe(32);
  });

  it('are given back where the work fails', async () => {
    const places = new UploadLimiter();
    const fail = () => Promise.reject(new Error('no'));
    await Promise.allSettled(Array.from({ length: 100 }, () => places.within({ id: 'a', organizationId: 'a' }, fail)));
    expect(await mostAtOnce(places, ['a'], 12)).toBe(12);
  });
});
