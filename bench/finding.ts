/** One measured claim beside its yardstick, as it is in the table and in the results. */
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
  /** How many times better than the goal asks: 1 or more is reached. null where nothing depends on it. */
  margin: number | null;
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
  return find(measured, yardstick, `≥ ${factor} ×`, (ratio) => ratio / factor);
}

/** A figure that must be at most `factor` times the yardstick's. */
export function atMostTimes(factor: number, measured: Measured, yardstick: Yardstick): Finding {
  return find(measured, yardstick, `≤ ${factor} ×`, (ratio) => factor / ratio);
}

/** A figure that must not pass a limit. */
export function atMost(limit: number, measured: Measured): Finding {
  const goal = `≤ ${limit.toLocaleString('en')} ${measured.unit}`;
  // Nothing at all, or less than nothing, of what must be little is as good as a hundredth of the limit.
  return find(measured, { name: 'the limit', value: limit }, goal, (ratio) => 1 / Math.max(ratio, 0.01));
}

/** A figure that must reach one. */
export function atLeast(limit: number, measured: Measured): Finding {
  const goal = `≥ ${limit.toLocaleString('en')} ${measured.unit}`;
  return find(measured, { name: 'the limit', value: limit }, goal, (ratio) => ratio);
}

/** A comparison that nothing depends on. */
export function forComparison(measured: Measured, yardstick: Yardstick): Finding {
  return find(measured, yardstick, 'for comparison', () => null);
}

function find(
  measured: Measured,
  yardstick: Yardstick,
  goal: string,
  marginOf: (ratio: number) => number | null,
): Finding {
  const ratio = measured.value / yardstick.value;
  const margin = marginOf(ratio);
  // What could not be measured (NaN) has not been reached.
  return {
    ...measured,
    yardstick,
    ratio,
    goal,
    margin,
    reached: margin === null || margin >= 1,
    notes: measured.notes ?? {},
  };
}
