// The table in docs/appendix/what-ran-where.md of what was run where, and what else a run of CI says at its end. Parts of CI add lines to the
// file that RAN_FILE names, as JSON; `.ci/run` writes the table and prints the rest, which is about one run only:
//   node scripts/ran.mjs add ENVIRONMENT VERSION WHAT     from a shell; scripts call `ran()`
//   node scripts/ran.mjs write [PAGE]                     rewrites the table of the page
//   node scripts/ran.mjs slowest                          the test files that took longest
//   node scripts/ran.mjs flaky                            tests that failed first and passed when their file ran again
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './lib/root.mjs';
import { flakyLine, slowLine } from './lib/test-results.mjs';

const PAGE = join(ROOT, 'docs/appendix/what-ran-where.md');
const BEGIN = '<!-- what ran where: written by .ci/run -->';
const END = '<!-- end of what ran where -->';
/** Rows come in this order; others follow by their names. */
const ORDER = ['Node.js', 'PostgreSQL', 'Redis', 'PgBouncer', 'S3', 'Published clients', 'Image', 'Helm'];

const SHOWN_SLOWEST = 10;

/** Notes that something ran, where CI asks for it. Lines of one environment and version become one row. */
export function ran(environment, version, what) {
  note({ environment, version, what });
}

/** A line for CI: `{ environment, version, what }`, `{ flaky: { file, test, message } }` or `{ slow: { file, seconds, part } }`. */
export function note(line) {
  const file = process.env.RAN_FILE;
  if (file) appendFileSync(file, `${JSON.stringify(line)}\n`);
}

const notes = () => readFileSync(process.env.RAN_FILE, 'utf8').split('\n').filter(Boolean).map(JSON.parse);

function print(lines) {
  for (const line of lines) process.stdout.write(`${line}\n`);
}

function slowest() {
  const files = notes().flatMap(({ slow }) => slow ?? []);
  return files
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, SHOWN_SLOWEST)
    .map(slowLine);
}

/** The page with a table of these lines between its markers. */
function withTable(page, lines) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin === -1 || end < begin) throw new Error(`the page has no place for the table, from ${BEGIN} to ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${tableOf(lines)}\n\n${page.slice(end)}`;
}

function tableOf(lines) {
  const rows = new Map();
  for (const { environment, version, what } of lines) {
    const name = `${environment}\n${version}`;
    if (!rows.has(name)) rows.set(name, { environment, version, parts: new Set() });
    rows.get(name).parts.add(what);
  }
  const place = ({ environment }) => (ORDER.includes(environment) ? ORDER.indexOf(environment) : ORDER.length);
  const sorted = [...rows.values()].sort(
    (a, b) =>
      place(a) - place(b) ||
      a.environment.localeCompare(b.environment) ||
      a.version.localeCompare(b.version, 'en', { numeric: true }),
  );
  const cells = sorted.map(({ environment, version, parts }) => [environment, version, [...parts].join('; ')]);
  return [['Where', 'Version', 'What ran'], ['---', '---', '---'], ...cells]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

async function write(path) {
  const lines = notes().filter(({ environment }) => environment !== undefined);
  if (lines.length === 0) throw new Error('nothing was noted, so there is no table to write');
  const { format, resolveConfig } = await import('prettier');
  const page = withTable(readFileSync(path, 'utf8'), lines);
  writeFileSync(path, await format(page, { ...(await resolveConfig(PAGE)), filepath: path }));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [command, ...args] = process.argv.slice(2);
  if (!process.env.RAN_FILE) throw new Error('RAN_FILE names the file of the lines; it is not set');
  if (command === 'add' && args.length === 3) ran(...args);
  else if (command === 'write' && args.length <= 1) await write(args[0] ?? PAGE);
  else if (command === 'slowest') print(slowest());
  else if (command === 'flaky') print(notes().flatMap(({ flaky }) => (flaky ? [flakyLine(flaky)] : [])));
  else throw new Error('use: node scripts/ran.mjs add ENVIRONMENT VERSION WHAT, write, slowest or flaky');
}
