import { filesUnder, readProjectFile } from '../support/project-files.js';
import { blocksOf } from './markdown.js';

/*
 * Pages show parts of the programs in docs/examples; other tests run the programs. A part is marked
 * `<!-- from: docs/examples/... -->` and stands in the file as the page shows it, further indented or not.
 */

const unindented = (text: string): string => text.replaceAll(/^[ \t]+/gm, '').trim();

const excerpts = filesUnder('docs', (path) => path.endsWith('.md')).flatMap((page) =>
  blocksOf(page).flatMap((block) =>
    block.marks
      .filter(({ name }) => name === 'from')
      .map(({ value }) => [`${page}:${block.line}`, value, block.text] as const),
  ),
);

it('pages show parts of programs', () => {
  expect(new Set(excerpts.map(([, program]) => program)).size).toBeGreaterThan(2);
});

it.each(excerpts)('%s shows %s as the file is', (_where, program, text) => {
  expect(unindented(readProjectFile(program))).toContain(unindented(text));
});
