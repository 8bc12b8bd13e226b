// Builds dist/ when a source is newer than the last build. Type errors are a warning, with --strict a failure.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { obstacleTo } from './lib/preflight.mjs';
import { ROOT } from './lib/root.mjs';
import { packClient } from './pack-client.mjs';

const DIST = join(ROOT, 'dist');
const STAMP = join(DIST, '.build-stamp');
const LOCK = join(DIST, '.build-lock');
const MAIN = 'dist/src/main.js';
const SOURCES = ['src', 'simulator', 'migrations'];
/** What is built beside the service, each from a folder of its own. */
const CONSOLE = { folder: 'console', made: 'console/index.html', stamp: join(DIST, '.console-stamp') };
const CLIENT = { folder: 'clients/typescript', made: 'downloads/client.tgz', stamp: join(DIST, '.client-stamp') };
const SETTINGS = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package-lock.json'];
// A build takes seconds; a lock older than this was left behind by a process that was killed.
const LOCK_TIMEOUT_MS = 180_000;

/**
 * Makes dist/ match the sources, and says in one line what was done; quick where nothing is to do. Concurrent callers wait
 * for one another.
 *
 * @returns {Promise<{failed: boolean}>} the compiler found type errors (it emits all the same).
 */
export async function buildIfStale() {
  const startedAt = performance.now();
  const { built, failed } = await build();
  if (built) process.stderr.write(`built dist/ in ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  if (failed) process.stderr.write('dist/ was built in spite of type errors: `npm run typecheck` lists them\n');
  return { failed };
}

async function build() {
  const hasCompiler = existsSync(join(ROOT, 'node_modules/@nestjs/cli'));
  // An installation without development packages runs what was built elsewhere.
  const isProduction =
    !hasCompiler && [MAIN, 'node_modules/@nestjs/core'].every((path) => existsSync(join(ROOT, path)));
  const obstacle = obstacleTo(process.versions.node, hasCompiler || isProduction);
  if (obstacle !== null) {
    process.stderr.write(`${obstacle}\n`);
    process.exit(1);
  }
  if (isProduction) return { built: false, failed: false };
  if (!isStale(readStamp()) && !isPartStale(CONSOLE) && !isPartStale(CLIENT))
    return { built: false, failed: readStamp().failed };
  mkdirSync(DIST, { recursive: true });
  if (readStamp() === null) process.stderr.write('building dist/ for the first time: about half a minute ...\n');
  await takeLock();
  try {
    const stamp = readStamp();
    const isServiceStale = isStale(stamp);
    const parts = [
      ...(isPartStale(CONSOLE) ? [buildPart(CONSOLE, bundleConsole)] : []),
      ...(isPartStale(CLIENT) ? [buildPart(CLIENT, packClient)] : []),
    ];
    if (!isServiceStale && parts.length === 0) return { built: false, failed: stamp.failed };
    // At once: a compiler uses one processor.
    const [failed] = await Promise.all([isServiceStale ? compile(stamp) : stamp.failed, ...parts]);
    return { built: true, failed };
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

function isPartStale({ folder, made, stamp }) {
  const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs;
  if (builtAt === undefined || !existsSync(join(DIST, made)) || settingsChangedSince(builtAt)) return true;
  // Folders too: their time changes when a file is removed.
  const paths = readdirSync(join(ROOT, folder), { recursive: true });
  return paths.some((path) => statSync(join(ROOT, folder, path)).mtimeMs > builtAt);
}

async function buildPart({ stamp }, work) {
  const startedAt = new Date();
  await work();
  writeFileSync(stamp, '');
  utimesSync(stamp, startedAt, startedAt);
}

async function bundleConsole() {
  const vite = [join(ROOT, 'node_modules/vite/bin/vite.js'), 'build', 'console', '--logLevel', 'warn'];
  const { code, output } = await run(vite);
  if (code !== 0) throw new Error(`the build of the console failed:\n${output}`);
}

/** Every source that the build compiles or copies, with the time of its last change in milliseconds. */
function sources() {
  const found = [];
  const walk = (folder) => {
    for (const entry of readdirSync(join(ROOT, folder), { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (/\.(ts|js|css|svg)$/.test(path) && !path.endsWith('.spec.ts')) {
        found.push({ path, changedAt: statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0 });
      }
    }
  };
  for (const folder of SOURCES) walk(folder);
  return found;
}

function listHash(files) {
  return createHash('sha1')
    .update(files.map((file) => file.path).join('\n'))
    .digest('hex');
}

function readStamp() {
  try {
    const { list, failed } = JSON.parse(readFileSync(STAMP, 'utf8'));
    return { list, failed, at: statSync(STAMP).mtimeMs };
  } catch {
    return null;
  }
}

function isStale(stamp) {
  if (stamp === null || settingsChangedSince(stamp.at)) return true;
  const files = sources();
  return stamp.list !== listHash(files) || files.some((file) => file.changedAt > stamp.at);
}

function settingsChangedSince(time) {
  return SETTINGS.some((name) => (statSync(join(ROOT, name), { throwIfNoEntry: false })?.mtimeMs ?? 0) > time);
}

async function compile(stamp) {
  // The compiler's own memory of what it emitted is void where dist was touched or its settings changed.
  if (stamp === null || settingsChangedSince(stamp.at)) rmSync(join(DIST, '.tsbuildinfo'), { force: true });
  const startedAt = new Date();
  const files = sources();
  const { code, output } = await run([join(ROOT, 'node_modules/@nestjs/cli/bin/nest.js'), 'build']);
  if (code !== 0 && !existsSync(join(DIST, 'migrations'))) throw new Error(`the build failed:\n${output}`);
  // By a list made now: the compiler believes that what it emitted stays, and sources may have come meanwhile.
  removeOrphans(sources());
  writeFileSync(STAMP, JSON.stringify({ list: listHash(files), failed: code !== 0 }));
  // What changes while the compiler runs is newer than the stamp, and so built next time.
  utimesSync(STAMP, startedAt, startedAt);
  return code !== 0;
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

/** The compiler leaves the output of deleted sources behind, and a deleted migration must not be found. */
function removeOrphans(files) {
  const kept = new Set(files.map((file) => file.path.replace(/\.ts$/, '')));
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (!kept.has(relative(DIST, path)) && !kept.has(relative(DIST, path).replace(/\.(js|js\.map|d\.ts)$/, '')))
        rmSync(path, { force: true });
    }
  };
  for (const folder of SOURCES) if (existsSync(join(DIST, folder))) walk(join(DIST, folder));
}

async function takeLock() {
  const deadline = Date.now() + LOCK_TIMEOUT_MS;
  for (;;) {
    try {
      mkdirSync(LOCK);
      writeFileSync(join(LOCK, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (isAbandoned()) rmSync(LOCK, { recursive: true, force: true });
    else if (Date.now() > deadline) throw new Error(`another build holds ${LOCK}`);
    else await sleep(100);
  }
}

function isAbandoned() {
  let pid;
  try {
    pid = Number(readFileSync(join(LOCK, 'pid'), 'utf8'));
  } catch {
    // Between the two steps of taking it; only one that stays so was abandoned.
    return Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? 0) > 5_000;
  }
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { failed } = await buildIfStale();
  if (failed && process.argv.includes('--strict')) process.exitCode = 1;
}
