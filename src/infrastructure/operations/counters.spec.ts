import { Counters } from './counters.js';

describe('Counters', () => {
  it('adds up by name and lists names in order', () => {
    const counters = new Counters();
    counters.increment('wake_failed');
    counters.increment('sent', 3);
    counters.increment('sent');
    expect(Object.entries(counters.snapshot())).toEqual([
      ['sent', 4],
      ['wake_failed', 1],
    ]);
  });

  it('hands out a copy', () => {
    const counters = new Counters();
    counters.increment('sent');
    counters.snapshot().sent = 100;
    expect(counters.snapshot().sent).toBe(1);
  });
});
