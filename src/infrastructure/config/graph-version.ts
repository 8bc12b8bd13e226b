/** The version of the Graph API that Herald is written for and tested with. */
export const GRAPH_VERSION = 'v26.0';

/**
 * The last day of each version, as announced by Meta. A version ends two years after the next one is released: v27 was
 * not released by 2026-11-25, so v26 lasts at least two years from then.
 */
const ENDS: ReadonlyMap<string, string> = new Map([
  ['v21.0', '2027-01-21'],
  ['v22.0', '2027-05-20'],
  ['v23.0', '2027-10-08'],
  ['v25.0', '2028-07-29'],
  ['v26.0', '2028-11-25'],
]);

const DAY_MS = 24 * 60 * 60 * 1_000;
/** A warning begins this long before a version's end. */
export const WARN_DAYS = 120;

/** When a version ends, and in how many days; null where the end is unknown. */
export function endOfGraphVersion(version: string, now: Date): { date: string; daysLeft: number } | null {
  const date = ENDS.get(version);
  return date === undefined ? null : { date, daysLeft: Math.ceil((Date.parse(date) - now.getTime()) / DAY_MS) };
}
