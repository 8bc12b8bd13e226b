import { lockedRow, outOfTime, runnerWith } from '../../../test/support/fixtures/group-commit.js';
import fc from 'fast-check';

describe('GroupCommit', () => {
  const meeting = (locked: ReadonlySet<number>, items: number[], careful: boolean): Promise<number[]> => {
    if (!items.some((item) => locked.has(item))) return Promise.resolve(items);
    return Promise.reject(careful ? lockedRow() : outOfTime());
  };

  it('writes everything but what is locked, and that when its lock is released', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 120 }), async (isLocked) => {
        const locked = new Set(isLocked.flatMap((bad, index) => (bad ? [index] : [])));
        const written: number[] = [];
        const runner = runnerWith(async (items, careful) => {
          const results = await meeting(locked, items, careful);
          written.push(...items);
          return results;
        });
        const all = isLocked.map((_bad, index) => runner.submit(index));
        await Promise.all(all.filter((_write, index) => !locked.has(index)));
        expect(written.toSorted((a, b) => a - b)).toEqual(isLocked.flatMap((bad, index) => (bad ? [] : [index])));
        locked.clear();
        expect(await Promise.all(all)).toEqual(isLocked.map((_bad, index) => index));
        await runner.idle();
        expect(written.length).toBe(isLocked.length);
      }),
      { numRuns: 10 },
    );
  });
});
