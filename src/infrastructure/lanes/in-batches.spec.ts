import { inBatches } from './in-batches.js';

describe('work in batches', () => {
  it('goes on until a batch is not full', async () => {
    let left = 25;
    const work = (limit: number) => {
      const done = Math.min(limit, left);
      left -= done;
      return Promise.resolve(done);
    };
    expect(await inBatches(new AbortController().signal, 10, work)).toBe(25);
    expect(left).toBe(0);
  });

  it('ends with the round', async () => {
    const round = new AbortController();
    let batches = 0;
    const work = (limit: number) => {
      if (++batches === 3) round.abort();
      return Promise.resolve(limit);
    };
    expect(await inBatches(round.signal, 10, work)).toBe(30);
  });
});
