import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { figuresTable, withFigures, type Recorded } from './figures-table.js';
import { pictureOf } from './picture.js';
import { ROOT } from './rig/paths.js';

const DOCUMENT = 'docs/performance.md';
const PICTURE = 'docs/pictures/performance.svg';

/** Writes the table of docs/performance.md and its picture; returns their paths from the root. */
export async function writeDocuments(findings: readonly Recorded[]): Promise<string[]> {
  const path = join(ROOT, DOCUMENT);
  const document = withFigures(readFileSync(path, 'utf8'), figuresTable(findings));
  writeFileSync(path, await format(document, { ...(await resolveConfig(path)), parser: 'markdown' }));
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
