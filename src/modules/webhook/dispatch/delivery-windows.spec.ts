import fc from 'fast-check';
import { DeliveryWindows, MOST_IN_FLIGHT } from './endpoint-health.js';

const QUICK = 20;
const HUNG = 10_000;

function deliver(windows: DeliveryWindows, succeeded: boolean, durationMs: number, times = 1) {
  return Array.from({ length: times }, () => {
    windows.started('a', 1);
    const rests = windows.answered('a', succeeded, durationMs);
    windows.ended('a');
    return rests;
  });
}

describe('DeliveryWindows', () => {
  it('begins with two places and earns ten', () => {
    const windows = new DeliveryWindows();
    expect(windows.capacity('a')).toBe(2);
    deliver(windows, true, QUICK, 5);
    expect(windows.capacity('a')).toBe(7);
    deliver(windows, true, QUICK, 50);
    expect(windows.capacity('a')).toBe(MOST_IN_FLIGHT);
    expect(windows.capacity('b')).toBe(2);
  });

  it('leaves an endpoint that hangs one place, and lets it rest after three attempts', () => {
    const windows = new DeliveryWindows();
    deliver(windows, true, QUICK, 20);
    expect(deliver(windows, false, HUNG)).toEqual([false]);
    expect(windows.capacity('a')).toBe(1);
    expect(deliver(windows, false, HUNG, 3)).toEqual([false, true, true]);
    expect(deliver(windows, true, QUICK, 2)).toEqual([false, false]);
    expect(windows.capacity('a')).toBe(3);
  });

  it('never rests an endpoint that fails quickly, and keeps most places of one that fails now and then', () => {
    const windows = new DeliveryWindows();
    expect(deliver(windows, false, QUICK, 50).some((rests) => rests)).toBe(false);
    expect(windows.capacity('a')).toBe(1);
    for (let n = 0; n < 100; n++) deliver(windows, n % 3 !== 0, QUICK);
    expect(windows.capacity('a')).toBeGreaterThanOrEqual(8);
  });

  it('gives few places to an endpoint that takes its time', () => {
    const windows = new DeliveryWindows();
    deliver(windows, true, QUICK, 20);
    deliver(windows, true, 5_000, 20);
    expect(windows.capacity('a')).toBe(2);
  });

  it('forgets what was met under earlier settings, and learns nothing from what we gave up', () => {
    const windows = new DeliveryWindows();
    deliver(windows, false, HUNG, 5);
    windows.started('a', 2);
    windows.ended('a');
    expect(windows.capacity('a')).toBe(2);
    expect(windows.isIdle('a')).toBe(true);
    windows.started('a', 2);
    expect(windows.isIdle('a')).toBe(false);
    expect(windows.capacity('a')).toBe(1);
    windows.ended('a');
    expect(windows.capacity('a')).toBe(2);
  });

  it('never lets more than ten go at once, and always at least one', () => {
    const step = fc.record({ succeeded: fc.boolean(), durationMs: fc.constantFrom(QUICK, HUNG), start: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const windows = new DeliveryWindows();
        let inFlight = 0;
        for (const { succeeded, durationMs, start } of steps) {
          if (start && windows.capacity('a') > 0) {
            windows.started('a', 1);
            inFlight++;
          } else if (inFlight > 0) {
            windows.answered('a', succeeded, durationMs);
            windows.ended('a');
            inFlight--;
          }
          expect(inFlight).toBeLessThanOrEqual(MOST_IN_FLIGHT);
          if (inFlight === 0) expect(windows.capacity('a')).toBeGreaterThanOrEqual(1);
        }
      }),
    );
  });
});
