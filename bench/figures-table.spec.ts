import { withTable } from './documents.js';
import { figuresTable, type Recorded } from './figures-table.js';
import { atLeastTimes, atMost, forComparison, type Finding } from './finding.js';
import { pictureOf } from './picture.js';

const measured = (value: number) => ({ claim: 'accept', value, unit: '/s' });
const express = { name: 'bare <Express>', value: 100 };
const findings = [
  atLeastTimes(0.6, measured(90), express),
  atLeastTimes(3, measured(150), express),
  atMost(64, { claim: 'memory', value: 16, unit: 'MiB' }),
  forComparison(measured(50), express),
];

const recorded = (finding: Finding): Recorded => ({
  ...finding,
  measured_at: '2026-11-22T01:20:00.000Z',
  mode: 'quick',
  machine: '2 cores',
  versions: 'Node 20',
  commit: 'abc1234',
  busy_before: 0.03,
});

describe('the figures of a run', () => {
  const table = figuresTable(findings.map(recorded));

  it('say of each claim whether its goal was reached', () => {
    expect(table).toContain('| accept | 90 /s | bare <Express>: 100 /s | 0.90 × | ≥ 0.6 × | reached |');
    expect(table).toContain('| accept | 150 /s | bare <Express>: 100 /s | 1.50 × | ≥ 3 × | **not reached** |');
    expect(table).toContain('| memory | 16 MiB |  |  | ≤ 64 MiB | reached |');
    expect(table).toContain('| 0.50 × | for comparison |  |');
    expect(table).toContain('3 of 4 goals reached');
  });

  it('stand between the marks of the page, and nothing else of it changes', () => {
    const marks = { begin: '<!-- figures -->', end: '<!-- end of figures -->' };
    const once = withTable('before\n<!-- figures -->\nold\n<!-- end of figures -->\nafter\n', marks, table);
    expect(once).not.toContain('old');
    expect(once.startsWith('before\n')).toBe(true);
    expect(once.endsWith('<!-- end of figures -->\nafter\n')).toBe(true);
    expect(withTable(once, marks, table)).toBe(once);
    expect(() => withTable('no place', marks, table)).toThrow('no place for its table');
  });

  it('are bars from the goal to the right where it was reached, else to the left', () => {
    const picture = pictureOf(findings, 'a < b');
    // The goal is at 701: three of eight steps from the left end.
    expect([...picture.matchAll(/class="(good|bad)" x="([\d.]+)"/g)].map(([, kind, x]) => [kind, x])).toEqual([
      ['good', '701'],
      ['bad', '654'],
      ['good', '701'],
    ]);
    expect(picture).toContain('a &lt; b');
    expect(picture).not.toContain('<Express>');
  });
});
