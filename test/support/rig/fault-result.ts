/** One element of `bench/results/faults.json`; the first nine fields are what readers rely on, in this order. */
export interface FaultResult {
  test: string;
  /** In words, with its figures and, where there is one, the goal's number (G1 to G30): `G2: 0 lost, 0 twice`. */
  goal: string;
  /** Requests or messages that were tried. */
  attempted: number;
  acknowledged: number;
  lost: number;
  duplicated: number;
  unknown: number;
  /**
   * Milliseconds from the last fault, or the last acknowledgement where that came later, until everything had its final
   * state; null where nothing has to recover.
   */
  recovered_ms: number | null;
  reached: boolean;
  /** How many faults were injected. */
  faults: number;
  /** Goals that were missed, in words; none: reached. */
  violations: string[];
  /** What else helps to read the line, with units in the names: `repeated`, `p99_ms`. */
  notes: Record<string, number | string>;
}

type Optional = 'test' | 'goal' | 'notes';

/**
 * What one fault test found, in the vocabulary of Jepsen's checkers. Where it reports more than one line, each has a name
 * and a goal of its own; by default they are the scenario's.
 */
export interface FaultReport extends Omit<FaultResult, 'reached' | Optional>, Partial<Pick<FaultResult, Optional>> {
  /**
   * Limits of time that were passed, and faults that met a service at rest. Missed as well; but on a shared machine
   * others may be the cause.
   */
  late?: string[];
}

/** Thrown by a scenario that this machine cannot run; says what is missing. It counts as neither reached nor missed. */
export class LeftOut extends Error {}

/** @param scenario who found it; `reached` follows from the violations alone */
export function resultOf(scenario: { name: string; goal: string }, report: FaultReport): FaultResult {
  const violations = [...report.violations, ...(report.late ?? [])];
  return {
    test: report.test ?? scenario.name,
    goal: report.goal ?? scenario.goal,
    attempted: report.attempted,
    acknowledged: report.acknowledged,
    lost: report.lost,
    duplicated: report.duplicated,
    unknown: report.unknown,
    recovered_ms: report.recovered_ms === null ? null : Math.round(report.recovered_ms),
    reached: violations.length === 0,
    faults: report.faults,
    violations,
    notes: report.notes ?? {},
  };
}

/** The line of a scenario that ended with an error: it has shown nothing, which is no goal reached. */
export function brokenOff(scenario: { name: string; goal: string }, error: unknown): FaultResult {
  const message = error instanceof Error ? error.message : String(error);
  const nothing = { faults: 0, attempted: 0, acknowledged: 0, lost: 0, duplicated: 0, unknown: 0, recovered_ms: null };
  return resultOf(scenario, { ...nothing, violations: [`broke off: ${message}`] });
}
