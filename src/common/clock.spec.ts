import { withHostClock } from '../../test/support/host-clock.js';
import { DatabaseClock } from './clock.js';

const DAY_MS = 86_400_000;
const TIME = 1_800_000_000_000;

/** One that knows by quick answers that the database's time is `ahead` of that of this host. */
function measured(ahead: number): DatabaseClock {
  const clock = new DatabaseClock();
  const at = performance.now();
  clock.measured(Date.now() + ahead, at, at);
  return clock;
}

describe('the clock of the database', () => {
  it('is that of the host until it is measured, and then whatever the database says', () => {
    const clock = new DatabaseClock();
    expect(Math.abs(clock.hostAheadMs)).toBeLessThan(1_000);
    const at = performance.now();
    clock.measured(TIME, at - 5, at + 5);
    expect(clock.now()).toBeGreaterThanOrEqual(TIME);
    expect(clock.now()).toBeLessThan(TIME + DAY_MS);
    expect(clock.date().getTime()).toBeGreaterThanOrEqual(TIME);
  });

  it.each([
    ['ahead', 400],
    ['behind', -400],
  ])('does not follow a host whose clock is set %s, and says how far it is', async (_name, days) => {
    const clock = measured(-3 * DAY_MS);
    const right = Date.now() - 3 * DAY_MS;
    await withHostClock(days * DAY_MS, async () => {
      expect(Math.round((clock.now() - right) / DAY_MS)).toBe(0);
      expect(Math.round(clock.hostAheadMs / DAY_MS)).toBe(days + 3);
    });
    expect(Math.round(clock.hostAheadMs / DAY_MS)).toBe(3);
  });

  it('keeps its time where an answer took long and does not contradict it, and moves no further than one that does', () => {
    const clock = measured(0);
    const before = clock.hostAheadMs;
    const at = performance.now();
    // The middle of these four seconds would be two seconds beside.
    clock.measured(Date.now(), at - 4_000, at);
    clock.measured(Date.now(), at, at + 4_000);
    expect(clock.hostAheadMs).toBeCloseTo(before, -2);
    clock.measured(Date.now() + 60_000, at - 4_000, at);
    expect(clock.hostAheadMs).toBeCloseTo(-60_000, -2);
    clock.measured(Date.now() + 60_000, at - 4_000, at + 4_000);
    expect(clock.hostAheadMs).toBeCloseTo(-60_000, -2);
  });
});
