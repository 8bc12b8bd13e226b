import type { Database } from '../database/database.js';
import { dueSweep, type DueLane } from './due-lanes.js';

const AN_HOUR_MS = 3_600_000;

function sweepOver(due: DueLane[], states: Record<string, string> = {}) {
  const done: string[] = [];
  const rows = Object.entries(states).map(([key, state]) => ({ key, state }));
  const database = { query: () => Promise.resolve(rows) } as unknown as Database;
  const swept = {
    isAlone: false,
    wake: (key: string) => void done.push(`wake ${key}`),
    rescue: (key: string) => void done.push(`rescue ${key}`),
    tellHolder: (key: string) => void done.push(`signal holder of ${key}`),
  };
  const page = (limit: number, after: string | null) => {
    const from = due.findIndex(({ key }) => key === after) + 1;
    const lanes = due.slice(from, from + limit);
    return Promise.resolve({ lanes, next: lanes.length === limit ? (lanes.at(-1)?.key ?? null) : null });
  };
  const dueLanes = Object.assign(page, { hasWork: (limit: number) => `any of ${limit}` });
  const sweep = dueSweep('spec', database, swept, dueLanes);
  return { done, sweep, run: () => sweep.run(new AbortController().signal) };
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
    expect(done).toEqual(['rescue a', 'wake b', 'rescue c', 'wake d']);
  });

  it('leaves resting lanes alone, and signals the holders of the others', async () => {
    const { done, sweep } = sweepOver(
      [
        { key: 'a', dueForMs: AN_HOUR_MS },
        { key: 'b', dueForMs: AN_HOUR_MS },
        { key: 'c', dueForMs: 10 },
      ],
      { a: 'rests', b: 'held' },
    );
    expect(await sweep.run(new AbortController().signal)).toBe(2);
    expect(done).toEqual(['signal holder of b', 'wake c']);
  });

  it('looks at a bounded number of lanes in a round, and wakes a lane behind any number of lanes that rest', async () => {
    const resting = Array.from({ length: 4_000 }, (_unused, index) => `rest${String(index)}`);
    const lanes = [...resting, 'last'].map((key) => ({ key, dueForMs: 10 }));
    const { done, sweep, run } = sweepOver(lanes, Object.fromEntries(resting.map((key) => [key, 'rests'])));
    expect(sweep.hasWork).toBe('any of 2000');
    expect([await run(), await run()]).toEqual([0, 0]);
    // Whatever the first lanes have, the turn goes on.
    expect(sweep.hasWork).toBe('true');
    expect(await run()).toBe(1);
    expect(done).toEqual(['wake last']);
    expect(sweep.hasWork).toBe('any of 2000');
  });

  it('rescues a lane only where it was woken before, however long a turn lasts', async () => {
    const lanes = Array.from({ length: 8_001 }, (_unused, index) => ({ key: `lane${String(index)}`, dueForMs: 5_000 }));
    const { done, run } = sweepOver(lanes);
    for (let round = 0; round < 5; round++) await run();
    done.length = 0;
    await run();
    expect(done[0]).toBe('wake lane0');
  });
});
