import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { filesUnder, readProjectFile, ROOT } from '../support/project-files.js';

const documents = filesUnder('.', (path) => path.endsWith('.md'));
const FOLDERS = ['src', 'test', 'migrations', 'scripts', 'bench', 'docs', '.ci'];

/** Written by `npm run bench`, not kept. */
const MADE_LATER = 'bench/results/';

/** Paths that a document names in backticks, such as `src/main.ts`; those with a placeholder are not meant literally. */
function namedPaths(text: string): string[] {
  const start = `(?:${FOLDERS.map((folder) => folder.replace('.', '\\.')).join('|')})`;
  const pattern = new RegExp(`\`(${start}/[^\`\\s]*)\``, 'g');
  return [...text.matchAll(pattern)].map((match) => match[1] ?? '').filter((path) => !/[<>*{}]|\.\.\./.test(path));
}

/** Targets of links to files of the project. */
function linkedPaths(text: string): string[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => (match[1] ?? '').replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:|^\//i.test(target));
}

describe('documents', () => {
  it('are found', () => {
    expect(documents).toContain('docs/errors.md');
  });

  it('name only paths that exist', () => {
    const missing = documents.flatMap((document) =>
      namedPaths(readProjectFile(document))
        .filter((path) => !path.startsWith(MADE_LATER) && !existsSync(join(ROOT, path.replace(/:\d+$/, ''))))
        .map((path) => `${document}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('link only to files that exist', () => {
    const missing = documents.flatMap((document) =>
      linkedPaths(readProjectFile(document))
        .filter((target) => !existsSync(join(ROOT, dirname(document), target)))
        .map((target) => `${document}: ${target}`),
    );
    expect(missing).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };
    const missing = documents.flatMap((document) =>
      [...readProjectFile(document).matchAll(/npm run (?:--silent )?([\w:-]+)/g)]
        .filter((match) => scripts[match[1] ?? ''] === undefined)
        .map((match) => `${document}: ${match[0]}`),
    );
    expect(missing).toEqual([]);
  });
});
