import { jest } from '@jest/globals';
import { gate } from '../../../test/support/gate.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { systemClock } from '../../common/clock.js';
import { Turns, type Turn } from './turns.js';

const ids = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `00000000-0000-4000-8000-${String(n + 1).padStart(12, '0')}`);

/** Workspaces with so many steps of work each; `turns` has whose turn it was. */
function rig(left: Map<string, number>, turn?: Turn) {
  const turns: string[] = [];
  const failures: unknown[] = [];
  const step: Turn = (id) => {
    left.set(id, (left.get(id) ?? 0) - 1);
    return Promise.resolve(1);
  };
  const all = new Turns({
    find: (after, limit) => {
      const open = [...left].flatMap(([id, steps]) => (steps > 0 ? id : [])).toSorted();
      const behind = open.filter((id) => id > after);
      return Promise.resolve([...behind.slice(0, limit), ...open.slice(0, limit)]);
    },
    turn: (id, signal) => {
      turns.push(id);
      return (turn ?? step)(id, signal);
    },
    atOnce: 2,
    onFailure: (error) => failures.push(error),
  });
  return { turns, failures, left, step, run: () => all.run(new AbortController().signal) };
}

afterEach(() => jest.restoreAllMocks());

describe('Turns', () => {
  it('gives each workspace one turn before any has its next', async () => {
    const [a, b, c] = ids(3) as [string, string, string];
    const { turns, run } = rig(
      new Map([
        [a, 50],
        [b, 1],
        [c, 2],
      ]),
    );
    expect(await run()).toBe(53);
    expect(turns.slice(0, 3)).toEqual([a, b, c]);
    expect(turns.slice(3, 5)).toEqual([a, c]);
  });

  it('goes on behind the last one in the next round', async () => {
    const [a, b] = ids(2) as [string, string];
    const { turns, left, run } = rig(new Map([[a, 1]]));
    await run();
    left.set(a, 5).set(b, 1);
    await run();
    expect(turns.slice(1, 3)).toEqual([b, a]);
  });

  it('finds a workspace whose work comes while the turn of another hangs, in this round and in the next', async () => {
    const [a, b, c] = ids(3) as [string, string, string];
    const hangs = gate();
    const rounds = rig(new Map([[a, 1]]), async (id, signal) => {
      if (id === a) await hangs.opened;
      return rounds.step(id, signal);
    });
    let now = 0;
    jest.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
    const round = rounds.run();
    await waitFor(() => rounds.turns.length === 1);
    rounds.left.set(b, 1);
    await waitFor(() => rounds.left.get(b) === 0);
    expect(rounds.left.get(a)).toBe(1);
    now += 60_000;
    await round;
    rounds.left.set(c, 1);
    const next = rounds.run();
    await waitFor(() => rounds.left.get(c) === 0);
    expect(rounds.turns).toEqual([a, b, c]);
    hangs.open();
    await next;
    expect(rounds.left.get(a)).toBe(0);
  });

  it('tells one that fails, and lets it and one that can do nothing rest beside the others', async () => {
    const [a, b, c] = ids(3) as [string, string, string];
    let now = 0;
    jest.spyOn(systemClock, 'monotonic').mockImplementation(() => now);
    const { turns, failures, left, run } = rig(
      new Map([
        [a, 1],
        [b, 1],
        [c, 1],
      ]),
      (id) => {
        if (id === a) return Promise.reject(new Error('no'));
        if (id === c) left.set(c, 0);
        return Promise.resolve(id === b ? 0 : 1);
      },
    );
    expect(await run()).toBe(1);
    expect(turns).toEqual([a, b, c]);
    expect(failures).toEqual([new Error('no')]);
    now += 2_000;
    await run();
    expect(turns.slice(3).toSorted()).toEqual([a, b]);
  });

  it('ends a turn by its signal, and waits for those under way where the process stops', async () => {
    const [a] = ids(1) as [string];
    const stop = new AbortController();
    const isTold = jest.fn();
    const all = new Turns({
      find: () => Promise.resolve([a]),
      turn: async (_, signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isTold();
        stop.abort();
        await new Promise(setImmediate);
        return 7;
      },
      onFailure: () => undefined,
    });
    expect(await all.run(stop.signal)).toBe(7);
    expect(isTold).toHaveBeenCalledTimes(1);
  });
});
