import { readProjectFile } from '../support/project-files.js';

/** A fenced block, with the HTML comments that stand directly above it. */
export interface Block {
  document: string;
  line: number;
  language: string;
  text: string;
  /** `<!-- name: value -->`, in their order. */
  marks: Mark[];
}

export interface Mark {
  name: string;
  value: string;
}

const FENCE = /^(`{3,}|~{3,})(\S*)/;
const MARK = /^<!-- ([a-z ]+?)(?:: (.*?))? -->$/;

/** All fenced blocks of a document, in order. */
export function blocksOf(document: string): Block[] {
  const blocks: Block[] = [];
  let marks: Mark[] = [];
  let open: { fence: string; block: Block } | null = null;
  for (const [index, line] of readProjectFile(document).split('\n').entries()) {
    if (open !== null) {
      if (line.startsWith(open.fence)) {
        blocks.push(open.block);
        open = null;
      } else open.block.text += `${line}\n`;
      continue;
    }
    const [, fence, language] = FENCE.exec(line) ?? [];
    const [, name, value] = MARK.exec(line) ?? [];
    if (fence !== undefined) {
      open = { fence, block: { document, line: index + 1, language: language ?? '', text: '', marks } };
      marks = [];
    } else if (name !== undefined) marks.push({ name, value: value ?? '' });
    else if (line.trim() !== '') marks = [];
  }
  return blocks;
}

/** The document without its fenced blocks: what is prose, headings and links. Lines stay where they are. */
export function proseOf(document: string): string[] {
  let fence: string | null = null;
  return readProjectFile(document)
    .split('\n')
    .map((line) => {
      if (fence !== null) {
        if (line.startsWith(fence)) fence = null;
        return '';
      }
      fence = FENCE.exec(line)?.[1] ?? null;
      return fence === null ? line : '';
    });
}

/** Anchors that GitHub gives a document: its headings' slugs, a number added to repeats, and ids written as HTML. */
export function anchorsOf(document: string): Set<string> {
  const anchors = new Set<string>();
  const prose = proseOf(document);
  for (const line of prose) {
    const heading = /^#{1,6} (.*?)#*$/.exec(line)?.[1];
    if (heading !== undefined) {
      const slug = slugOf(heading);
      let free = slug;
      for (let count = 1; anchors.has(free); count++) free = `${slug}-${count}`;
      anchors.add(free);
    }
    for (const [, id] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id ?? '');
  }
  return anchors;
}

/** As GitHub does it: what is shown of the heading, in lower case, without punctuation, blanks as hyphens. */
export function slugOf(heading: string): string {
  return heading
    .trim()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
}
