import { keepTrying } from './keep-trying.js';

describe('keepTrying', () => {
  it('gives what the first good try gives', async () => {
    let tries = 0;
    const failures: unknown[] = [];
    const work = () => (++tries < 3 ? Promise.reject(new Error('away')) : Promise.resolve(tries));
    expect(await keepTrying(work, { forMs: 5_000, onFailure: (error) => failures.push(error) })).toBe(3);
    expect(failures).toHaveLength(2);
  });

  it('gives up with the last fault when the time is over', async () => {
    let tries = 0;
    const work = () => Promise.reject(new Error(`away ${++tries}`));
    await expect(keepTrying(work, { forMs: 120, onFailure: () => undefined })).rejects.toThrow('away 2');
  });
});
