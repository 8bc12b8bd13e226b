import type { FaultReport } from '../support/rig/fault-result.js';
import type { BenchPostgres } from '../support/rig/postgres.js';
import type { Scope } from '../support/rig/scope.js';

/** What a run gives to its scenarios. */
export interface FaultContext {
  scope: Scope;
  /** Shared by scenarios that may run at the same time; a scenario that harms the server starts one of its own. */
  postgres: BenchPostgres;
  /** Fewer faults, the same checks. */
  quick: boolean;
  /** `REDIS_URL` where the queue is to work on Redis; null: PostgreSQL. */
  redisUrl: string | null;
  say: (line: string) => void;
}

/** One file of `scenarios/`, and a line of `scenarios/all.ts`. */
export interface Scenario {
  /** As `npm run faults -- <name>` takes it. */
  name: string;
  /** What must hold, with its figures, in words; begins with the goal's number where there is one. */
  goal: string;
  /** Nothing runs beside it: it measures a time that others would spoil, or needs the whole machine. */
  alone?: boolean;
  /** Not part of `--quick`; run by name, or in the long form. */
  longOnly?: boolean;
  /** @throws LeftOut where this machine lacks something */
  run(context: FaultContext): Promise<FaultReport | FaultReport[]>;
}

export function randomBetween(least: number, most: number): number {
  return least + Math.random() * (most - least);
}

export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
