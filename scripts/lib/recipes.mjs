import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The blocks of a recipe that are to be carried out, in order: `sh` lines, `diff` of files (`--- path`, hunks parted by `@@`),
 * `ts path` as new files. Other blocks are only to be read.
 */
export function blocksOf(markdown) {
  const blocks = [];
  for (const [, info, content] of markdown.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)) {
    const [kind, path] = info.trim().split(/\s+/);
    if (kind === 'sh') blocks.push({ kind, lines: content.trim().split('\n') });
    else if (kind === 'ts' && path !== undefined) blocks.push({ kind, path, content });
    else if (kind === 'diff') blocks.push({ kind, ...diffOf(content) });
  }
  return blocks;
}

function diffOf(content) {
  const [head, ...lines] = content.split('\n');
  const path = /^--- (\S+)$/.exec(head)?.[1];
  if (path === undefined) throw new Error(`a diff block begins with "--- path", not with ${head}`);
  const hunks = lines.join('\n').replace(/\n$/, '').split(/^@@\n/m).map(hunkOf);
  return { path, hunks };
}

function hunkOf(text) {
  const lines = text.replace(/\n$/, '').split('\n');
  const side = (mark) =>
    lines
      .filter((line) => line === '' || line.startsWith(' ') || line.startsWith(mark))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  return { before: side('-'), after: side('+') };
}

/** Changes a file as a diff block says; what it names must be there exactly once. */
export function applyDiff(root, { path, hunks }) {
  const file = join(root, found(root, path));
  let content = readFileSync(file, 'utf8');
  for (const { before, after } of hunks) {
    const places = content.split(before).length - 1;
    if (places !== 1) throw new Error(`${path}: this stands there ${places} times, not once:\n${before}`);
    content = content.replace(before, () => after);
  }
  writeFileSync(file, content);
}

/** A name with `*` stands for the one file that it fits, such as a migration's. */
function found(root, path) {
  if (!path.includes('*')) return path;
  const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
  const [start, end] = name.split('*');
  const fits = readdirSync(join(root, folder)).filter((each) => each.startsWith(start) && each.endsWith(end));
  if (fits.length !== 1) throw new Error(`${path} fits ${fits.length} files, not one`);
  return `${folder}/${fits[0]}`;
}
