import { describe, expect, it } from '@jest/globals';
import type { FaultContext, Scenario } from '../test/faults/scenario.js';
import { runScenarios } from '../test/faults/run-scenarios.js';
import type { FaultReport } from '../test/support/rig/fault-result.js';
import { Scope } from '../test/support/rig/scope.js';

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

function run(one: Scenario, secondLook = true) {
  const context = { scope: new Scope(), say: () => undefined } as unknown as FaultContext;
  return runScenarios([one], context, { atOnce: 1, secondLook, limitMs: 10_000 });
}

const MISSED: [string, FaultReport | Error, string][] = [
  ['passed a limit of time', { ...GOOD, late: ['recovery took 61 s'] }, 'recovery took 61 s'],
  ['broke a promise', { ...GOOD, lost: 1, violations: ['one is lost'], late: ['late too'] }, 'one is lost; late too'],
  ['waited in vain', new Error('waited 120 s in vain'), 'broke off: waited 120 s in vain'],
  ['ended with an error', new Error('answered 500'), 'broke off: answered 500'],
];

describe('runScenarios', () => {
  it('stops a scenario that does not end, and what it started', async () => {
    const scope = new Scope();
    const context = { scope, say: () => undefined } as unknown as FaultContext;
    const released: string[] = [];
    const hangs: Scenario = {
      name: 'hangs',
      goal: 'it ends',
      run: (given) => {
        given.scope.defer(() => void released.push('what it started'));
        return new Promise(() => undefined);
      },
    };
    const { results } = await runScenarios([hangs], context, { atOnce: 1, secondLook: false, limitMs: 20 });
    expect(results).toEqual([expect.objectContaining({ test: 'hangs', reached: false })]);
    expect(results[0]?.violations).toEqual(['broke off: it did not end within 0.02 s']);
    expect(released).toEqual(['what it started']);
  });

  it.each(MISSED)('does not repeat a scenario that %s', async (_, first) => {
    const one = scenario(first, GOOD);
    const { results, flaky } = await run(one, false);
    expect(results).toEqual([expect.objectContaining({ reached: false })]);
    expect(flaky).toEqual([]);
    expect(one.runs()).toBe(1);
  });

  describe('with a second look', () => {
    it.each(MISSED)('runs a scenario that %s once more, and says so', async (_, first, message) => {
      const one = scenario(first, GOOD);
      const { results, flaky } = await run(one);
      expect(results).toEqual([expect.objectContaining({ reached: true })]);
      expect(results[0]?.notes.second_run_after).toBe(message);
      expect(flaky).toEqual([{ scenario: 'example', message }]);
      expect(one.runs()).toBe(2);
    });

    it.each(MISSED)('runs a scenario that %s each time twice at the most, and it stays missed', async (_, each) => {
      const one = scenario(each, each, GOOD);
      const { results, flaky } = await run(one);
      expect(results[0]?.reached).toBe(false);
      expect(flaky).toEqual([]);
      expect(one.runs()).toBe(2);
    });

    it('does not repeat one that reached all', async () => {
      const one = scenario(GOOD);
      expect((await run(one)).flaky).toEqual([]);
      expect(one.runs()).toBe(1);
    });
  });
});
