import { retry } from './retry.js';

describe('retry', () => {
  beforeEach(() => void import.meta.jest.useFakeTimers());
  afterEach(() => void import.meta.jest.useRealTimers());

  it('gives what the first good try gives', async () => {
    let tries = 0;
    const failures: unknown[] = [];
    const work = () => (++tries < 3 ? Promise.reject(new Error('away')) : Promise.resolve(tries));
    const trying = retry(work, { forMs: 5_000, onFailure: (error) => failures.push(error) });
    await import.meta.jest.runAllTimersAsync();
    expect(await trying).toBe(3);
    expect(failures).toHaveLength(2);
  });

  it('gives up with the last error when the time is over', async () => {
    let tries = 0;
    const work = () => Promise.reject(new Error(`away ${++tries}`));
    const trying = retry(work, { forMs: 120, onFailure: () => undefined }).catch((error: unknown) => error);
    await import.meta.jest.runAllTimersAsync();
    expect(await trying).toEqual(new Error('away 2'));
  });
});
