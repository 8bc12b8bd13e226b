import { jest } from '@jest/globals';
import type { Database } from '../database/database.js';
import type { Partitions } from '../database/partitions.js';
import { Retention, type Kept } from './retention.js';
import type { Sweep, Sweeps } from './sweeps.js';

const BATCH = 1_000;
const NOW = new Date('2026-11-25T09:00:00.000Z');

/** A round of what is kept, as the sweep does it. */
function roundOf(kinds: readonly Partial<Kept>[]): (signal: AbortSignal) => Promise<number> {
  let sweep: Sweep | null = null;
  const sweeps = {
    add: (added: Sweep) => void (sweep = added),
    forgetOthers: () => Promise.resolve(),
  } as unknown as Sweeps;
  const database = { row: () => Promise.resolve({ now: NOW }) } as unknown as Database;
  const retention = new Retention(sweeps, {} as Partitions, database);
  retention.onModuleInit();
  kinds.forEach((kind, n) => retention.add({ name: `kind ${n}`, days: 30, clear: () => Promise.resolve(0), ...kind }));
  return (signal) => (sweep as unknown as Sweep).run(signal);
}

describe('Retention', () => {
  it('clears all of one kind while the files of another are being removed', async () => {
    let left = 20;
    const round = new AbortController();
    const files = jest.fn(
      () => new Promise<number>((resolve) => round.signal.addEventListener('abort', () => resolve(BATCH))),
    );
    const rows = jest.fn(() => {
      if (--left > 0) return Promise.resolve(BATCH);
      round.abort();
      return Promise.resolve(7);
    });
    const cleared = await roundOf([{ clear: files, besides: true }, { clear: files, besides: true }, { clear: rows }])(
      round.signal,
    );
    expect(rows).toHaveBeenCalledTimes(20);
    expect(files).toHaveBeenCalledTimes(2);
    expect(cleared).toBe(19 * BATCH + 7 + 2 * BATCH);
  });

  it('clears one batch of each kind in turn, and goes on where one fails', async () => {
    const calls: string[] = [];
    const kind = (name: string, batches: number): Partial<Kept> => ({
      name,
      clear: () => {
        calls.push(name);
        if (name === 'bad') return Promise.reject(new Error('no'));
        return Promise.resolve(calls.filter((call) => call === name).length < batches ? BATCH : 1);
      },
    });
    const round = roundOf([kind('a', 3), kind('bad', 1), kind('b', 2)]);
    await expect(round(new AbortController().signal)).rejects.toThrow('bad: no');
    expect(calls).toEqual(['a', 'bad', 'b', 'a', 'b', 'a']);
  });

  it('asks the database for the time', async () => {
    const clear = jest.fn((_before: Date) => Promise.resolve(0));
    await roundOf([{ days: 30, clear }])(new AbortController().signal);
    expect(clear).toHaveBeenCalledWith(new Date('2026-10-26T09:00:00.000Z'), BATCH);
  });
});
