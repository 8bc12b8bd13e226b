import fc from 'fast-check';
import { Slots } from './slots.js';

describe('Slots', () => {
  it('hands out what is wanted and free, at least one, first come first served', async () => {
    const slots = new Slots(4);
    expect(await slots.acquire(3)).toBe(3);
    expect(await slots.acquire(3)).toBe(1);
    const order: string[] = [];
    const second = slots.acquire(2).then((got) => order.push(`second ${got}`));
    const third = slots.acquire(2).then((got) => order.push(`third ${got}`));
    slots.release(1);
    await second;
    slots.release(3);
    await third;
    expect(order).toEqual(['second 1', 'third 2']);
    expect(slots.taken).toBe(3);
  });

  it('refuses to hand out nothing', async () => {
    await expect(new Slots(1).acquire(0)).rejects.toThrow('at least one');
  });

  it('never hands out more than there are, and serves every caller', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 60 }),
        async (total, wants) => {
          const slots = new Slots(total);
          let held = 0;
          const served = await Promise.all(
            wants.map(async (want) => {
              const got = await slots.acquire(want);
              held += got;
              expect(held).toBeLessThanOrEqual(total);
              await new Promise(setImmediate);
              held -= got;
              slots.release(got);
              return got;
            }),
          );
          expect(served.every((got, index) => got >= 1 && got <= (wants[index] ?? 0))).toBe(true);
          expect(slots.taken).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('Slots with patience', () => {
  it('serves waiting takers with several places at once', async () => {
    const slots = new Slots(8, { batch: 4, patienceMs: 60_000 });
    await slots.acquire(8);
    let got = 0;
    const waiting = slots.acquire(6).then((places) => (got = places));
    for (let released = 1; released <= 3; released++) slots.release(1);
    await new Promise(setImmediate);
    expect(got).toBe(0);
    slots.release(1);
    await waiting;
    expect(got).toBe(4);
  });

  it('gives what there is once patience is over', async () => {
    const slots = new Slots(8, { batch: 4, patienceMs: 10 });
    await slots.acquire(8);
    const waiting = slots.acquire(6);
    slots.release(1);
    expect(await waiting).toBe(1);
  });

  it('does not wait for more than is wanted or than there are', async () => {
    const slots = new Slots(2, { batch: 4, patienceMs: 60_000 });
    await slots.acquire(2);
    const one = slots.acquire(1);
    slots.release(1);
    expect(await one).toBe(1);
    const both = slots.acquire(5);
    slots.release(2);
    expect(await both).toBe(2);
  });
});

describe('a taker without a place', () => {
  it('goes ahead of the others, with what is free', async () => {
    const slots = new Slots(4, { batch: 4, patienceMs: 60_000 });
    await slots.acquire(4);
    const order: string[] = [];
    const busy = slots.acquire(4).then((got) => order.push(`busy ${got}`));
    const quiet = slots.acquire(3, true).then((got) => order.push(`quiet ${got}`));
    slots.release(1);
    await quiet;
    slots.release(4);
    await busy;
    expect(order).toEqual(['quiet 1', 'busy 4']);
  });
});
