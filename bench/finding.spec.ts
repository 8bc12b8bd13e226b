import { atLeastTimes, atMost, atMostTimes, forComparison } from './finding.js';

const measured = (value: number) => ({ claim: 'speed', value, unit: '/s' });
const yardstick = { name: 'bare', value: 100 };

describe('a finding', () => {
  it('compares with the yardstick', () => {
    expect(atLeastTimes(0.6, measured(60), yardstick)).toMatchObject({ ratio: 0.6, goal: '≥ 0.6 ×', reached: true });
    expect(atLeastTimes(0.6, measured(59), yardstick).reached).toBe(false);
    expect(atMostTimes(1.3, measured(130), yardstick).reached).toBe(true);
    expect(atMostTimes(1.3, measured(131), yardstick).reached).toBe(false);
  });

  it('keeps a limit', () => {
    expect(atMost(1_000, measured(1_000))).toMatchObject({ ratio: 1, goal: '≤ 1,000 /s', reached: true });
    expect(atMost(1_000, measured(1_001)).reached).toBe(false);
  });

  it('is not reached where nothing could be measured', () => {
    expect(atLeastTimes(1, measured(Number.NaN), yardstick).reached).toBe(false);
    expect(atMost(1, measured(Number.NaN)).reached).toBe(false);
    expect(atMostTimes(1, measured(1), { name: 'bare', value: Number.NaN }).reached).toBe(false);
  });

  it('may be for comparison only', () => {
    expect(forComparison(measured(1), yardstick)).toMatchObject({ ratio: 0.01, reached: true });
  });
});
