// Runs the tests: `node scripts/test.mjs [unit|e2e|slow|properties] [paths] [jest arguments]`. One PostgreSQL serves the whole run; each test
// file clones its own database from a migrated template. TEST_SECOND_LOOK=true, which CI sets: a file that failed runs once more,
// alone; where it passes then, the run is good and names it as flaky.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { buildIfStale } from './build-if-stale.mjs';
import { prepareTemplate } from './lib/test-template.mjs';
import { makeRunFolder, startTestPostgres } from './lib/test-postgres.mjs';
import { note, ran } from './ran.mjs';
import { ROOT } from './lib/root.mjs';
import { countsOf, failedFiles, flakyLine, flakyTests, merged, slowestFiles, slowLine } from './lib/test-results.mjs';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

// Half of a test's time is waiting: for the database, a pace, a turn of a lane. So two cores carry four workers; those of
// the slow tests start processes of their own.
const WORKERS = availableParallelism() + 2;
const SLOW_WORKERS = availableParallelism() + 1;

const SHOWN_SLOWEST = 10;
/** So many files do not fail by chance. */
const MAX_SECOND_LOOKS = 20;

const timings = [];
let jest = null;
let interrupted = null;

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    interrupted = signal;
    jest?.kill(signal);
  });
}

async function timed(name, work) {
  const startedAt = performance.now();
  const result = await work();
  timings.push(`${name} ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return result;
}

/** Runs Jest and resolves with its exit code and its JSON (null where it wrote none). */
async function runJest(args, { folder, url, template, scale }) {
  const resultFile = join(folder.path, 'result.json');
  rmSync(resultFile, { force: true });
  const options = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`;
  const code = await new Promise((resolve, reject) => {
    jest = spawn(process.execPath, [JEST, ...args, '--json', `--outputFile=${resultFile}`], {
      cwd: ROOT,
      // Jest writes its JSON to standard output as well; its report is on standard error.
      stdio: ['inherit', 'ignore', 'inherit'],
      env: {
        ...process.env,
        FUZZ_SCALE: scale,
        NODE_OPTIONS: options.trim(),
        NODE_ENV: 'test',
        TMPDIR: folder.temporary,
        TEST_DATABASE_URL: url,
        TEST_TEMPLATE_DATABASE: template,
        TEST_JEST_LOADER: process.env.TEST_JEST_LOADER ?? loaderFor(args),
      },
    });
    jest.once('error', reject);
    jest.once('close', (status, signal) => {
      if (signal !== null) process.stderr.write(`Jest was ended by ${signal}\n`);
      resolve(status ?? 1);
    });
  });
  return { code, result: readResult(resultFile) };
}

/** A watch does not build, and coverage is that of the sources: Jest itself loads those. */
const loaderFor = (args) => (args.some((arg) => /^--(watch|coverage)/.test(arg)) ? 'own' : 'built');

function readResult(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** Each file that failed once more, in a Jest of its own. @returns what holds after it */
async function lookAgain(first, args, run) {
  const files = failedFiles(first.result);
  if (files.length === 0 || files.length > MAX_SECOND_LOOKS) return first;
  const again = [];
  let code = 0;
  for (const file of files) {
    if (interrupted !== null) return first;
    process.stdout.write(`once more, alone: ${relative(ROOT, file)}\n`);
    const pattern = `${relative(ROOT, file).replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`;
    const second = await runJest([...args.options, '--testPathPatterns', pattern], run);
    // Jest that fell over with the file left nothing, and the first result stands.
    if (second.result?.testResults.length > 0) again.push(second.result);
    if (second.code !== 0 || second.result === null || second.result.numPassedTests === 0) code = 1;
  }
  const result = merged(first.result, again);
  return { code, result, flaky: flakyTests(first.result, result, ROOT) };
}

const PROJECTS = ['unit', 'e2e', 'slow'];
const PROPERTIES = 'properties';
/** What is drawn at random is tried so often in `npm test`, as a part of its full count, which `test:properties` and `test:slow` try. */
const QUICK_SCALE = '0.3';

const scaleOf = ([name]) => (name === 'slow' || name === PROPERTIES ? '1' : QUICK_SCALE);

/** The files with counts that FUZZ_SCALE multiplies. */
function propertyFiles() {
  return ['src', 'simulator', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true })
      .filter((path) => path.endsWith('spec.ts'))
      .map((path) => join(folder, path))
      .filter((path) => readFileSync(join(ROOT, path), 'utf8').includes('support/runs.js')),
  );
}

