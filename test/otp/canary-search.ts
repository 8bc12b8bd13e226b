import { jest } from '@jest/globals';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '../../src/infrastructure/database/database.js';

/** Something that was written, and where. */
export interface Written {
  place: string;
  text: string;
  /** Also searched for the bytes themselves. */
  bytes?: Buffer;
}

/** Notes all that this process writes from now on; lines of the log are not shown. */
export function noteLogs(logs: Written[]): void {
  for (const stream of [process.stderr, process.stdout]) {
    const write = stream.write.bind(stream);
    jest.spyOn(stream, 'write').mockImplementation((chunk, ...rest) => {
      logs.push({ place: 'logs', text: String(chunk) });
      return String(chunk).startsWith('{"level"') ? true : write(chunk, ...(rest as []));
    });
  }
}

// Six digits are in many a fraction of a second and in many an id; none of these is a code.
const TIMES = /\d{1,2}:\d{2}:\d{2}\.\d+/g;
const IDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
const HEX = /\\+x([0-9a-f]{2,})/g;
const STANDING_ALONE = /(?<![0-9A-Za-z])[0-9]{6}(?![0-9A-Za-z])/g;

/** The codes that stand anywhere as a number of their own, with the places. */
export function codesIn(written: readonly Written[], codes: ReadonlySet<string>): Map<string, string> {
  const found = new Map<string, string>();
  const look = (place: string, text: string): void => {
    for (const [digits] of text.replaceAll(TIMES, '').replaceAll(IDS, '').matchAll(STANDING_ALONE)) {
      if (codes.has(digits)) found.set(digits, place);
    }
  };
  for (const { place, text, bytes } of written) {
    look(place, text);
    if (bytes !== undefined) look(`${place} as bytes`, bytes.toString('latin1'));
    // A column of bytes is dumped as hexadecimal digits: look at what they stand for.
    for (const [, hex] of text.matchAll(HEX))
      look(`${place} as bytes`, Buffer.from(hex ?? '', 'hex').toString('latin1'));
  }
  return found;
}

/** The places in which a long secret stands, plainly or as the bytes of a column. */
export function placesOf(secret: string, written: readonly Written[]): string[] {
  const hex = Buffer.from(secret).toString('hex');
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1);
  return written
    .filter(
      ({ text, bytes }) =>
        [secret, hex, base64].some((form) => text.includes(form)) || bytes?.includes(secret) === true,
    )
    .map(({ place }) => place);
}

/** Every row of every table, the queue's schema too. */
export async function dumpDatabase(database: Database): Promise<Written[]> {
  const tables = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')
       and not (select relispartition from pg_class where oid = format('%I.%I', schemaname, tablename)::regclass) order by 1`,
  );
  const dumped: Written[] = [];
  for (const { name } of tables) {
    const rows = await database.query<{ row: string }>(`select to_jsonb(t)::text as row from ${name} as t`);
    dumped.push(...rows.map(({ row }) => ({ place: name, text: row })));
  }
  return dumped;
}

/** Every file below a folder but in `without`. */
export function readFiles(folder: string, without: readonly string[] = []): Written[] {
  return readdirSync(folder).flatMap((name): Written[] => {
    const path = join(folder, name);
    if (without.includes(path)) return [];
    if (statSync(path).isDirectory()) return readFiles(path, without);
    const bytes = readFileSync(path);
    return [{ place: path, text: bytes.toString('utf8'), bytes }];
  });
}
