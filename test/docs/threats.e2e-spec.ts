import { filesUnder, readProjectFile, ROOT } from '../support/project-files.js';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Rows of the table of threats: who, wants, is stopped by, checked in. */
const rows = readProjectFile('docs/security.md')
  .split('## Keys and scopes')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Who  ') && !line.startsWith('| ---'))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const tests = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, path]) => path ?? '');

/** Files with tests: one that is named, or those below a folder. */
function specsOf(path: string): string[] {
  if (!existsSync(join(ROOT, path))) return [];
  const files = statSync(join(ROOT, path)).isDirectory() ? filesUnder(path) : [path];
  return files.filter((file) => /\.(e2e-)?spec\.ts$/.test(file) && /\bit(\.each)?[(<`]/.test(readProjectFile(file)));
}

it('the table of threats is read', () => {
  expect(rows?.length).toBeGreaterThan(20);
});

it.each(rows ?? [])('%s%s: each test that is named exists', (_edge, _who, wants, stops, checked = '') => {
  expect([wants, stops].every((cell) => cell !== undefined && cell.length > 5)).toBe(true);
  const named = tests(checked);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => specsOf(path).length === 0)).toEqual([]);
});
