/** Reading the file of a campaign: pure, so that it can be tested without a browser. */

/** Above this the browser would hold too much. */
export const MOST_LINES = 100_000;
export const MOST_BYTES = 30 * 1_024 * 1_024;
const DELIMITERS = [',', ';', '\t'] as const;

export interface Row {
  /** The line of the file on which it begins, from 1. */
  line: number;
  cells: string[];
}

export interface Table {
  /** Names of the columns: from the file's first line, or made up. */
  columns: string[];
  rows: Row[];
}

/** Text as programs for tables write it: UTF-8 with or without a mark, UTF-16 with one, or Windows-1252. */
export function textOf(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

/** How cells are separated: as `sep=` says, which Excel writes, else by what the first line has most of. */
function delimiterOf(text: string): string {
  const first = (text.match(/^(?:"(?:[^"]|"")*"|[^"\r\n])*/)?.[0] ?? '').replaceAll(/"(?:[^"]|"")*"/g, '');
  const counts = DELIMITERS.map((each) => first.split(each).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ',';
}

/** Rows that are not empty. Cells may be quoted, with line breaks and doubled quotes in them. */
function rowsOf(text: string, delimiter: string, firstLine: number): Row[] {
  const rows: Row[] = [];
  let cells: string[] = [];
  let cell = '';
  let [line, began, isQuoted] = [firstLine, firstLine, false];
  const endRow = (): void => {
    cells.push(cell.trim());
    if (cells.some((each) => each !== '')) rows.push({ line: began, cells });
    cells = [];
    cell = '';
  };
  for (let at = 0; at < text.length && rows.length <= MOST_LINES; at++) {
    const char = text.charAt(at);
    if (char === '\n') line++;
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text.charAt(at + 1) === '"') cell += text.charAt(++at);
      else isQuoted = false;
    } else if (char === '"' && cell.trim() === '') {
      cell = '';
      isQuoted = true;
    } else if (char === delimiter) {
      cells.push(cell.trim());
      cell = '';
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text.charAt(at + 1) === '\n') {
        at++;
        line++;
      }
      endRow();
      began = line;
    } else cell += char;
  }
  endRow();
  return rows;
}

/** @throws Error, in words for the person, where it is no table or too large. */
export function readTable(bytes: Uint8Array): Table {
  if (bytes.length > MOST_BYTES) throw new Error('The file is larger than 30 MB: split it.');
  let text = textOf(bytes).replace(/^\uFEFF/, '');
  if (text.includes('\0')) throw new Error('This is no CSV file. In Excel: Save as, CSV UTF-8.');
  const separator = /^sep=(.)\r?\n/i.exec(text);
  if (separator !== null) text = text.slice(separator[0].length);
  const rows = rowsOf(text, separator?.[1] ?? delimiterOf(text), separator === null ? 1 : 2);
  const [first] = rows;
  if (first === undefined) throw new Error('The file has no lines.');
  if (rows.length > MOST_LINES)
    throw new Error(`The file has more than ${MOST_LINES.toLocaleString()} lines: split it.`);
  const width = Math.max(...rows.slice(0, 100).map(({ cells }) => cells.length));
  const hasHeader = !first.cells.some((cell) => numberOf(cell) !== null);
  const names = hasHeader ? first.cells : [];
  const columns = Array.from({ length: width }, (_, at) => names[at] || `Column ${at + 1}`);
  return { columns, rows: hasHeader ? rows.slice(1) : rows };
}

