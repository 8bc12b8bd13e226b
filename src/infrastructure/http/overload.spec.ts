import { Pressure, SHEDDING } from './overload.js';

const calm = { loopDelayMs: 0, poolWaiting: 0 };

function pressure(limits: { loopDelayMs?: number; poolWaiting?: number } = {}): Pressure {
  return new Pressure({ loopDelayMs: 100, poolWaiting: 50, ...limits });
}

describe('Pressure', () => {
  it('refuses nothing while the loop turns and connections are at hand', () => {
    const one = pressure();
    for (let i = 0; i < 100; i++) expect(one.note({ loopDelayMs: 90, poolWaiting: 49 })).toBe(SHEDDING.none);
  });

  it('gives up reads first, then writes, then notifications, as the queue for connections grows', () => {
    const one = pressure();
    const levels = [49, 50, 99, 100, 199, 200, 100_000].map((poolWaiting) => one.note({ ...calm, poolWaiting }));
    expect(levels).toEqual([0, 1, 1, 2, 2, 3, 3]);
  });

  it('does the same as the loop is held up for longer and longer', () => {
    const levelsAt = (loopDelayMs: number) => {
      const one = pressure();
      return Array.from({ length: 40 }, () => one.note({ ...calm, loopDelayMs })).at(-1);
    };
    expect([90, 110, 190, 210, 390, 410, 60_000].map(levelsAt)).toEqual([0, 1, 1, 2, 2, 3, 3]);
  });

  it('takes one stall, however long, for no overload, and two in a row for one', () => {
    const one = pressure();
    const stall = { ...calm, loopDelayMs: 30_000 };
    expect(one.note(stall)).toBe(SHEDDING.none);
    expect(one.note(calm)).toBe(SHEDDING.none);
    expect(one.note(stall)).toBe(SHEDDING.reads);
  });

  it('forgets within a second of looks what is over', () => {
    const one = pressure();
    for (let i = 0; i < 100; i++) one.note({ loopDelayMs: 60_000, poolWaiting: 1_000 });
    const levels = Array.from({ length: 20 }, () => one.note(calm));
    expect(levels[0]).toBe(SHEDDING.notifications);
    expect(levels.at(-1)).toBe(SHEDDING.none);
  });

  it('never refuses by a limit of 0', () => {
    const one = pressure({ loopDelayMs: 0, poolWaiting: 0 });
    for (let i = 0; i < 100; i++) expect(one.note({ loopDelayMs: 60_000, poolWaiting: 9_999 })).toBe(SHEDDING.none);
  });

  it('takes a look without a reading for a calm one', () => {
    expect(pressure().note({ loopDelayMs: Number.NaN, poolWaiting: 0 })).toBe(SHEDDING.none);
  });
});
