import { padded, paint, shownLength } from './style.js';

/** What a command has to say: once for people, once for programs. */
export interface Answer {
  /** Printed with `--json`, in snake_case as the API has it. */
  data: unknown;
  /** Printed without it. */
  text: string;
  /** The command did its work, and what it found is a failure: exit code 1. */
  failed?: boolean;
}

/** Facts under one another: `name  value`. */
export function facts(pairs: Record<string, string>): string {
  const width = Math.max(...Object.keys(pairs).map((name) => name.length));
  return Object.entries(pairs)
    .map(([name, value]) => `${paint.faint(name.padEnd(width))}  ${value}`)
    .join('\n');
}

/** Columns as wide as their widest cell, cells in any colour; `none` says what is not there where there are no rows. */
export function table(columns: readonly string[], rows: readonly (readonly string[])[], none: string): string {
  if (rows.length === 0) return none;
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => shownLength(row[index] ?? ''))),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, index) => padded(cell, widths[index] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(columns.map((column) => paint.faint(column))), ...rows.map(line)].join('\n');
}

/** A time as the API writes it; `never` where there is none. */
export function timeText(time: Date | null, never = '-'): string {
  return time === null ? never : time.toISOString();
}
