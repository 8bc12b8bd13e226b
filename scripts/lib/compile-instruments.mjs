// Compiles bench/, test/faults/, test/alerts/ and test/support/ into dist/, beside the application that they measure. Types are checked by
// `npm run typecheck`; here only the syntax is stripped, which takes a tenth of a second.
import { transformFile } from '@swc/core';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './root.mjs';

const FOLDERS = ['bench', 'test/faults', 'test/alerts', 'test/support'];

export async function compileInstruments() {
  for (const folder of FOLDERS) rmSync(join(ROOT, 'dist', folder), { recursive: true, force: true });
  await Promise.all(FOLDERS.flatMap(sourcesIn).map(compile));
}

function sourcesIn(folder) {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sourcesIn(path);
    return path.endsWith('.ts') && !path.endsWith('.spec.ts') ? [path] : [];
  });
}

async function compile(path) {
  const { code } = await transformFile(join(ROOT, path), { cwd: ROOT, sourceMaps: 'inline' });
  const target = join(ROOT, 'dist', path.replace(/\.ts$/, '.js'));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, code);
}
