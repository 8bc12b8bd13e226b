import { brokenOff, LeftOut, resultOf, type FaultResult } from '../../bench/rig/fault-result.js';
import type { LeftOutTest } from '../../bench/fault-table.js';
import { TimedOut } from '../../bench/rig/wait.js';
import type { FaultContext, Scenario } from './scenario.js';

export interface Outcome {
  /** In the order of the scenarios, whichever ended first. */
  results: FaultResult[];
  leftOut: LeftOutTest[];
}

interface Ended {
  results: FaultResult[];
  leftOut: LeftOutTest | null;
  /** It missed limits of time and nothing else. */
  onlyLate: boolean;
}

/**
 * Runs the scenarios that tolerate company at most `atOnce` at a time, then the others one by one; one that only missed limits of time runs
 * once more at the end. Most of a scenario's
 * time is waiting for leases to run out, so several side by side take hardly longer than one; what they check does not
 * depend on speed, and what does runs alone.
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  context: FaultContext,
  atOnce: number,
): Promise<Outcome> {
  const ended = new Map<Scenario, Ended>();
  const run = async (scenario: Scenario): Promise<void> => {
    if (!context.scope.isClosed) ended.set(scenario, await runOne(scenario, context));
  };
  const waiting = scenarios.filter((scenario) => scenario.alone !== true);
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  for (const scenario of scenarios) if (scenario.alone === true) await run(scenario);
  for (const [scenario, first] of ended) {
    if (!first.onlyLate || context.scope.isClosed) continue;
    context.say(`${scenario.name}: once more, alone`);
    const second = await runOne(scenario, context);
    const missed = first.results.flatMap(({ violations }) => violations).join('; ');
    for (const result of second.results) result.notes = { ...result.notes, second_run_after: missed };
    ended.set(scenario, second);
  }
  const all = scenarios.flatMap((scenario) => ended.get(scenario) ?? []);
  return {
    results: all.flatMap(({ results }) => results),
    leftOut: all.flatMap(({ leftOut }) => leftOut ?? []),
  };
}

async function runOne(scenario: Scenario, context: FaultContext): Promise<Ended> {
  const say = (line: string): void => context.say(`${scenario.name}: ${line}`);
  const startedAt = performance.now();
  say('...');
  try {
    const found = await scenario.run({ ...context, say });
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const reports = [found].flat();
    const results = reports.map((report) => resultOf(scenario, report));
    for (const result of results) result.notes = { ...result.notes, seconds };
    say(`${results.every(({ reached }) => reached) ? 'reached' : 'NOT REACHED'} after ${seconds} s`);
    const onlyLate =
      results.some(({ reached }) => !reached) && reports.every(({ violations }) => violations.length === 0);
    return { results, leftOut: null, onlyLate };
  } catch (error) {
    if (error instanceof LeftOut) {
      say(`left out: ${error.message}`);
      return { results: [], leftOut: { test: scenario.name, why: error.message }, onlyLate: false };
    }
    const result = brokenOff(scenario, error);
    say(result.violations.join('; '));
    return { results: [result], leftOut: null, onlyLate: error instanceof TimedOut };
  }
}
