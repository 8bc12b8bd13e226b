import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder, probeFolder } from './folders.js';

let root: string;
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'herald-folders-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('makes every folder that is missing, and is content where they are there', () => {
  const folder = join(root, 'a/b/c');
  makeFolder(folder, 0o700);
  makeFolder(folder, 0o700);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it('leaves nothing of its probe', () => {
  probeFolder(join(root, 'a'));
  expect(readdirSync(join(root, 'a'))).toEqual([]);
});

it.each([
  ['/proc/nowhere/deep', 'ENOENT'],
  ['a-file/deep', 'ENOTDIR'],
])('says why %s cannot be written', (folder, code) => {
  writeFileSync(join(root, 'a-file'), '');
  expect(() => probeFolder(folder.startsWith('/') ? folder : join(root, folder))).toThrow(
    expect.objectContaining({ code }),
  );
});
