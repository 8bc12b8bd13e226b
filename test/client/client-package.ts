import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/project-files.js';

const CLIENT = join(ROOT, 'clients/typescript');
/** What a project has beside the client to compile against. */
const BESIDE = ['openapi-fetch', 'openapi-typescript-helpers', 'standardwebhooks', '@types'];
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

/** Installs the client below `folder` as its package has it: built, with both kinds of module. */
export function installClient(folder: string): void {
  const modules = join(folder, 'node_modules');
  const installed = join(modules, '@herald/client');
  mkdirSync(installed, { recursive: true });
  for (const name of BESIDE) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  for (const [config, outDir] of [
    ['tsconfig.json', 'dist'],
    ['tsconfig.cjs.json', 'dist/cjs'],
  ] as const) {
    run(process.execPath, [TSC, '-p', join(CLIENT, config), '--outDir', join(installed, outDir)]);
  }
  copyFileSync(join(CLIENT, 'package.json'), join(installed, 'package.json'));
  copyFileSync(join(CLIENT, 'src/cjs/package.json'), join(installed, 'dist/cjs/package.json'));
}

/** What a strict project has that takes an element of a list for possibly undefined. */
const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', '--types', 'node'];

/** Checks files below `folder`, named `.mts` (ES modules) or `.cts` (CommonJS), as a strict project does. @throws what tsc said */
export function compile(folder: string, files: Readonly<Record<string, string>>): void {
  emit(folder, files, '--noEmit');
}

/** As `compile`, and writes them as JavaScript beside themselves. */
export function emit(folder: string, files: Readonly<Record<string, string>>, ...more: string[]): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const modules = ['--module', 'nodenext', '--target', 'es2023', '--esModuleInterop'];
  run(process.execPath, [TSC, ...STRICT, ...more, ...modules, ...Object.keys(files)], folder);
}

/** What the program printed. @throws what it said where it fails */
export function run(program: string, args: readonly string[], cwd = ROOT): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8', timeout: 300_000 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}
