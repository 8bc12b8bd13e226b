import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { filesUnder, readProjectFile, ROOT } from '../support/project-files.js';
import { anchorsOf, proseOf, slugOf } from './markdown.js';

const documents = filesUnder('.', (path) => path.endsWith('.md'));
const FOLDERS = ['src', 'simulator', 'test', 'migrations', 'scripts', 'bench', 'docs', '.ci'];

/** Written by `npm run bench`, not kept. */
const MADE_LATER = 'bench/results/';

/** What a line of a document refers to, and where. */
interface Named {
  where: string;
  name: string;
}

function namedIn(document: string, pattern: RegExp, lines = proseOf(document)): Named[] {
  return lines.flatMap((line, index) =>
    [...line.matchAll(pattern)].map((match) => ({ where: `${document}:${index + 1}`, name: match[1] ?? '' })),
  );
}

const everywhere = (pattern: RegExp): Named[] => documents.flatMap((document) => namedIn(document, pattern));
const inBlocksToo = (pattern: RegExp): Named[] =>
  documents.flatMap((document) => namedIn(document, pattern, readProjectFile(document).split('\n')));

/** Those that are wrong, as one reads them in a failure. */
function wrong(named: Named[], isRight: (name: string, document: string) => boolean): string[] {
  return named
    .filter(({ name, where }) => !isRight(name, where.replace(/:\d+$/, '')))
    .map(({ name, where }) => `${where} ${name}`);
}

describe('slugs', () => {
  it.each([
    ['What it promises', 'what-it-promises'],
    ['`npm run bench`', 'npm-run-bench'],
    ['POST /messages: 202, 422', 'post-messages-202-422'],
    ['See [the guide](a.md)', 'see-the-guide'],
    ['SERVICE_WINDOW_CLOSED', 'service_window_closed'],
  ])('%s', (heading, slug) => {
    expect(slugOf(heading)).toBe(slug);
  });
});

describe('documents', () => {
  it('are found', () => {
    expect(documents).toEqual(expect.arrayContaining(['README.md', 'docs/errors.md']));
  });

  it('name only paths that exist', () => {
    const start = `(?:${FOLDERS.map((folder) => folder.replace('.', '\\.')).join('|')})`;
    const paths = everywhere(new RegExp(`\`(${start}/[^\`\\s]*)\``, 'g')).filter(
      ({ name }) => !/[<>*{}]|\.\.\./.test(name) && !name.startsWith(MADE_LATER),
    );
    expect(wrong(paths, (path) => existsSync(join(ROOT, path.replace(/:\d+$/, ''))))).toEqual([]);
  });

  it('link only to files and pictures that exist', () => {
    const links = [...everywhere(/\]\(([^)\s]+)\)/g), ...everywhere(/(?:src|srcset|href)="([^"]+)"/g)]
      .map(({ name, where }) => ({ where, name: name.replace(/#.*$/, '') }))
      .filter(({ name }) => name !== '' && !/^[a-z]+:/i.test(name));
    expect(links.length).toBeGreaterThan(10);
    expect(wrong(links, (target, document) => existsSync(join(ROOT, dirname(document), target)))).toEqual([]);
  });

  it('link only to headings that exist', () => {
    const links = everywhere(/\]\(([^)\s]*#[^)\s]+)\)/g).filter(({ name }) => !/^[a-z]+:/i.test(name));
    const isThere = (link: string, document: string): boolean => {
      const [file = '', anchor = ''] = link.split('#');
      const target = file === '' ? document : normalize(join(dirname(document), file));
      return existsSync(join(ROOT, target)) && anchorsOf(target).has(anchor);
    };
    expect(wrong(links, isThere)).toEqual([]);
  });

  it('name only npm scripts that exist', () => {
    const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: Record<string, string> };
    const named = inBlocksToo(/npm run (?:-s |--silent )?([\w:-]+)/g);
    expect(wrong(named, (name) => scripts[name] !== undefined)).toEqual([]);
  });
});
