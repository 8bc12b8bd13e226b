import type { Database } from '../database/database.js';
import { dueSweep } from './due-lanes.js';

function sweepOver(due: string[], busy: readonly string[] = []) {
  const woken: string[] = [];
  const database = { query: () => Promise.resolve(busy.map((key) => ({ key }))) } as unknown as Database;
  const swept = { jobsUnavailable: false, wakeAny: (key: string) => void woken.push(key) };
  const page = (limit: number, after: string | null) => {
    const from = due.findIndex((key) => key === after) + 1;
    const lanes = due.slice(from, from + limit);
    return Promise.resolve({ lanes, next: lanes.length === limit ? (lanes.at(-1) ?? null) : null });
  };
  const dueLanes = Object.assign(page, { hasWork: (limit: number) => `any of ${limit}` });
  const sweep = dueSweep('spec', database, swept, dueLanes);
  return { woken, sweep, swept, run: () => sweep.run(new AbortController().signal) };
}

describe('the sweep of due lanes', () => {
  it('wakes those that no worker holds and that do not rest', async () => {
    const { woken, run } = sweepOver(['a', 'b', 'c', 'd'], ['b', 'c']);
    expect(await run()).toBe(2);
    expect(woken).toEqual(['a', 'd']);
  });

  it('is everywhere as long as no job reaches the other workers', () => {
    const { sweep, swept } = sweepOver([]);
    expect(sweep.everywhere).toBe(false);
    swept.jobsUnavailable = true;
    expect(sweep.everywhere).toBe(true);
  });

  it('looks at a bounded number of lanes in a round, and wakes a lane behind any number of lanes that rest', async () => {
    const resting = Array.from({ length: 4_000 }, (_unused, index) => `rest${String(index)}`);
    const { woken, sweep, run } = sweepOver([...resting, 'last'], resting);
    expect(sweep.hasWork).toBe('any of 2000');
    expect([await run(), await run()]).toEqual([0, 0]);
    // Whatever the first lanes have, the turn goes on.
    expect(sweep.hasWork).toBe('true');
    expect(await run()).toBe(1);
    expect(woken).toEqual(['last']);
    expect(sweep.hasWork).toBe('any of 2000');
  });
});
