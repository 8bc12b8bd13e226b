import { jest } from '@jest/globals';
import type { Config } from '../../../infrastructure/config/config.js';
import { BacklogGuard } from './backlog-guard.js';
import type { MessagesRepository } from '../messages.repository.js';

describe('BacklogGuard', () => {
  let now = 0;
  let queued = 0;
  let countTakesMs = 0;
  let failing = false;
  /** The limit of each count. */
  let counts: number[] = [];

  beforeEach(() => {
    [now, queued, countTakesMs, failing, counts] = [0, 0, 0, false, []];
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => jest.restoreAllMocks());

  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  function guard(limit: number): BacklogGuard {
    const countQueued = (_id: string, most: number): Promise<number> => {
      counts.push(most);
      now += countTakesMs;
      return failing ? Promise.reject(new Error('away')) : Promise.resolve(Math.min(queued, most));
    };
    const config = { limits: { backlog: limit } } as Config;
    return new BacklogGuard({ countQueued } as unknown as MessagesRepository, config);
  }

  /** Tries so many, some milliseconds apart; returns how many were let through. */
  async function accept(by: BacklogGuard, tries: number, apartMs = 0): Promise<number> {
    let accepted = 0;
    for (let n = 0; n < tries; n++) {
      now += apartMs;
      try {
        by.check('workspace');
        accepted++;
        queued++;
      } catch (error) {
        expect(error).toMatchObject({ code: 'BACKLOG_LIMIT_REACHED' });
      }
      await settle();
    }
    return accepted;
  }

  it('lets a workspace have as many as it may, and more once some were sent', async () => {
    const one = guard(20);
    expect(await accept(one, 30)).toBe(20);
    queued = 15;
    now += 5_001;
    // Learns of it with the first that is refused.
    expect(await accept(one, 10)).toBeGreaterThanOrEqual(4);
    expect(queued).toBe(20);
  });

  it('counts once in five minutes where messages are sent as they come, and reads few rows', async () => {
    const one = guard(2_000_000);
    for (let minute = 0; minute < 60; minute++) {
      await accept(one, 60, 1_000);
      queued = 0;
    }
    expect(counts.length).toBeLessThanOrEqual(13);
    expect(new Set(counts)).toEqual(new Set([10_000]));
  });

  it('counts to the limit where much is queued, the seldomer the longer it takes', async () => {
    queued = 100_000;
    countTakesMs = 150;
    const one = guard(100_000);
    expect(await accept(one, 300, 1_000)).toBeLessThanOrEqual(1);
    expect(counts.slice(0, 2)).toEqual([10_000, 100_001]);
    // Of 300 ms: one in thirty seconds.
    expect(counts.filter((most) => most === 100_001).length).toBeLessThanOrEqual(11);
  });

  it('holds for many processes at once', async () => {
    const processes = Array.from({ length: 8 }, () => guard(1_000));
    let accepted = 0;
    for (let round = 0; round < 600; round++) {
      for (const one of processes) accepted += await accept(one, 1, 1_000);
    }
    // Each may be wrong by what the others took within five seconds.
    expect(accepted).toBeGreaterThanOrEqual(1_000);
    expect(accepted).toBeLessThanOrEqual(1_000 + 8 * 5);
  });

  it('forgets what was let through and refused later, once, also where a count was begun meanwhile', async () => {
    const one = guard(20);
    for (let n = 0; n < 100; n++) {
      one.giveBack(one.check('workspace', ['queued'], 20), 20);
      await settle();
    }
    now += 300_001;
    // The first begins a count, of which the second knows nothing yet, and which takes off what the first reserved.
    const first = one.check('workspace', ['queued'], 10);
    await settle();
    expect(counts).toHaveLength(2);
    now += 300_001;
    one.giveBack(one.check('workspace', ['queued'], 5), 5);
    await settle();
    one.giveBack(first, 10);
    expect(counts).toHaveLength(3);
    expect(await accept(one, 30)).toBe(20);
  });

  it('goes by what it knows while the database is away', async () => {
    const one = guard(20);
    failing = true;
    expect(await accept(one, 30, 1_000)).toBe(20);
    failing = false;
    queued = 0;
    now += 5_001;
    expect(await accept(one, 10)).toBeGreaterThanOrEqual(8);
  });
});
