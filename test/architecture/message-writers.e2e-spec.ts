import { filesUnder, readProjectFile } from '../support/project-files.js';

const WRITES = /\b(?:insert into|update|delete from) (?:message|message_state|message_attempt|message_queue)\s/i;
/** A line of the table in docs/how-it-works.md: `NAME`, `OTHER` in file.ts */
const NAMED = /((?:`\w+`(?:, )?)+) in ([\w.-]+\.ts)/g;

it('all statements that write the rows of messages are in the table of how-it-works.md', () => {
  const page = readProjectFile('docs/how-it-works.md');
  const table = page.slice(
    page.indexOf('Statements that write `message`'),
    page.indexOf('What else these files import'),
  );
  const named = new Map(
    [...table.matchAll(NAMED)].map(([, names, file]) => [file as string, [...`${names}`.matchAll(/\w+/g)].map(String)]),
  );
  const writers = filesUnder('src')
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.spec.ts'))
    .map((path) => ({ file: path.split('/').at(-1) as string, source: readProjectFile(path) }))
    .filter(({ source }) => WRITES.test(source));
  expect([...named.keys()].sort()).toEqual(writers.map(({ file }) => file).sort());
  for (const { file, source } of writers) {
    for (const name of named.get(file) ?? []) expect(source).toMatch(new RegExp(`const ${name}\\b`));
  }
  // Each that is added makes the path of a message harder to check.
  expect([...named.values()].flat().length).toBeLessThanOrEqual(15);
});
