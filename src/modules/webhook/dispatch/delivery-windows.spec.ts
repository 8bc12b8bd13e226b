import fc from 'fast-check';
import { DeliveryWindows, MAX_IN_FLIGHT } from './delivery-windows.js';

const QUICK = 20;
const HUNG = 10_000;

function deliver(windows: DeliveryWindows, succeeded: boolean, durationMs: number, times = 1) {
  return Array.from({ length: times }, () => {
    windows.started('a', 1);
    return windows.answered('a', 1, succeeded, durationMs);
  });
}

describe('DeliveryWindows', () => {
  it('begins with two places and earns 64', () => {
    const windows = new DeliveryWindows();
    expect(windows.allowed('a')).toBe(2);
    deliver(windows, true, QUICK, 5);
    expect(windows.allowed('a')).toBe(7);
    deliver(windows, true, QUICK, 70);
    expect(windows.allowed('a')).toBe(MAX_IN_FLIGHT);
    expect(MAX_IN_FLIGHT).toBe(64);
    expect(windows.allowed('b')).toBe(2);
  });

  it('stays within the setting', () => {
    const windows = new DeliveryWindows(5);
    deliver(windows, true, QUICK, 70);
    expect(windows.allowed('a')).toBe(5);
  });

  // In virtual time: an endpoint that answers after `latencyMs`, with more events than it takes.
  it.each([
    [20, 3_000],
    [100, 600],
    [200, 300],
    [1_000, 55],
  ])('takes, answering after %i ms, at least %i events a second', (latencyMs, least) => {
    const windows = new DeliveryWindows();
    const open: number[] = [];
    let answered = 0;
    // The first half of the time is for growth.
    for (let now = 0; now < 160_000; now += 10) {
      while (open[0] !== undefined && open[0] <= now) {
        open.shift();
        windows.answered('a', 1, true, latencyMs);
        if (now >= 80_000) answered++;
      }
      while (open.length < windows.allowed('a')) {
        windows.started('a', 1);
        open.push(now + latencyMs);
      }
    }
    expect(answered / 80).toBeGreaterThanOrEqual(least);
  });

  it('falls to two places by the answers of one round that are slow', () => {
    const windows = new DeliveryWindows();
    deliver(windows, true, QUICK, 70);
    deliver(windows, true, 3_000, 64);
    expect(windows.allowed('a')).toBe(2);
  });

  it('leaves an endpoint that hangs one place, and lets it rest after three attempts', () => {
    const windows = new DeliveryWindows();
    deliver(windows, true, QUICK, 20);
    expect(deliver(windows, false, HUNG)).toEqual([false]);
    expect(windows.allowed('a')).toBe(1);
    expect(deliver(windows, false, HUNG, 3)).toEqual([false, true, true]);
    expect(deliver(windows, true, QUICK, 2)).toEqual([false, false]);
    expect(windows.allowed('a')).toBe(3);
  });

  it('never rests an endpoint that fails quickly, and keeps most places of one that fails now and then', () => {
    const windows = new DeliveryWindows();
    expect(deliver(windows, false, QUICK, 50).some((rests) => rests)).toBe(false);
    expect(windows.allowed('a')).toBe(1);
    for (let n = 0; n < 100; n++) deliver(windows, n % 3 !== 0, QUICK);
    expect(windows.allowed('a')).toBeGreaterThanOrEqual(8);
  });

  it('gives few places to an endpoint that takes its time', () => {
    const windows = new DeliveryWindows();
    deliver(windows, true, QUICK, 20);
    deliver(windows, true, 5_000, 20);
    expect(windows.allowed('a')).toBe(2);
  });

  it('forgets what was met under earlier settings, and learns nothing from what we gave up', () => {
    const windows = new DeliveryWindows();
    deliver(windows, false, HUNG, 5);
    windows.started('a', 2);
    expect(windows.allowed('a')).toBe(2);
  });

  it('learns nothing of new settings from attempts under earlier ones', () => {
    const windows = new DeliveryWindows();
    deliver(windows, false, HUNG, 2);
    windows.started('a', 2);
    for (let n = 0; n < 5; n++) windows.answered('a', 2, true, QUICK);
    // The attempts that were under way at the change.
    expect([windows.answered('a', 1, false, HUNG), windows.answered('a', 1, true, QUICK)]).toEqual([false, false]);
    expect(windows.allowed('a')).toBe(7);
    for (const hangs of [false, false, true]) expect(windows.answered('a', 2, false, HUNG)).toBe(hangs);
  });

  it('never lets more than 64 go at once, and always at least one', () => {
    const step = fc.record({ succeeded: fc.boolean(), durationMs: fc.constantFrom(QUICK, HUNG), start: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const windows = new DeliveryWindows();
        let inFlight = 0;
        for (const { succeeded, durationMs, start } of steps) {
          if (start && windows.allowed('a') > inFlight) {
            windows.started('a', 1);
            inFlight++;
          } else if (inFlight > 0) {
            windows.answered('a', 1, succeeded, durationMs);
            inFlight--;
          }
          expect(inFlight).toBeLessThanOrEqual(MAX_IN_FLIGHT);
          expect(windows.allowed('a')).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
