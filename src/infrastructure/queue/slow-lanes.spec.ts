import { SlowLanes, type ClaimTime, type Claiming } from './slow-lanes.js';

const A = 'a';
const B = 'b';

/** What `SlowLanes` knows after each of these claims: how it was made, of which lanes, and how long it took. */
function after(...claims: [Claiming, Record<string, ClaimTime>, number][]): SlowLanes {
  const slow = new SlowLanes();
  for (const [claiming, times, tookMs] of claims) {
    const lanes = Object.entries(times).map(([key, time]) => ({ key, time }));
    slow.claimed(claiming, lanes, tookMs);
  }
  return slow;
}

const both = (a: ClaimTime, b: ClaimTime) => ({ [A]: a, [B]: b });
const SUSPECTED: [Claiming, Record<string, ClaimTime>, number] = ['shared', both('out_of_time', 'out_of_time'), 1_000];
const SLOW: [Claiming, Record<string, ClaimTime>, number] = ['suspect', { [A]: 'out_of_time' }, 250];

describe('a lane', () => {
  it.each<[string, Parameters<typeof after>, Claiming, Claiming]>([
    ['that was never slow', [], 'shared', 'shared'],
    ['in a shared claim that is quick', [['shared', both('in_time', 'in_time'), 249]], 'shared', 'shared'],
    ['in a shared claim that succeeds late', [['shared', both('in_time', 'in_time'), 250]], 'suspect', 'suspect'],
    ['in a shared claim out of time', [SUSPECTED], 'suspect', 'suspect'],
    ['that alone is late among others', [['shared', both('out_of_time', 'in_time'), 1_000]], 'slow', 'shared'],
    ['by itself in a shared claim that succeeds late', [['shared', { [A]: 'in_time' }, 250]], 'slow', 'shared'],
    ['by itself in a shared claim out of time', [['shared', { [A]: 'out_of_time' }, 1_000]], 'slow', 'shared'],
    ['that is suspect, and quick', [SUSPECTED, ['suspect', { [A]: 'in_time' }, 249]], 'shared', 'suspect'],
    ['that is suspect, and out of time', [SUSPECTED, SLOW], 'slow', 'suspect'],
    ['that is slow, and still is', [SUSPECTED, SLOW, ['slow', { [A]: 'in_time' }, 3_000]], 'slow', 'suspect'],
    ['that is slow, and quick', [SUSPECTED, SLOW, ['slow', { [A]: 'in_time' }, 249]], 'shared', 'suspect'],
    ['whose claim fails by another error', [['shared', both('failed', 'failed'), 3_000]], 'shared', 'shared'],
  ])('%s', (_what, claims, ofA, ofB) => {
    const slow = after(...claims);
    expect([slow.of(A), slow.of(B)]).toEqual([ofA, ofB]);
  });
});

describe('where the database is slow', () => {
  const late = (n: number): [Claiming, Record<string, ClaimTime>, number] => [
    'slow',
    { [`${n}`]: 'out_of_time' },
    10_000,
  ];
  const eight = Array.from({ length: 8 }, (_, n) => late(n));

  it('no lane is to blame: all share again, with the time of every statement, until a claim is quick', () => {
    const slow = after(...eight);
    expect([slow.of('0'), slow.withinMs('shared')]).toEqual(['shared', undefined]);
    slow.claimed('shared', [{ key: A, time: 'in_time' }], 9_000);
    expect([slow.of(A), slow.withinMs('shared')]).toEqual(['shared', undefined]);
    slow.claimed('shared', [{ key: A, time: 'in_time' }], 10);
    expect(slow.withinMs('shared')).toBe(1_000);
  });

  it('is not said by many lanes that are late in one claim beside others', () => {
    const times = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`${n}`, n < 10 ? 'out_of_time' : 'in_time']),
    );
    const slow = after(['shared', times as Record<string, ClaimTime>, 1_000]);
    expect([slow.of('0'), slow.of('9'), slow.of('10'), slow.withinMs('shared')]).toEqual([
      'slow',
      'slow',
      'shared',
      1_000,
    ]);
  });

  it('each suspicion doubles the time for which lanes are not suspected', () => {
    const lateFor = (ms: number): [Claiming, Record<string, ClaimTime>, number] => [
      'shared',
      both('in_time', 'in_time'),
      ms,
    ];
    const innocent: [Claiming, Record<string, ClaimTime>, number][] = [
      ['suspect', { [A]: 'in_time' }, 10],
      ['suspect', { [B]: 'in_time' }, 10],
    ];
    expect(after(lateFor(400), ...innocent, lateFor(400)).of(A)).toBe('shared');
    expect(after(lateFor(400), ...innocent, lateFor(400), lateFor(10), lateFor(400)).of(A)).toBe('suspect');
  });

  it('a suspect has a quarter of a second, what is slow the time of every statement', () => {
    const slow = new SlowLanes();
    expect([slow.withinMs('suspect'), slow.withinMs('slow'), slow.withinMs('shared')]).toEqual([250, undefined, 1_000]);
  });
});
