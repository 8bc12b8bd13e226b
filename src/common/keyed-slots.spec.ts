import { KeyedSlots } from './keyed-slots.js';

describe('KeyedSlots', () => {
  it('gives each key its slots, and a free one to the first that waits', async () => {
    const slots = new KeyedSlots({ slots: 2, mostWaiting: 2, waitMs: 60_000 });
    expect([slots.enter('a'), slots.enter('a'), slots.enter('b')]).toEqual([true, true, true]);
    const order: string[] = [];
    const wait = async (name: string): Promise<void> => {
      expect(await slots.enter('a')).toBe(true);
      order.push(name);
    };
    const both = [wait('first'), wait('second')];
    expect(slots.enter('a')).toBe(false);
    slots.leave('a');
    await both[0];
    expect(order).toEqual(['first']);
    slots.leave('a');
    await both[1];
    expect(order).toEqual(['first', 'second']);
    slots.leave('a');
    slots.leave('a');
    expect([slots.enter('a'), slots.enter('a')]).toEqual([true, true]);
  });

  it('lets none wait longer than it may, and gives its slot to the next', async () => {
    const slots = new KeyedSlots({ slots: 1, mostWaiting: 2, waitMs: 1 });
    expect(slots.enter('a')).toBe(true);
    expect(await slots.enter('a')).toBe(false);
    slots.leave('a');
    expect(slots.enter('a')).toBe(true);
  });
});
