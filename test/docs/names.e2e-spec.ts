import { filesUnder, readProjectFile } from '../support/project-files.js';
import { proseOf } from './markdown.js';

/** The user documentation; decisions and the history also name things that are gone. */
const documents = filesUnder('.', (path) => path.endsWith('.md')).filter(
  (path) => !path.startsWith('docs/adr/') && path !== 'CHANGELOG.md',
);

interface Description {
  paths: Record<string, Record<string, unknown>>;
}

const descriptions = ['openapi.json', 'openapi-admin.json'].map(
  (file) => JSON.parse(readProjectFile(file)) as Description,
);
const paths = descriptions.flatMap((description) => Object.entries(description.paths));
const operations = paths.flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/^\/api\/(admin\/)?v1/, '')}`),
);
const settings = new Set(
  [...readProjectFile('.env.example').matchAll(/^#([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name),
);
const codes = new Set([...readProjectFile('docs/errors.md').matchAll(/^## ([A-Z_]+)$/gm)].map(([, name]) => name));

/** Others' vocabulary, such as the platform's states, is known where a source or a file of the deployment uses it. */
const sources = [
  ...filesUnder('src'),
  ...filesUnder('simulator'),
  ...filesUnder('scripts'),
  ...filesUnder('integrations'),
  ...filesUnder('deploy'),
  'compose.yaml',
]
  .map(readProjectFile)
  .join('\n');
/** Variables of the guides' own shell commands, and of other programs. */
const OTHERS = new Set([
  'OTP_LIVE',
  'PHONE_NUMBER_ID',
  'WEBHOOK_SECRET',
  'BENCH_PROFILE',
  'FUZZ_SCALE',
  'FUZZ_SEED',
  'FORCE_COLOR',
  // Of Meta's SDK, a client of the Cloud API.
  'WA_BASE_URL',
  'CLOUD_API_ACCESS_TOKEN',
]);

function wordsIn(pattern: RegExp): { where: string; word: string }[] {
  return documents.flatMap((document) =>
    proseOf(document).flatMap((line, index) =>
      [...line.matchAll(pattern)].map((match) => ({ where: `${document}:${index + 1}`, word: match[1] ?? '' })),
    ),
  );
}

it('settings and error codes that documents name exist', () => {
  const words = wordsIn(/`\$?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g);
  expect(words.length).toBeGreaterThan(20);
  const isKnown = (word: string): boolean =>
    settings.has(word.replace(/_FILE$/, '')) ||
    codes.has(word) ||
    OTHERS.has(word) ||
    new RegExp(`\\b${word}\\b`).test(sources);
  const unknown = words.filter(({ word }) => !isKnown(word));
  expect(unknown).toEqual([]);
});

it('operations that documents name exist', () => {
  // Herald's own beside the API; the simulator's calls are distinguished from these by their folder.
  const beside = /^(\/graph\/|\/_simulator|\/health\/|\/metrics|\/docs|\/openapi|\/mcp|\/platform\/|\/v\d+\.0\/)/;
  const named = wordsIn(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^`\s?]*)[^`]*`/g).filter(
    ({ where, word }) => !/^docs\/(appendix\/)?simulator/.test(where) && !beside.test(word.replace(/^[A-Z]+ /, '')),
  );
  expect(named.length).toBeGreaterThan(10);
  const shape = (operation: string): string =>
    operation.replace(/ (?:\/api\/(?:admin\/)?v1)?/, ' ').replaceAll(/\{[^}]*\}|<[^>]*>/g, '{}');
  const known = new Set(operations.map(shape));
  expect(named.filter(({ word }) => !known.has(shape(word)))).toEqual([]);
});
