import { faultTable } from './fault-table.js';
import { brokenOff, resultOf, type FaultReport } from '../test/support/rig/fault-result.js';

const scenario = { name: 'worker-killed', goal: 'G4: 0 lost' };
const report: FaultReport = {
  faults: 5,
  attempted: 1_000,
  acknowledged: 999,
  lost: 0,
  duplicated: 0,
  unknown: 3,
  recovered_ms: 20_961.7,
  violations: [],
};

describe('resultOf', () => {
  it('has the fields that readers rely on, first and in order', () => {
    const fields = ['test', 'goal', 'attempted', 'acknowledged', 'lost', 'duplicated', 'unknown', 'recovered_ms'];
    expect(Object.keys(resultOf(scenario, report)).slice(0, 9)).toEqual([...fields, 'reached']);
  });

  it('is reached exactly where nothing was violated', () => {
    expect(resultOf(scenario, report)).toMatchObject({ test: 'worker-killed', recovered_ms: 20_962, reached: true });
    expect(resultOf(scenario, { ...report, violations: ['two ids'] }).reached).toBe(false);
  });

  it('takes the name and goal of a line of its own', () => {
    const line = resultOf(scenario, { ...report, test: 'worker-killed, claimed', goal: 'G9' });
    expect(line).toMatchObject({ test: 'worker-killed, claimed', goal: 'G9' });
  });
});

describe('brokenOff', () => {
  it('is never a goal reached', () => {
    const result = brokenOff(scenario, new Error('no port'));
    expect(result).toMatchObject({ reached: false, attempted: 0, violations: ['broke off: no port'] });
  });
});

describe('faultTable', () => {
  it('has a row for each result, then what was missed and left out', () => {
    const missed = resultOf({ name: 'b', goal: 'a | b' }, { ...report, recovered_ms: null, violations: ['2 lost'] });
    const table = faultTable([resultOf(scenario, report), missed], [{ test: 'skew', why: 'no faketime' }], 'Today.');
    const lines = table.split('\n');
    expect(lines[0]).toBe('Today.');
    expect(lines).toContain('| `worker-killed` | G4: 0 lost | 5 | 1,000 | 999 | 0 | 0 | 3 | 21.0 s | reached |');
    expect(lines).toContain('| `b` | a \\| b | 5 | 1,000 | 999 | 0 | 0 | 3 |  | **not reached** |');
    expect(lines.slice(-2)).toEqual(['- `b`: 2 lost', '- `skew` was left out: no faketime']);
  });
});
