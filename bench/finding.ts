/** One measured claim beside its yardstick, as it stands in the table and in the results. */
export interface Finding {
  claim: string;
  value: number;
  unit: string;
  /** What it was measured against in the same run, or the limit that it must keep. */
  yardstick: { name: string; value: number };
  /** Value divided by the yardstick's. */
  ratio: number;
  /** In words, such as `≥ 0.6 ×`. */
  goal: string;
  reached: boolean;
  /** The single runs, percentiles and what else helps to read the figure. */
  notes: Record<string, number | string>;
}

interface Measured {
  claim: string;
  value: number;
  unit: string;
  notes?: Finding['notes'];
}

interface Yardstick {
  name: string;
  value: number;
}

/** A figure that must be at least `factor` times the yardstick's. */
export function atLeastTimes(factor: number, measured: Measured, yardstick: Yardstick): Finding {
  return find(measured, yardstick, `≥ ${factor} ×`, (ratio) => ratio >= factor);
}

/** A figure that must be at most `factor` times the yardstick's. */
export function atMostTimes(factor: number, measured: Measured, yardstick: Yardstick): Finding {
  return find(measured, yardstick, `≤ ${factor} ×`, (ratio) => ratio <= factor);
}

/** A figure that must not pass a limit. */
export function atMost(limit: number, measured: Measured): Finding {
  const goal = `≤ ${limit.toLocaleString('en')} ${measured.unit}`;
  return find(measured, { name: 'the limit', value: limit }, goal, (ratio) => ratio <= 1);
}

/** A comparison that nothing depends on. */
export function forComparison(measured: Measured, yardstick: Yardstick): Finding {
  return find(measured, yardstick, 'for comparison', () => true);
}

function find(measured: Measured, yardstick: Yardstick, goal: string, test: (ratio: number) => boolean): Finding {
  const ratio = measured.value / yardstick.value;
  // What could not be measured (NaN) has not been reached.
  return { ...measured, yardstick, ratio, goal, reached: test(ratio), notes: measured.notes ?? {} };
}
