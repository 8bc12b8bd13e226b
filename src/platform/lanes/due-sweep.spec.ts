import type { Database } from '../database/database.js';
import type { DueLane } from './due-lanes.js';
import { DueSweep } from './due-sweep.js';
import type { LaneWaker } from './lane-waker.js';

const AN_HOUR_MS = 3_600_000;

function sweepOver(due: DueLane[], held: string[] = []) {
  const done: string[] = [];
  const database = { query: () => Promise.resolve(held.map((key) => ({ key }))) } as unknown as Database;
  const waker = {
    wake: (key: string) => done.push(`wake ${key}`),
    rescue: (key: string) => done.push(`rescue ${key}`),
  } as unknown as LaneWaker;
  const dueLanes = (limit: number, after: string | null) => {
    const from = due.findIndex(({ key }) => key === after) + 1;
    const lanes = due.slice(from, from + limit);
    return Promise.resolve({ lanes, next: lanes.length === limit ? (lanes.at(-1)?.key ?? null) : null });
  };
  return { done, sweep: new DueSweep('spec', database, waker, dueLanes) };
}

describe('the sweep of due lanes', () => {
  it('wakes all lanes, and rescues those for which the queue did nothing', async () => {
    const { done, sweep } = sweepOver([
      { key: 'a', dueForMs: AN_HOUR_MS },
      { key: 'b', dueForMs: 10 },
      { key: 'c', dueForMs: AN_HOUR_MS },
      { key: 'd', dueForMs: 10 },
    ]);
    expect(await sweep.run(new AbortController().signal)).toBe(4);
    expect(done).toEqual(['wake a', 'rescue a', 'wake b', 'wake c', 'rescue c', 'wake d']);
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

  it('wakes a lane behind any number of lanes that rest', async () => {
    const resting = Array.from({ length: 4_000 }, (_unused, index) => `rest${String(index)}`);
    const lanes = [...resting, 'last'].map((key) => ({ key, dueForMs: 10 }));
    const { done, sweep } = sweepOver(lanes, resting);
    expect(await sweep.run(new AbortController().signal)).toBe(1);
    expect(done).toEqual(['wake last']);
  });
});
