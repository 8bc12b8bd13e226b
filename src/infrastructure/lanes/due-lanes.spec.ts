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
  const dueLanes = (limit: number, after: string | null) => {
    const from = due.findIndex(({ key }) => key === after) + 1;
    const lanes = due.slice(from, from + limit);
    return Promise.resolve({ lanes, next: lanes.length === limit ? (lanes.at(-1)?.key ?? null) : null });
  };
  return { done, sweep: dueSweep('spec', database, swept, dueLanes) };
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

  it('wakes a lane behind any number of lanes that rest', async () => {
    const resting = Array.from({ length: 4_000 }, (_unused, index) => `rest${String(index)}`);
    const lanes = [...resting, 'last'].map((key) => ({ key, dueForMs: 10 }));
    const { done, sweep } = sweepOver(lanes, Object.fromEntries(resting.map((key) => [key, 'rests'])));
    expect(await sweep.run(new AbortController().signal)).toBe(1);
    expect(done).toEqual(['wake last']);
  });
});
