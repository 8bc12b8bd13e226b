import { MAX_ROWS } from './usage.repository.js';
import type { CodeRow, Interval, UsageAnswer, UsageQuestion } from './usage.types.js';

/**
 * Rows of an answer, and counts read for it, that cost one token: each about ten milliseconds of the process or of
 * PostgreSQL.
 */
const ROWS_A_TOKEN = 300;
const CODE_ROWS_A_TOKEN = 1_000;
const COUNTS_A_TOKEN = 5_000;
/** For a read without groups or filters, whose number of counts is not known before. */
const DAYS_A_TOKEN = 10;

const MOST = tokens(MAX_ROWS / ROWS_A_TOKEN);

const INTERVAL_MS: Readonly<Record<Interval, number>> = { hour: 3_600_000, day: 86_400_000, month: 28 * 86_400_000 };

/**
 * The most tokens that an answer may cost. Without groups it has a row per interval; with groups the number is not
 * known before.
 */
export function mostOfMessages({ groupBy, filter, ...period }: UsageQuestion): number {
  const isPlain = groupBy.length === 0 && Object.keys(filter).length === 0;
  if (!isPlain) return MOST;
  const days = (period.until.getTime() - period.since.getTime()) / INTERVAL_MS.day;
  return Math.min(MOST, tokens(Math.max(intervalsOf(period) / ROWS_A_TOKEN, days / DAYS_A_TOKEN)));
}

/** The actual price; at most `mostOfMessages`. */
export function messagesPrice({ rows, counts }: UsageAnswer): number {
  return Math.min(MOST, tokens(Math.max(rows.length / ROWS_A_TOKEN, counts / COUNTS_A_TOKEN)));
}

type Period = Pick<UsageQuestion, 'since' | 'until' | 'interval'>;

/** Each interval may have a row per country. */
export function mostOfCodes(period: Period): number {
  return tokens(Math.min(intervalsOf(period) * 20, MAX_ROWS) / CODE_ROWS_A_TOKEN);
}

export function codesPrice({ rows }: { rows: readonly CodeRow[] }): number {
  return tokens(rows.length / CODE_ROWS_A_TOKEN);
}

function intervalsOf({ since, until, interval }: Period): number {
  return (until.getTime() - since.getTime()) / INTERVAL_MS[interval] + 1;
}

function tokens(exact: number): number {
  return Math.max(1, Math.ceil(exact));
}
