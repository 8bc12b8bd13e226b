import { stripVTControlCharacters, styleText } from 'node:util';

// Node checks the stream: a terminal gets colours, a pipe none; NO_COLOR and FORCE_COLOR override this.
const painted =
  (colour: Parameters<typeof styleText>[0]) =>
  (text: string): string =>
    styleText(colour, text, { stream: process.stdout });

/** Colours by meaning. Without a terminal the text stays unchanged. */
export const paint = {
  heading: painted('bold'),
  faint: painted('dim'),
  good: painted('green'),
  bad: painted('red'),
  doubtful: painted('yellow'),
  name: painted('cyan'),
};

/** The status of a message, delivery or challenge in the colour of its meaning. */
export function paintStatus(status: string): string {
  if (GOOD.has(status)) return paint.good(status);
  if (BAD.has(status)) return paint.bad(status);
  if (DOUBTFUL.has(status)) return paint.doubtful(status);
  return status;
}

const GOOD = new Set(['sent', 'delivered', 'read', 'received', 'verified', 'connected', 'approved', 'ok', 'valid']);
const BAD = new Set(['failed', 'rejected', 'disabled', 'disconnected', 'revoked', 'expired', 'exhausted', 'FAIL']);
const DOUBTFUL = new Set(['outcome_unknown', 'restricted', 'paused', 'warn']);

const ESCAPE = '\\u001B';
/**
 * Escape sequences except the colours of `paint`, all other control characters, and characters that change the
 * direction of text.
 */
const COMMANDS = new RegExp(
  `(${ESCAPE}\\[(?:1|2|22|31|32|33|36|39)m)|[\\p{Cc}\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]`,
  'gu',
);

/** A text without characters that control the terminal or reorder the line; control characters in `kept` stay. */
export function printable(text: string, kept = '\n\t'): string {
  return text.replaceAll(COMMANDS, (found, colour?: string) => {
    if (colour !== undefined || kept.includes(found)) return found;
    return found === '\n' || found === '\t' ? ' ' : '';
  });
}

/** The visible length of a text: escape sequences have no width. */
export function shownLength(text: string): number {
  return stripVTControlCharacters(text).length;
}

/** Pads to a width with spaces, ignoring colours. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - shownLength(text)));
}

/** The output of a command: for people, and for programs. */
export interface Answer {
  /** Printed with `--json`, in snake_case like the API. */
  data: unknown;
  /** Printed without it. */
  text: string;
  /** The command worked, but its finding is a failure: exit code 1. */
  failed?: boolean;
}

/** One fact per line, `name value`; facts without a value are left out. */
export function facts(pairs: Readonly<Record<string, string | undefined>>): string {
  const known = Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const width = Math.max(...known.map(([name]) => name.length));
  return known.map(([name, value]) => `${paint.faint(name.padEnd(width))}  ${printable(value)}`).join('\n');
}

/** The columns of a table: a field of the row, or a function of the row. */
type Columns<R> = Readonly<Record<string, (keyof R & string) | ((row: R) => string)>>;

/** Columns as wide as their widest cell; without rows the text `none` is printed. */
export function table<R extends object>(rows: readonly R[], columns: Columns<R>, none = ''): string {
  if (rows.length === 0) return none;
  const cells = [
    Object.keys(columns).map(paint.faint),
    ...rows.map((row) =>
      Object.values(columns).map((cell) =>
        printable(typeof cell === 'function' ? cell(row) : cellText(row[cell] as Parameters<typeof cellText>[0]), ''),
      ),
    ),
  ];
  const widths = Object.keys(columns).map((_, index) => Math.max(...cells.map((row) => shownLength(row[index] ?? ''))));
  return cells
    .map((row) =>
      row
        .map((cell, index) => padded(cell, widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cellText(value: string | number | Date | readonly string[] | null): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '-');
}

/** Fields as the API writes them: their names in snake_case. */
export function snakeCased(fields: object): Record<string, unknown> {
  const name = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [name(field), value]));
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Bytes for people: `1.5 GiB`. */
export function byteText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** unit;
  return `${value >= 100 || unit === 0 ? Math.round(value) : Number(value.toFixed(1))} ${UNITS[unit]}`;
}

/** Time of day to the millisecond, in this machine's zone. */
export function clock(time: Date): string {
  return `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

/** The time between two: `+120 ms`, `+3.4 s`. WhatsApp's times are whole seconds, so it may be 0. */
export function clockAfter(from: string, to: string): string {
  const ms = Math.max(0, new Date(to).getTime() - new Date(from).getTime());
  return ms < 1_000 ? `+${ms} ms` : `+${(ms / 1_000).toFixed(1)} s`;
}

/** The beginning of foreign text on one line, without characters that control the terminal. */
export function oneLine(text: string, length = 48): string {
  const line = printable(stripVTControlCharacters(text).replaceAll(/[\s\p{Cc}]+/gu, ' ')).trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join('')}…`;
}
