import type { FaultReport } from '../support/rig/fault-result.js';
import type { Judgement } from '../support/rig/judge.js';
import { RECOVERY_LIMIT_MS } from './fault-stage.js';

interface Facts {
  faults: number;
  attempted: number;
  judgement: Judgement;
  recoveredMs: number;
  /** Default: {@link RECOVERY_LIMIT_MS}. */
  recoveryLimitMs?: number;
  /** What this scenario checks besides. */
  violations?: string[];
  late?: string[];
  notes?: FaultReport['notes'];
}

/** Turns what was found into a line of the report; every promise that was broken is named. */
export function reportOf({ judgement, recoveredMs, ...facts }: Facts): FaultReport {
  const broken = [...(facts.violations ?? []), ...judgement.violations];
  if (judgement.unfinished > 0) broken.push(`${judgement.unfinished} messages have no final state`);
  if (judgement.unknownButTaken > 0) {
    broken.push(`${judgement.unknownButTaken} are outcome_unknown although the platform reported their status`);
  }
  const limitMs = facts.recoveryLimitMs ?? RECOVERY_LIMIT_MS;
  const late = [...(facts.late ?? [])];
  if (recoveredMs > limitMs) late.push(`recovery took ${Math.round(recoveredMs)} ms, more than ${limitMs}`);
  return {
    faults: facts.faults,
    attempted: facts.attempted,
    acknowledged: judgement.acknowledged,
    lost: judgement.lost,
    duplicated: judgement.duplicated,
    unknown: judgement.unknown,
    recovered_ms: recoveredMs,
    violations: broken,
    late,
    notes: facts.notes,
  };
}