/** A number with its country code, as digits with a plus; null where it is none. */
export function numberOf(text: string): string | null {
  // Excel writes ="+49…" and '+49… to keep a number as it is.
  const bare = text
    .trim()
    .replace(/^=?["']/, '')
    .replace(/"$/, '');
  const digits = bare.replaceAll(/\D/g, '').replace(/^00/, '');
  return /^[+\d\s()./-]+$/.test(bare) && /^[1-9]\d{7,15}$/.test(digits) ? `+${digits}` : null;
}

/** What is wrong with a number, and how to mend it. */
export function numberProblem(text: string): string {
  if (text.trim() === '') return 'there is no number';
  if (/^\d([.,]\d+)?E\+?\d+$/i.test(text.trim()))
    return 'Excel has shortened the number: make the column text, and fill it again';
  if (/^0[1-9]/.test(text.trim())) return 'the number has no country code: write +49151… in place of 0151…';
  return `“${text.slice(0, 40)}” is no whole number with a country code`;
}

const plain = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[^a-z0-9]/g, '');
const OF_RECIPIENTS =
  /^(to|phone|phonenumber|mobile|mobilephone|number|recipient|msisdn|whatsapp|tel|telefon|telefonnummer|handy|mobil|telephone|telefono|celular)$/;
const LOOKED_AT = 100;

/** The column of the numbers: by its name, else by what is in it; -1: none. */
export function recipientColumn({ columns, rows }: Table): number {
  const named = columns.findIndex((name) => OF_RECIPIENTS.test(plain(name)));
  if (named >= 0) return named;
  const some = rows.slice(0, LOOKED_AT);
  const counts = columns.map((_, at) => some.filter(({ cells }) => numberOf(cells[at] ?? '') !== null).length);
  const most = Math.max(...counts, 0);
  return most * 2 > some.length ? counts.indexOf(most) : -1;
}

/** For each variable the column that has its name; variables that only have numbers take the other columns in their order. */
export function matchColumns(
  columns: readonly string[],
  recipient: number,
  variables: readonly { name: string }[],
): number[] {
  const others = columns.map((_, at) => at).filter((at) => at !== recipient);
  const byName = variables.map(({ name }) => others.find((at) => plain(columns[at] ?? '') === plain(name)) ?? -1);
  const free = others.filter((at) => !byName.includes(at));
  return variables.map(({ name }, at) => {
    const found = byName[at] ?? -1;
    return found >= 0 || !/^\d+$/.test(name) ? found : (free.shift() ?? -1);
  });
}

export interface Line {
  /** In the file. */
  line: number;
  recipient: string;
  /** How many lines of the file, up to this one, are for this recipient. */
  nth: number;
  values: string[];
}

export interface LineProblem {
  line: number;
  text: string;
}

/** What each line sends, and what is wrong with the others. `variables`: of each its name and its column. */
export function linesOf(
  { rows }: Table,
  recipient: number,
  variables: readonly { name: string; column: number }[],
): { lines: Line[]; problems: LineProblem[]; repeated: number } {
  const lines: Line[] = [];
  const problems: LineProblem[] = [];
  const counts = new Map<string, number>();
  for (const { line, cells } of rows) {
    const number = numberOf(cells[recipient] ?? '');
    if (number === null) {
      problems.push({ line, text: numberProblem(cells[recipient] ?? '') });
      continue;
    }
    // Lines with a problem count: when they are mended the others keep their places.
    const nth = (counts.get(number) ?? 0) + 1;
    counts.set(number, nth);
    const values = variables.map(({ column }) => cells[column] ?? '');
    const empty = values.indexOf('');
    if (empty >= 0) problems.push({ line, text: `the value of ${variables[empty]?.name ?? ''} is empty` });
    else lines.push({ line, recipient: number, nth, values: values.map((value) => value.replaceAll(/\s+/g, ' ')) });
  }
  const repeated = [...counts.values()].filter((count) => count > 1).length;
  return { lines, problems, repeated };
}

const hex = (bytes: Uint8Array): string => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** UUID of version 5: the same for the same name, wherever it is made. */
export async function uuidV5(namespace: string, name: string): Promise<string> {
  const space = Uint8Array.from(namespace.replaceAll('-', '').match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  const data = new Uint8Array([...space, ...new TextEncoder().encode(name)]);
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-1', data)).slice(0, 16);
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50;
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const text = hex(hash);
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
}

/**
 * The key of a line's message: by workspace, tag, recipient and the how-manieth line of that recipient it is. So a file that is mended or
 * sorted anew, or dropped again after a reload, makes no second message.
 */
export function keyOfLine(workspaceId: string, tag: string, { recipient, nth }: Line): Promise<string> {
  return uuidV5(workspaceId, `${tag}\n${recipient.replace('+', '')}\n${nth}`);
}
