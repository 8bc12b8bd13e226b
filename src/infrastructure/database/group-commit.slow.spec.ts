import { AsyncLocalStorage } from 'node:async_hooks';
import fc from 'fast-check';
import type { Database } from './database.js';
import { GroupCommit } from './group-commit.js';

const failing = (code: string) => Object.assign(new Error('the database failed'), { code });
const lockedRow = () => failing('55P03');
const outOfTime = () => failing('57014');

type Commit = (items: number[], careful: boolean) => Promise<number[]>;

/** On a database that only notes whether a lock is waited for briefly. */
function runnerWith(
  commit: Commit,
  change: Partial<ConstructorParameters<typeof GroupCommit<number, number>>[1]> = {},
): GroupCommit<number, number> {
  const carefully = new AsyncLocalStorage<{ careful: boolean }>();
  const database = {
    inTransaction: false,
    detached: <T>(work: () => Promise<T>) => work(),
    transaction: <T>(work: () => Promise<T>, settings?: string) =>
      carefully.run({ careful: settings?.includes('lock_timeout') === true }, work),
  };
  return new GroupCommit<number, number>(database as unknown as Database, {
    name: 'spec',
    commit: (items) => commit(items, carefully.getStore()?.careful === true),
    maxBatch: 100,
    ...change,
  });
}

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
