import { describe, expect, it } from '@jest/globals';
import type { FaultContext, Scenario } from '../test/faults/scenario.js';
import { runScenarios } from '../test/faults/run-scenarios.js';
import type { FaultReport } from './rig/fault-result.js';
import { TimedOut } from './rig/wait.js';

const GOOD: FaultReport = {
  faults: 1,
  attempted: 1,
  acknowledged: 1,
  lost: 0,
  duplicated: 0,
  unknown: 0,
  recovered_ms: 10,
  violations: [],
};

/** Each run takes the next of `found`. */
function scenario(...found: (FaultReport | Error)[]): Scenario & { runs: () => number } {
  let runs = 0;
  return {
    name: 'example',
    goal: 'nothing is lost',
    runs: () => runs,
    run: () => {
      const next = found[runs++] ?? new Error('one run too many');
      return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
    },
  };
}

function run(one: Scenario) {
  const context = { scope: { isClosed: false }, say: () => undefined } as unknown as FaultContext;
  return runScenarios([one], context, 1);
}

describe('runScenarios', () => {
  it.each([
    ['passed a limit of time', { ...GOOD, late: ['recovery took 61 s'] }, 'recovery took 61 s'],
    ['waited in vain', new TimedOut('waited 120 s in vain'), 'broke off: waited 120 s in vain'],
  ])('runs a scenario that only %s once more, and says so', async (_, first, why) => {
    const one = scenario(first, GOOD);
    const { results } = await run(one);
    expect(results).toEqual([expect.objectContaining({ reached: true })]);
    expect(results[0]?.notes.second_run_after).toBe(why);
    expect(one.runs()).toBe(2);
  });

  it.each([
    ['broke a promise', { ...GOOD, lost: 1, violations: ['one is lost'], late: ['recovery took 61 s'] }],
    ['ended with an error', new Error('answered 500')],
  ])('does not repeat a scenario that %s', async (_, first) => {
    const one = scenario(first, GOOD);
    const { results } = await run(one);
    expect(results).toEqual([expect.objectContaining({ reached: false })]);
    expect(one.runs()).toBe(1);
  });

  it('runs a late scenario twice at the most', async () => {
    const late = { ...GOOD, late: ['recovery took 61 s'] };
    const one = scenario(late, late, GOOD);
    expect((await run(one)).results[0]?.reached).toBe(false);
    expect(one.runs()).toBe(2);
  });
});
