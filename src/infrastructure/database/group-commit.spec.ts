import fc from 'fast-check';
import { waitFor } from '../../../test/support/wait-for.js';
import { type GatherTimes } from './group-commit.js';
import { gate } from '../../../test/support/gate.js';
import { failing, lockedRow, outOfTime, runnerWith } from '../../../test/support/fixtures/group-commit.js';

const { jest } = import.meta;
const deadlock = () => failing('40P01');
const connectionLost = () => failing('ECONNRESET');

const UNAVAILABLE = (why: string) => ({
  code: 'SERVICE_UNAVAILABLE',
  internal: expect.stringContaining(why) as string,
});

/** As many turns of the event loop as a batch may need to begin. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

describe('GroupCommit', () => {
  it('gathers what comes while two batches are under way into the next one', async () => {
    const sizes: number[] = [];
    const blocker = gate();
    const runner = runnerWith(async (items) => {
      sizes.push(items.length);
      await blocker.opened;
      return items.map((item) => item * 2);
    });
    const first = runner.submit(1);
    await new Promise(setImmediate);
    const second = runner.submit(2);
    await new Promise(setImmediate);
    const rest = Array.from({ length: 50 }, (_unused, index) => runner.submit(index + 3));
    await new Promise(setImmediate);
    expect(sizes).toEqual([1, 1]);
    blocker.open();
    expect(await first).toBe(2);
    expect(await second).toBe(4);
    expect(await Promise.all(rest)).toEqual(rest.map((_unused, index) => (index + 3) * 2));
    expect(sizes).toEqual([1, 1, 50]);
  });

  it('begins a second batch only beside one that takes long, or for a full one', async () => {
    const sizes: number[] = [];
    const blocker = gate();
    const runner = (overlapAfterMs: number) =>
      runnerWith(
        async (items) => {
          sizes.push(items.length);
          await blocker.opened;
          return items;
        },
        { overlapAfterMs, maxBatch: 3 },
      );
    const patient = runner(3_600_000);
    const submitted = [patient.submit(1)];
    await turns();
    submitted.push(patient.submit(2), patient.submit(3));
    await turns();
    expect(sizes).toEqual([1]);
    submitted.push(patient.submit(4));
    await turns();
    expect(sizes).toEqual([1, 3]);
    const hasty = runner(1);
    submitted.push(hasty.submit(1));
    await turns();
    submitted.push(hasty.submit(2));
    await waitFor(() => sizes.length === 4);
    blocker.open();
    await Promise.all(submitted);
    expect(sizes).toEqual([1, 3, 1, 1]);
  });

  it('bounds a batch by the size of its items, and gives a larger item a batch of its own', async () => {
    const batches: number[][] = [];
    const runner = runnerWith(
      (items) => {
        batches.push(items);
        return Promise.resolve(items);
      },
      { sizeOf: (item) => item, maxSize: 10 },
    );
    const items = [4, 6, 1, 30, 5, 5, 1];
    expect(await Promise.all(items.map((item) => runner.submit(item)))).toEqual(items);
    expect(batches).toEqual([[4, 6], [1], [30], [5, 5], [1]]);
  });

  it('lets a single caller through at once', async () => {
    const runner = runnerWith((items) => Promise.resolve(items));
    expect(await runner.submit(7)).toBe(7);
    await runner.idle();
    expect(runner.depth).toBe(0);
  });

  describe('with items that may wait', () => {
    const HOUR = 3_600_000;
    const gathering = (sizes: number[], gather: GatherTimes, maxBatch = 100) =>
      runnerWith(
        (items) => {
          sizes.push(items.length);
          return Promise.resolve(items);
        },
        { gather, maxBatch },
      );

    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());
    const advance = (ms: number) => jest.advanceTimersByTimeAsync(ms);

    it('gathers them until nothing comes for a while', async () => {
      const sizes: number[] = [];
      const runner = gathering(sizes, { quietMs: 50, atMostMs: HOUR });
      const results = [runner.submit(1, true)];
      await advance(40);
      results.push(runner.submit(2, true));
      await advance(40);
      expect(sizes).toEqual([]);
      await advance(15);
      expect(await Promise.all(results)).toEqual([1, 2]);
      expect(sizes).toEqual([2]);
    });

    it('keeps none waiting for longer than it may, however many come', async () => {
      const sizes: number[] = [];
      const runner = gathering(sizes, { quietMs: HOUR, atMostMs: 20 });
      for (let n = 0; n < 20; n++) {
        void runner.submit(n, true);
        expect(sizes).toEqual([]);
        await advance(1);
      }
      await advance(2);
      expect(sizes).toEqual([20]);
    });

    it('keeps batches apart while items keep coming; the first after a pause waits for nothing', async () => {
      const apartMs = 200;
      const began: number[] = [];
      const runner = runnerWith(
        (items) => {
          began.push(performance.now());
          return Promise.resolve(items);
        },
        { gather: { quietMs: 0, atMostMs: HOUR, apartMs } },
      );
      // A batch begins within a turn of the event loop, which these timers count as up to a millisecond.
      const turnMs = 2;
      for (let n = 0; n < 3; n++) {
        const submitted = runner.submit(n, true);
        await advance(n === 0 ? turnMs : apartMs - 2 * turnMs);
        expect(began).toHaveLength(n === 0 ? 1 : n);
        await advance(n === 0 ? 0 : 3 * turnMs);
        expect(began).toHaveLength(n + 1);
        expect(await submitted).toBe(n);
      }
      const waited = runner.submit(3, true);
      const taken = runner.submit(4);
      await advance(turnMs);
      expect(await Promise.all([waited, taken])).toEqual([3, 4]);
      expect(began).toHaveLength(4);
    });

    it('keeps batches apart only after a large one', async () => {
      const apartMs = 200;
      const sizes: number[] = [];
      const runner = gathering(sizes, { quietMs: 0, atMostMs: HOUR, apartMs, apartAfter: 2 });
      const submit = async (items: number, waitMs: number): Promise<number[]> => {
        for (let n = 0; n < items; n++) void runner.submit(n, true);
        await advance(waitMs);
        return sizes;
      };
      expect(await submit(1, 2)).toEqual([1]);
      expect(await submit(1, 2)).toEqual([1, 1]);
      expect(await submit(2, 2)).toEqual([1, 1, 2]);
      expect(await submit(1, apartMs - 10)).toEqual([1, 1, 2]);
      await advance(20);
      expect(sizes).toEqual([1, 1, 2, 1]);
    });

    it('begins at once with a full batch, or with an item that may not wait', async () => {
      const sizes: number[] = [];
      const runner = gathering(sizes, { quietMs: HOUR, atMostMs: HOUR }, 3);
      const submit = async (...items: [item: number, mayWait: boolean][]): Promise<void> => {
        const results = Promise.all(items.map(([item, mayWait]) => runner.submit(item, mayWait)));
        await advance(2);
        await results;
      };
      await submit([1, true], [2, true], [3, true]);
      await submit([4, true], [5, false], [6, true]);
      expect(sizes).toEqual([3, 3]);
      await submit([7, true], [8, false]);
      expect(sizes).toEqual([3, 3, 2]);
    });
  });

  it('halves a batch until the failing item is alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 120 }), async (poisoned) => {
        const written: number[] = [];
        const runner = runnerWith((items) => {
          if (items.some((item) => poisoned[item] === true)) return Promise.reject(new Error('of the item'));
          written.push(...items);
          return Promise.resolve(items);
        });
        const results = await Promise.allSettled(poisoned.map((_unused, index) => runner.submit(index)));
        results.forEach((result, index) => {
          expect(result.status).toBe(poisoned[index] === true ? 'rejected' : 'fulfilled');
        });
        expect(written.sort((a, b) => a - b)).toEqual(poisoned.flatMap((bad, index) => (bad ? [] : [index])));
      }),
    );
  });

  it('tries a deadlocked batch three times, then says unavailable', async () => {
    let calls = 0;
    const twice = runnerWith((items) => {
      calls++;
      return calls < 3 ? Promise.reject(deadlock()) : Promise.resolve(items);
    });
    expect(await twice.submit(1)).toBe(1);
    expect(calls).toBe(3);

    const always = runnerWith(() => {
      calls++;
      return Promise.reject(deadlock());
    });
    calls = 0;
    await expect(always.submit(1)).rejects.toMatchObject(UNAVAILABLE('refused'));
    expect(calls).toBe(3);
  });

  it('never tries again a batch whose commit may have happened', async () => {
    let calls = 0;
    const runner = runnerWith(() => {
      calls++;
      return Promise.reject(connectionLost());
    });
    const results = await Promise.allSettled([runner.submit(1), runner.submit(2), runner.submit(3)]);
    expect(results.every((result) => result.status === 'rejected')).toBe(true);
    expect(calls).toBe(1);
  });

  const meeting = (locked: ReadonlySet<number>, items: number[], careful: boolean): Promise<number[]> => {
    if (!items.some((item) => locked.has(item))) return Promise.resolve(items);
    return Promise.reject(careful ? lockedRow() : outOfTime());
  };

  it('keeps what is locked out of the batches in flight, and is careful until it is written', async () => {
    const locked = new Set([1]);
    const calls: [size: number, careful: boolean][] = [];
    const runner = runnerWith((items, careful) => {
      calls.push([items.length, careful]);
      return meeting(locked, items, careful);
    });
    const first = [1, 2].map((item) => runner.submit(item));
    await first[1];
    // Another item of the same row, and one that shares its batch.
    const second = [1, 3].map((item) => runner.submit(item));
    await second[1];
    expect(calls.filter(([, careful]) => !careful)).toEqual([[2, false]]);
    locked.clear();
    expect(await Promise.all([first[0], second[0]])).toEqual([1, 1]);
    await runner.idle();
    await runner.submit(4);
    expect(calls.at(-1)).toEqual([1, false]);
  });

  it('asks a database that is slow once more, not for each half', async () => {
    let calls = 0;
    const runner = runnerWith(() => {
      calls++;
      return Promise.reject(outOfTime());
    });
    const results = await Promise.allSettled([1, 2, 3, 4].map((item) => runner.submit(item)));
    expect(results.every((result) => result.status === 'rejected')).toBe(true);
    expect(calls).toBe(2);
  });

  it('gives up what stays locked for too long', async () => {
    const locked = new Set([1]);
    const runner = runnerWith((items, careful) => meeting(locked, items, careful), { lockedForMs: 0 });
    const [first, second] = [runner.submit(1), runner.submit(2)];
    await expect(first).rejects.toMatchObject(UNAVAILABLE('refused'));
    expect(await second).toBe(2);
    await runner.idle();
  });

  it('refuses at once beyond the bound on waiting callers, and recovers', async () => {
    const blocker = gate();
    const runner = runnerWith(
      async (items) => {
        await blocker.opened;
        return items;
      },
      { maxWaiting: 5, maxBatch: 1 },
    );
    const under = runner.submit(0);
    await new Promise(setImmediate);
    const waiting = [1, 2, 3, 4, 5].map((item) => runner.submit(item));
    await expect(runner.submit(6)).rejects.toMatchObject(UNAVAILABLE('too many waiting'));
    blocker.open();
    await Promise.all([under, ...waiting]);
    expect(await runner.submit(7)).toBe(7);
  });

  it('never has more batches under way than allowed, nor larger ones', async () => {
    let underWay = 0;
    let most = 0;
    let largest = 0;
    const runner = runnerWith(
      async (items) => {
        underWay++;
        most = Math.max(most, underWay);
        largest = Math.max(largest, items.length);
        await turns();
        underWay--;
        return items;
      },
      { maxBatch: 10 },
    );
    const all = Array.from({ length: 500 }, (_unused, index) => runner.submit(index));
    expect(await Promise.all(all)).toEqual(Array.from({ length: 500 }, (_unused, index) => index));
    expect(most).toBe(2);
    expect(largest).toBe(10);
  });
});
