import fc from 'fast-check';
import { Slots } from './slots.js';

describe('Slots', () => {
  it('hands out a place that comes free first come, first served', async () => {
    const slots = new Slots(1);
    await slots.acquire();
    const order: string[] = [];
    const second = slots.acquire().then(() => order.push('second'));
    const third = slots.acquire().then(() => order.push('third'));
    slots.release();
    await second;
    expect(order).toEqual(['second']);
    slots.release();
    await third;
    expect(order).toEqual(['second', 'third']);
  });

  it('never hands out more than there are, and serves every caller', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 60 }), async (total, callers) => {
        const slots = new Slots(total);
        let held = 0;
        const most = await Promise.all(
          Array.from({ length: callers }, async () => {
            await slots.acquire();
            const seen = ++held;
            await new Promise(setImmediate);
            held -= 1;
            slots.release();
            return seen;
          }),
        );
        expect(Math.max(...most)).toBe(Math.min(total, callers));
      }),
      { numRuns: 50 },
    );
  });
});
