import type { Database } from '../database/database.js';
import { DueSweep, type DueLane } from './due-sweep.js';
import type { LaneWaker } from './lane-waker.js';

const AN_HOUR_MS = 3_600_000;

function sweepOver(due: DueLane[], held: string[] = []) {
  const done: string[] = [];
  const database = { query: () => Promise.resolve(held.map((key) => ({ key }))) } as unknown as Database;
  const waker = {
    wake: (key: string) => done.push(`wake ${key}`),
    force: (key: string) => Promise.resolve(done.push(`force ${key}`)),
  } as unknown as LaneWaker;
  return { done, sweep: new DueSweep('spec', database, waker, () => Promise.resolve(due)) };
}

describe('the sweep of due lanes', () => {
  it('wakes everybody else before it forces those that are stuck, for forcing waits for the queue', async () => {
    const { done, sweep } = sweepOver([
      { key: 'a', dueForMs: AN_HOUR_MS },
      { key: 'b', dueForMs: 10 },
      { key: 'c', dueForMs: AN_HOUR_MS },
      { key: 'd', dueForMs: 10 },
    ]);
    expect(await sweep.run(new AbortController().signal)).toBe(4);
    expect(done).toEqual(['wake b', 'wake d', 'force a', 'force c']);
  });

  it('leaves lanes alone that somebody drains or that rest', async () => {
    const { done, sweep } = sweepOver(
      [
        { key: 'a', dueForMs: AN_HOUR_MS },
        { key: 'b', dueForMs: 10 },
      ],
      ['a'],
    );
    expect(await sweep.run(new AbortController().signal)).toBe(1);
    expect(done).toEqual(['wake b']);
  });

  it('forces nothing more once it is told to stop', async () => {
    const { done, sweep } = sweepOver([{ key: 'a', dueForMs: AN_HOUR_MS }]);
    expect(await sweep.run(AbortSignal.abort())).toBe(0);
    expect(done).toEqual([]);
  });
});
