import { Scope } from '../support/rig/scope.js';
import { runScenarios } from './run-scenarios.js';
import type { FaultContext, Scenario } from './scenario.js';

const never: Scenario = { name: 'never', goal: 'ends', run: () => new Promise(() => undefined) };

it('a scenario that does not end is stopped, and fails', async () => {
  const scope = new Scope();
  const context = { scope, quick: true, redisUrl: null, say: () => undefined } as unknown as FaultContext;
  const released: string[] = [];
  const hangs: Scenario = {
    ...never,
    name: 'hangs',
    run: (given) => {
      given.scope.defer(() => void released.push('what it started'));
      return never.run(given);
    },
  };
  const { results } = await runScenarios([hangs], context, { atOnce: 1, secondLook: false, limitMs: 20 });
  expect(results).toEqual([expect.objectContaining({ test: 'hangs', reached: false })]);
  expect(results[0]?.violations.join()).toContain('it did not end within 0.02 s');
  expect(released).toEqual(['what it started']);
  await scope.close();
});
