import { brokenOff, LeftOut, resultOf, type FaultResult } from '../support/rig/fault-result.js';
import type { LeftOutTest } from '../../bench/fault-table.js';
import type { FaultContext, Scenario } from './scenario.js';

export interface Outcome {
  /** In the order of the scenarios, whichever ended first. */
  results: FaultResult[];
  leftOut: LeftOutTest[];
  /** Missed at first, and reached when they ran again. */
  flaky: { scenario: string; message: string }[];
}

interface Ended {
  results: FaultResult[];
  leftOut: LeftOutTest | null;
}

/**
 * Runs the scenarios that tolerate company at most `atOnce` at a time, then the others one by one. Most of a scenario's
 * time is waiting for leases to run out, so several side by side take hardly longer than one; what they check does not
 * depend on speed, and what does runs alone.
 *
 * @param limitMs one that takes longer is a failure, and is stopped
 * @param secondLook one that missed something runs once more, alone, at the end; its second result counts
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  context: FaultContext,
  { atOnce, secondLook, limitMs }: { atOnce: number; secondLook: boolean; limitMs: number },
): Promise<Outcome> {
  const ended = new Map<Scenario, Ended>();
  const run = async (scenario: Scenario): Promise<void> => {
    if (!context.scope.isClosed) ended.set(scenario, await runOne(scenario, context, limitMs));
  };
  const waiting = scenarios.filter((scenario) => scenario.alone !== true);
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  for (const scenario of scenarios) if (scenario.alone === true) await run(scenario);
  const flaky: Outcome['flaky'] = [];
  for (const [scenario, first] of ended) {
    if (!secondLook || isReached(first) || context.scope.isClosed) continue;
    context.say(`${scenario.name}: once more, alone`);
    const second = await runOne(scenario, context, limitMs);
    const message = first.results.flatMap(({ violations }) => violations).join('; ');
    for (const result of second.results) result.notes = { ...result.notes, second_run_after: message };
    if (isReached(second)) flaky.push({ scenario: scenario.name, message });
    ended.set(scenario, second);
  }
  const all = scenarios.flatMap((scenario) => ended.get(scenario) ?? []);
  return {
    results: all.flatMap(({ results }) => results),
    leftOut: all.flatMap(({ leftOut }) => leftOut ?? []),
    flaky,
  };
}

const isReached = ({ results }: Ended): boolean => results.every(({ reached }) => reached);

async function runOne(scenario: Scenario, context: FaultContext, limitMs: number): Promise<Ended> {
  const say = (line: string): void => context.say(`${scenario.name}: ${line}`);
  const startedAt = performance.now();
  say('...');
  try {
    const found = await withinLimit(scenario, { ...context, say }, limitMs);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    const results = [found].flat().map((report) => resultOf(scenario, report));
    for (const result of results) result.notes = { ...result.notes, seconds };
    say(`${results.every(({ reached }) => reached) ? 'reached' : 'NOT REACHED'} after ${seconds} s`);
    return { results, leftOut: null };
  } catch (error) {
    if (error instanceof LeftOut) {
      say(`left out: ${error.message}`);
      return { results: [], leftOut: { test: scenario.name, why: error.message } };
    }
    const result = brokenOff(scenario, error);
    say(result.violations.join('; '));
    return { results: [result], leftOut: null };
  }
}

/** @throws Error where it takes too long: what it started is stopped, and the other scenarios have their turn. */
function withinLimit(scenario: Scenario, context: FaultContext, limitMs: number): ReturnType<Scenario['run']> {
  return context.scope.within(async (scope) => {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`it did not end within ${limitMs / 1_000} s`)), limitMs);
    });
    const running = scenario.run({ ...context, scope });
    // Once its scope is closed it fails somewhere, and nothing waits for it any more.
    running.catch(() => undefined);
    try {
      return await Promise.race([running, limit]);
    } finally {
      clearTimeout(timer);
    }
  });
}
