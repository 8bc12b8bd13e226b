import type { BenchPostgres } from '../../bench/rig/postgres.js';
import type { Scope } from '../../bench/rig/scope.js';

/** What a run gives to its scenarios. */
export interface FaultContext {
  scope: Scope;
  postgres: BenchPostgres;
  /** Fewer faults, the same checks. */
  quick: boolean;
  /** `REDIS_URL` where the queue is to work on Redis; null: PostgreSQL. */
  redisUrl: string | null;
  say: (line: string) => void;
}

/** One line of the report, in the vocabulary of Jepsen's checkers. */
export interface FaultReport {
  scenario: string;
  /** How many faults were injected. */
  faults: number;
  /** Requests or messages that were tried. */
  attempted: number;
  acknowledged: number;
  lost: number;
  duplicated: number;
  unknown: number;
  /** From the last fault, or the last acknowledgement where that came later, until everything had its final state. */
  recovered_ms: number;
  /** Goals that were missed, in words; none: passed. */
  violations: string[];
}

/** One file of `scenarios/`. */
export interface Scenario {
  /** As `npm run faults -- <name>` takes it. */
  name: string;
  run(context: FaultContext): Promise<FaultReport>;
}

export function randomBetween(least: number, most: number): number {
  return least + Math.random() * (most - least);
}
