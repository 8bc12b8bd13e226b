// Packs the TypeScript client as npm installs it, into dist/downloads: Herald serves it as /client.tgz. The build calls it.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CLIENT = join(ROOT, 'clients/typescript');
const STAGE = join(ROOT, 'dist/.client');
const DOWNLOADS = join(ROOT, 'dist/downloads');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
// Both kinds of module, each with its types.
const MODULES = [
  ['tsconfig.json', 'dist'],
  ['tsconfig.cjs.json', 'dist/cjs'],
];

/** What the program printed. @throws Error with its output where it fails */
function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`the client could not be packed: ${[command, ...args].join(' ')}:\n${output}`));
    });
  });
}

/** npm under which this runs, else the one of the PATH. */
function npm(args) {
  const own = process.env.npm_execpath;
  if (own?.endsWith('.js')) return run(process.execPath, [own, ...args]);
  return run('npm', args, { shell: process.platform === 'win32' });
}

/** The client's dependencies with theirs, by name: the package contains them, so that no registry is needed to install it. */
function dependenciesOf(manifest) {
  const names = new Set(Object.keys(manifest.dependencies));
  for (const name of names) {
    const path = join(ROOT, 'node_modules', name, 'package.json');
    for (const further of Object.keys(JSON.parse(readFileSync(path, 'utf8')).dependencies ?? {})) names.add(further);
  }
  return [...names].sort();
}

/**
 * Writes dist/downloads/client.tgz; the same sources and packages give the same bytes.
 *
 * @returns what the compiler finds wrong, null where that is nothing; it still emits, for the types of a new operation
 *   come with `npm run generate`, which builds first.
 */
export async function packClient() {
  rmSync(STAGE, { recursive: true, force: true });
  mkdirSync(DOWNLOADS, { recursive: true });
  const compiled = await Promise.allSettled(
    MODULES.map(([config, outDir]) =>
      run(process.execPath, [TSC, '-p', join(CLIENT, config), '--outDir', join(STAGE, outDir)]),
    ),
  );
  cpSync(join(CLIENT, 'src/cjs/package.json'), join(STAGE, 'dist/cjs/package.json'));
  cpSync(join(CLIENT, 'README.md'), join(STAGE, 'README.md'));
  const { scripts: _, private: _private, ...manifest } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const bundled = dependenciesOf(manifest);
  for (const name of bundled)
    cpSync(join(ROOT, 'node_modules', name), join(STAGE, 'node_modules', name), { recursive: true });
  const packed = { ...manifest, version, bundleDependencies: bundled };
  writeFileSync(join(STAGE, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
  const [{ filename }] = JSON.parse(
    await npm(['pack', STAGE, '--pack-destination', DOWNLOADS, '--json', '--ignore-scripts', '--loglevel=error']),
  );
  renameSync(join(DOWNLOADS, filename.replace('@', '').replace('/', '-')), join(DOWNLOADS, 'client.tgz'));
  rmSync(STAGE, { recursive: true });
  return compiled.find(({ status }) => status === 'rejected')?.reason ?? null;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const wrong = await packClient();
  if (wrong !== null) throw wrong;
}
