import { heraldVersion } from '../../src/common/version.js';
import { readProjectFile } from '../support/project-files.js';

/** Where a release's version is written down, and how often. */
const PLACES: readonly (readonly [path: string, pattern: RegExp, times: number])[] = [
  ['package-lock.json', /"name": "herald",\s+"version": "([^"]*)"/g, 2],
  ['simulator/package.json', /"version": "([^"]*)"/g, 1],
  ['clients/typescript/package.json', /"version": "([^"]*)"/g, 1],
  ['clients/python/pyproject.toml', /^version = "([^"]*)"/gm, 1],
  ['integrations/chatwoot/package.json', /"version": "([^"]*)"/g, 1],
  ['integrations/n8n/package.json', /"version": "([^"]*)"/g, 1],
  ['deploy/helm/herald/Chart.yaml', /^(?:version|appVersion): '?([\d.]+)'?$/gm, 2],
  ['clients/typescript/README.md', /herald-client-([\d.]+)\.tgz/g, 1],
  ['clients/python/README.md', /herald_whatsapp-([\d.]+)-py3/g, 1],
  ['integrations/n8n/README.md', /n8n-nodes-herald-([\d.]+)\.tgz/g, 1],
  ['docs/chatwoot.md', /herald-chatwoot-([\d.]+)\.tgz/g, 1],
];

it('all parts of a release have its version', () => {
  const found = PLACES.map(([path, pattern]) => [
    path,
    [...readProjectFile(path).matchAll(pattern)].map((match) => match[1]),
  ]);
  const expected = PLACES.map(([path, , times]) => [path, Array.from({ length: times }, () => heraldVersion())]);
  expect(found).toEqual(expected);
  expect(readProjectFile('CHANGELOG.md')).toContain(`\n## [${heraldVersion()}] - `);
});
