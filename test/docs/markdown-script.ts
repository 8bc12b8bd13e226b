import { blocksOf, type Block } from './markdown.js';

/** How often a block that waits for something is run again, and how long it sleeps in between. */
const TRIES = 200;
const PAUSE_SECONDS = 0.25;

/** A block that is run, with what its marks promise. */
export interface Step {
  where: string;
  text: string;
  /** Words that its output must hold. */
  prints: string[];
  /** As `prints`; the block is run again until they are there. */
  until: string[];
  /** Words that a program it leaves behind must print before the next block, as a reader would wait for them. */
  later: string[];
  /** What the block below it, marked `<!-- output -->`, shows of its output. */
  shown: string | null;
}

/** What the marks above a block may say; anything else is a mistake in the document. */
const MARKS = new Set(['not run', 'prints', 'until', 'prints later']);
/** Marks a block that shows the output of the one before. */
const OUTPUT = 'output';

/**
 * The `sh` blocks of a document that are run, in order.
 *
 * @throws Error where a mark is unknown or says nothing, as one that leaves a block out without a reason
 */
export function stepsOf(document: string): Step[] {
  const steps: Step[] = [];
  for (const block of blocksOf(document)) {
    const step = stepOf(block);
    if (step !== null) steps.push(step);
    const last = steps.at(-1);
    if (last !== undefined && block.marks.some(({ name }) => name === OUTPUT)) last.shown = block.text;
  }
  return steps;
}

function stepOf(block: Block): Step | null {
  if (block.language !== 'sh') return null;
  const where = `${block.document}:${block.line}`;
  for (const { name, value } of block.marks) {
    if (!MARKS.has(name)) throw new Error(`${where}: the mark "${name}" is none of ${[...MARKS].join(', ')}`);
    if (value.trim() === '') throw new Error(`${where}: the mark "${name}" says nothing`);
  }
  const valuesOf = (wanted: string): string[] =>
    block.marks.filter(({ name }) => name === wanted).map(({ value }) => value);
  if (valuesOf('not run').length > 0) return null;
  const [prints, until, later] = [valuesOf('prints'), valuesOf('until'), valuesOf('prints later')];
  return { where, text: block.text, prints, until, later, shown: null };
}

/**
 * One script of all steps, each in the same shell and with its output in a file `<number>.out` of `folder`. It stops at
 * the first command that fails, as a reader would; the files contain the output so far.
 */
export function scriptOf(steps: readonly Step[], folder: string): string {
  const parts = steps.map((step, index) => {
    const out = `${folder}/${index}.out`;
    const block = `{\n${step.text}}`;
    const once = `${block} > ${out} 2>&1`;
    if (step.until.length === 0) return [once, ...waitUntil(step.later, out)].join('\n');
    return waitUntil(step.until, out, `${once}; `).join('\n');
  });
  return ['set -e', ...parts, `: > ${folder}/end`, ''].join('\n');
}

/** Looks, after `work` each time, until the words are in the file. */
function waitUntil(words: readonly string[], file: string, work = ''): string[] {
  if (words.length === 0) return [];
  const there = words.map((each) => `grep -qF -- ${quoted(each)} ${file}`).join(' && ');
  return [
    'tries=0',
    `until { ${work}${there}; }; do`,
    `  tries=$((tries + 1)); [ "$tries" -lt ${TRIES} ]; sleep ${PAUSE_SECONDS}`,
    'done',
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** Ids and times differ from run to run; white space is the printer's. */
function plain(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
    .replaceAll(/\b\d\d:\d\d:\d\d(\.\d+)?\b/g, '<clock>')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Which part of what a document shows is not in the real output, in this order; null where all is. `…` is anything. */
export function missingFrom(output: string, shown: string): string | null {
  const real = plain(output);
  let from = 0;
  for (const part of shown.split('…').map(plain)) {
    const at = real.indexOf(part, from);
    if (at < 0) return part;
    from = at + part.length;
  }
  return null;
}
