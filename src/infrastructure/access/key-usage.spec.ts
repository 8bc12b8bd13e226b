import { KeyUsage } from './key-usage.js';

describe('KeyUsage', () => {
  it('hands out each key once a minute', () => {
    const clock = { now: 0 };
    const usage = new KeyUsage({ now: () => clock.now, monotonic: () => clock.now });
    usage.note('a');
    usage.note('a');
    usage.note('b');
    expect(usage.takePending()).toEqual(['a', 'b']);
    clock.now = 59_999;
    usage.note('a');
    expect(usage.takePending()).toEqual([]);
    clock.now = 60_000;
    usage.note('a');
    expect(usage.takePending()).toEqual(['a']);
  });
});
