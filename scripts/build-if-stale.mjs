// Builds dist/ when a source is newer than the last build. Type errors are a warning, with --strict a failure.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { obstacleTo } from './lib/preflight.mjs';
import { ROOT } from './lib/root.mjs';
import { packClient } from './pack-client.mjs';

const DIST = join(ROOT, 'dist');
const LOCK = join(DIST, '.build-lock');
const MAIN = 'src/main.js';
const SERVICE = ['src', 'simulator/src', 'migrations', 'clients/typescript/src'];
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];
// A build takes seconds; a lock older than this was left behind.
const LOCK_TIMEOUT_MS = 180_000;

/** What is built, of which folders, a file that is there afterwards, and how: `work` returns whether the types are wrong. */
const PARTS = [
  { name: 'service', folders: SERVICE, made: MAIN, work: compile },
  { name: 'console', folders: ['console'], made: 'setup/index.html', work: bundlePages },
  {
    name: 'client',
    folders: ['clients/typescript'],
    made: 'downloads/client.tgz',
    work: async () => (await packClient()) !== null,
  },
];

/**
 * Makes dist/ match the sources, and says in one line what was done; quick where nothing is to do. Concurrent callers wait
 * for one another.
 *
 * @returns {Promise<{failed: boolean}>} the compiler found type errors (it still emits).
 */
export async function buildIfStale() {
  const hasCompiler = existsSync(join(ROOT, 'node_modules/@nestjs/cli'));
  // An installation without development packages runs what was built elsewhere.
  const isProduction =
    !hasCompiler && [join(DIST, MAIN), join(ROOT, 'node_modules/@nestjs/core')].every((path) => existsSync(path));
  const obstacle = obstacleTo(process.versions.node, hasCompiler || isProduction);
  if (obstacle !== null) {
    process.stderr.write(`${obstacle}\n`);
    process.exit(1);
  }
  if (isProduction) return { failed: false };
  if (PARTS.some(isStale)) await build();
  const failed = PARTS.some((part) => readStamp(part)?.failed);
  if (failed) process.stderr.write('dist/ was built in spite of type errors: `npm run typecheck` lists them\n');
  return { failed };
}

async function build() {
  const startedAt = performance.now();
  if (!existsSync(DIST)) process.stderr.write('building dist/ for the first time: about half a minute ...\n');
  mkdirSync(DIST, { recursive: true });
  await takeLock();
  try {
    const stale = PARTS.filter(isStale);
    if (stale.length === 0) return;
    // At once: a compiler uses one processor.
    await Promise.all(stale.map(buildPart));
    process.stderr.write(`built dist/ in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  } finally {
    rmSync(LOCK, { force: true });
  }
}

async function buildPart(part) {
  const startedAt = new Date();
  const list = listHash(sourcesOf(part));
  const failed = await part.work(part);
  writeFileSync(stampOf(part), JSON.stringify({ list, failed }));
  // What changes while it is built is newer than the stamp, and so built next time.
  utimesSync(stampOf(part), startedAt, startedAt);
}

const stampOf = ({ name }) => join(DIST, `.${name}-stamp`);

function readStamp(part) {
  try {
    return { ...JSON.parse(readFileSync(stampOf(part), 'utf8')), at: statSync(stampOf(part)).mtimeMs };
  } catch {
    return null;
  }
}

function isStale(part) {
  const stamp = readStamp(part);
  if (stamp === null || !existsSync(join(DIST, part.made)) || settingsChangedSince(stamp.at)) return true;
  const paths = sourcesOf(part);
  // A file that is moved here keeps its time, and one that is removed has none.
  return stamp.list !== listHash(paths) || paths.some((path) => changedAt(path) > stamp.at);
}

const changedAt = (path) => statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const settingsChangedSince = (time) => SETTINGS.some((name) => changedAt(name) > time);
const listHash = (paths) => createHash('sha1').update(paths.join('\n')).digest('hex');

/** Every file of which it is made. */
function sourcesOf({ folders }) {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .map((path) => join(folder, path))
      .filter((path) => /\.[a-z]+$/.test(path) && !/\.spec\.ts$|node_modules/.test(path)),
  );
}

async function compile(part) {
  const stamp = readStamp(part);
  // The compiler's own memory of what it emitted is void where dist was touched or its settings changed.
  if (stamp === null || settingsChangedSince(stamp.at)) rmSync(join(DIST, '.tsbuildinfo'), { force: true });
  const { code, output } = await run([join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js'), 'build']);
  if (code !== 0 && !existsSync(join(DIST, 'migrations'))) throw new Error(`the build failed:\n${output}`);
  removeOrphans();
  return code !== 0;
}

/** The compiler leaves the output of deleted sources behind, and a deleted migration must not be found. */
function removeOrphans() {
  for (const folder of SERVICE.filter((each) => existsSync(join(DIST, each)))) {
    for (const path of readdirSync(join(DIST, folder), { recursive: true })) {
      const source = join(ROOT, folder, path);
      const isThere = [source, source.replace(/\.js(\.map)?$/, '.ts')].some((each) => existsSync(each));
      if (!isThere) rmSync(join(DIST, folder, path), { recursive: true, force: true });
    }
  }
}

/** The console, and the page of setup links, which is a bundle of its own. */
async function bundlePages() {
  for (const config of ['vite.config.ts', 'vite.setup.config.ts']) {
    const vite = [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'];
    const { code, output } = await run([...vite, '--config', join(ROOT, 'console', config)]);
    if (code !== 0) throw new Error(`the build of the console failed:\n${output}`);
  }
  return false;
}

function run(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

async function takeLock() {
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isHolderGone()) rmSync(LOCK, { force: true });
    else if (Date.now() > deadline) throw new Error(`another build holds ${LOCK}`);
    else await sleep(100);
  }
}

function isHolderGone() {
  try {
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { failed } = await buildIfStale();
  if (failed && process.argv.includes('--strict')) process.exitCode = 1;
}