function jestArguments(args) {
  if (args[0] === PROPERTIES) return jestArguments([...propertyFiles(), ...args.slice(1)]);
  const named = PROJECTS.filter((name) => name === args[0]);
  const rest = args.slice(named.length);
  const paths = rest.filter((arg) => /^(src|simulator|test|bench)\b/.test(arg));
  const options = rest.filter((arg) => !paths.includes(arg));
  const workers = named.includes('slow') ? SLOW_WORKERS : WORKERS;
  const atOnce = options.some((arg) => /^(-w|--maxWorkers|-i|--runInBand)/.test(arg))
    ? []
    : [`--maxWorkers=${workers}`];
  // A path names its tests, slow or not. Each list is an option, which takes every word that follows.
  const which =
    paths.length > 0
      ? ['--testPathPatterns', ...paths]
      : ['--selectProjects', ...(named.length > 0 ? named : ['unit', 'e2e'])];
  return { options, all: [...atOnce, ...options, ...which] };
}

async function main() {
  await timed('build', buildIfStale);
  const folder = await makeRunFolder();
  let server = null;
  let template = null;
  let outcome;
  try {
    const given = process.env.TEST_DATABASE_URL;
    if (given && !/^postgres(ql)?:\/\//.test(given)) {
      throw new Error('TEST_DATABASE_URL must begin with postgres:// or postgresql://');
    }
    server = given
      ? { url: given, stop: async () => undefined }
      : await timed('PostgreSQL', () => startTestPostgres(folder.path));
    template = await timed('template', () => prepareTemplate(server.url, given !== undefined));
    if (interrupted === null) {
      const args = jestArguments(process.argv.slice(2));
      const scale = process.env.FUZZ_SCALE ?? scaleOf(process.argv.slice(2));
      const run = { folder, url: server.url, template: template.name, scale };
      outcome = await timed('tests', () => runJest(args.all, run));
      if (process.env.TEST_SECOND_LOOK === 'true' && outcome.result !== null && outcome.code !== 0) {
        outcome = await timed('second look', () => lookAgain(outcome, args, run));
      }
      if (outcome.code === 0) await noteRun(server.url, outcome);
    }
  } finally {
    await timed('stop', async () => {
      await template?.drop();
      await server?.stop();
      folder.remove();
    });
  }
  if (interrupted !== null) {
    process.stderr.write(`stopped by ${interrupted}\n`);
    return interrupted === 'SIGINT' ? 130 : 143;
  }
  return report(outcome);
}

/** For CI's table of what ran where; RAN_AS says what, where paths were named. */
async function noteRun(url, { result }) {
  if (!process.env.RAN_FILE || result === null) return;
  const what = whatRan();
  const counts = countsOf(result);
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("select current_setting('server_version') as version");
    // Debian adds its own version in brackets.
    ran('PostgreSQL', rows[0].version.split(' ')[0], `${what} (${counts.passed})`);
  } finally {
    await client.end();
  }
  ran('Node.js', process.versions.node, `${what} (${counts.passed})`);
}

function whatRan() {
  const named = PROJECTS.filter((name) => name === process.argv[2]);
  return process.env.RAN_AS || `${(named.length > 0 ? named : ['unit', 'e2e']).join(' and ')} tests`;
}

function report({ code, result, flaky = [] }) {
  process.stdout.write(`${timings.join(', ')}\n`);
  if (result === null) {
    process.stderr.write(`Jest ended with code ${code} and left no results\n`);
    return code === 0 ? 1 : code;
  }
  process.stdout.write(`slowest files:\n`);
  for (const file of slowestFiles(result, SHOWN_SLOWEST, ROOT)) {
    process.stdout.write(`${slowLine(file)}\n`);
    note({ slow: { ...file, part: whatRan() } });
  }
  const { passed, failed, skipped } = countsOf(result);
  const ranNothing = passed + failed === 0;
  if (ranNothing) process.stdout.write('no test ran\n');
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  for (const test of flaky) {
    process.stdout.write(`${flakyLine(test)}\n`);
    note({ flaky: test });
  }
  return ranNothing && code === 0 ? 1 : code;
}

process.exitCode = await main();
