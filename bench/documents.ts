import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { figuresTable, type Recorded } from './figures-table.js';
import { pictureOf } from './picture.js';
import { ROOT } from '../test/support/rig/paths.js';

const DOCUMENT = 'docs/appendix/bench.md';
const PICTURE = 'docs/pictures/performance.svg';
/** Between these lines of a page stands what a run found. */
interface Marks {
  begin: string;
  end: string;
}

const FIGURES: Marks = { begin: '<!-- figures: written by npm run bench -->', end: '<!-- end of figures -->' };

/** Puts a table between its marks. @throws Error where the page has lost them */
export function withTable(page: string, { begin, end }: Marks, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`the page has no place for its table: ${begin} ... ${end}`);
  return `${page.slice(0, from)}${begin}\n\n${table}\n\n${page.slice(to)}`;
}

/** The same in a file, formatted as `npm run format` does. */
export async function writeTable(path: string, marks: Marks, table: string): Promise<void> {
  const file = join(ROOT, path);
  const page = withTable(readFileSync(file, 'utf8'), marks, table);
  writeFileSync(file, await format(page, { ...(await resolveConfig(file)), parser: 'markdown' }));
}

/** Writes the table of docs/appendix/bench.md and its picture; returns their paths from the root. */
export async function writeDocuments(findings: readonly Recorded[]): Promise<string[]> {
  await writeTable(DOCUMENT, FIGURES, figuresTable(findings));
  const [first] = findings;
  const caption = `${first?.machine ?? ''}; ${first?.measured_at.slice(0, 10) ?? ''}, commit ${first?.commit ?? ''}. Longer is better, left of the line is missed.`;
  mkdirSync(dirname(join(ROOT, PICTURE)), { recursive: true });
  writeFileSync(join(ROOT, PICTURE), pictureOf(findings, caption));
  return [DOCUMENT, PICTURE];
}

/** The findings of the last run of all claims. @throws Error where there was none */
export function lastRun(): Recorded[] {
  return JSON.parse(readFileSync(join(ROOT, 'bench/results/latest.json'), 'utf8')) as Recorded[];
}
