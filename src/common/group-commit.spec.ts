import fc from 'fast-check';
import { GroupCommitRunner, type GroupCommitOptions } from './group-commit.js';

class Retryable extends Error {}
class Lost extends Error {}
class Poison extends Error {}

function runnerWith(
  commit: (items: number[]) => Promise<number[]>,
  change: Partial<GroupCommitOptions<number, number>> = {},
): GroupCommitRunner<number, number> {
  return new GroupCommitRunner<number, number>({
    commit,
    maxBatch: 100,
    maxInFlight: 2,
    maxWaiting: 2_000,
    isRetryable: (error) => error instanceof Retryable,
    isOutcomeUnknown: (error) => error instanceof Lost,
    overloaded: () => new Error('overloaded'),
    unavailable: () => new Error('unavailable'),
    ...change,
  });
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('GroupCommitRunner', () => {
  it('gathers what comes while two batches are under way into the next one', async () => {
    const sizes: number[] = [];
    const door = gate();
    const runner = runnerWith(async (items) => {
      sizes.push(items.length);
      await door.opened;
      return items.map((item) => item * 2);
    });
    const first = runner.submit(1);
    await new Promise(setImmediate);
    const second = runner.submit(2);
    await new Promise(setImmediate);
    const rest = Array.from({ length: 50 }, (_unused, index) => runner.submit(index + 3));
    await new Promise(setImmediate);
    expect(sizes).toEqual([1, 1]);
    door.open();
    expect(await first).toBe(2);
    expect(await second).toBe(4);
    expect(await Promise.all(rest)).toEqual(rest.map((_unused, index) => (index + 3) * 2));
    expect(sizes).toEqual([1, 1, 50]);
  });

  it('lets a single caller through at once', async () => {
    const runner = runnerWith((items) => Promise.resolve(items));
    expect(await runner.submit(7)).toBe(7);
    await runner.idle();
    expect(runner.depth).toBe(0);
  });

  it('halves a batch until the guilty item stands alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 120 }), async (poisoned) => {
        const written: number[] = [];
        const runner = runnerWith((items) => {
          if (items.some((item) => poisoned[item] === true)) return Promise.reject(new Poison());
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
      return calls < 3 ? Promise.reject(new Retryable()) : Promise.resolve(items);
    });
    expect(await twice.submit(1)).toBe(1);
    expect(calls).toBe(3);

    const always = runnerWith(() => {
      calls++;
      return Promise.reject(new Retryable());
    });
    calls = 0;
    await expect(always.submit(1)).rejects.toThrow('unavailable');
    expect(calls).toBe(3);
  });

  it('never tries again a batch whose commit may have happened', async () => {
    let calls = 0;
    const runner = runnerWith(() => {
      calls++;
      return Promise.reject(new Lost());
    });
    const results = await Promise.allSettled([runner.submit(1), runner.submit(2), runner.submit(3)]);
    expect(results.every((result) => result.status === 'rejected')).toBe(true);
    expect(calls).toBe(1);
  });

  it('refuses at once beyond the bound on waiting callers, and recovers', async () => {
    const door = gate();
    const runner = runnerWith(
      async (items) => {
        await door.opened;
        return items;
      },
      { maxWaiting: 5, maxBatch: 1, maxInFlight: 1 },
    );
    const under = runner.submit(0);
    await new Promise(setImmediate);
    const waiting = [1, 2, 3, 4, 5].map((item) => runner.submit(item));
    await expect(runner.submit(6)).rejects.toThrow('overloaded');
    door.open();
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
        await new Promise((resolve) => setTimeout(resolve, 2));
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
