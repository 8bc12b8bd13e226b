import { setImmediate as turn } from 'node:timers/promises';
import { mapAtOnce } from './map-at-once.js';

describe('mapAtOnce', () => {
  it('does each once, so many at the same time at most, and keeps the order', async () => {
    let underWay = 0;
    let most = 0;
    const results = await mapAtOnce([5, 1, 4, 2, 3], 2, async (turns) => {
      most = Math.max(most, ++underWay);
      for (let n = 0; n < turns; n++) await turn();
      underWay--;
      return turns * 10;
    });
    expect(results).toEqual([50, 10, 40, 20, 30]);
    expect(most).toBe(2);
  });

  it('takes fewer than may be under way, and none', async () => {
    expect(await mapAtOnce(['a'], 8, async (text) => text)).toEqual(['a']);
    expect(await mapAtOnce([], 8, async (text) => text)).toEqual([]);
  });

  it('begins no more after a failure', async () => {
    const begun: number[] = [];
    const work = async (n: number): Promise<void> => {
      begun.push(n);
      await turn();
      if (n === 1) throw new Error('no 1');
    };
    await expect(mapAtOnce([1, 2, 3, 4, 5, 6], 2, work)).rejects.toThrow('no 1');
    for (let n = 0; n < 20; n++) await turn();
    expect(begun).toEqual([1, 2]);
  });

  it('fails with the first failure', async () => {
    const work = async (n: number): Promise<never> => Promise.reject(new Error(`no ${n}`));
    await expect(mapAtOnce([1, 2, 3], 2, work)).rejects.toThrow('no 1');
  });
});
