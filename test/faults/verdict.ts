import type { Judgement } from '../../bench/rig/judge.js';
import { RECOVERY_LIMIT_MS } from './fault-stage.js';
import type { FaultReport } from './scenario.js';

interface Facts {
  scenario: string;
  faults: number;
  attempted: number;
  judgement: Judgement;
  recoveredMs: number;
  /** What this scenario checks besides. */
  violations?: string[];
}

/** Turns what was found into a line of the report; every promise that was broken is named. */
export function reportOf({ scenario, faults, attempted, judgement, recoveredMs, violations = [] }: Facts): FaultReport {
  const broken = [...violations, ...judgement.violations];
  if (judgement.unfinished > 0) broken.push(`${judgement.unfinished} messages have no final state`);
  if (judgement.unknownButTaken > 0) {
    broken.push(`${judgement.unknownButTaken} are outcome_unknown although the platform reported their status`);
  }
  if (recoveredMs > RECOVERY_LIMIT_MS) broken.push(`recovery took ${Math.round(recoveredMs)} ms`);
  return {
    scenario,
    faults,
    attempted,
    acknowledged: judgement.acknowledged,
    lost: judgement.lost,
    duplicated: judgement.duplicated,
    unknown: judgement.unknown,
    recovered_ms: Math.round(recoveredMs),
    violations: broken,
  };
}
