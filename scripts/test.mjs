// Runs the tests: `node scripts/test.mjs [unit|e2e|slow] [paths] [jest arguments]`. One PostgreSQL serves the whole run; each test
// file clones its own database from a migrated template.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildIfStale } from './build-if-stale.mjs';
import { prepareTemplate } from './lib/test-template.mjs';
import { startTestPostgres } from './lib/test-postgres.mjs';
import { ran } from './ran.mjs';
import { ROOT } from './lib/root.mjs';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

// Half of a test's time is waiting: for the database, a pace, a turn of a lane. So two cores carry four workers; those of
// the slow tests start processes of their own.
const WORKERS = availableParallelism() + 2;
const SLOW_WORKERS = availableParallelism() + 1;

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

/** Runs Jest and resolves with its exit code and its counts (null where it wrote none). */
async function runJest(args, url, template) {
  const folder = mkdtempSync(join(tmpdir(), 'herald-jest-'));
  const resultFile = join(folder, 'result.json');
  const options = `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules --disable-warning=ExperimentalWarning`;
  try {
    const code = await new Promise((resolve, reject) => {
      jest = spawn(process.execPath, [JEST, ...args, '--json', `--outputFile=${resultFile}`], {
        cwd: ROOT,
        // Jest writes its JSON to standard output as well; its report is on standard error.
        stdio: ['inherit', 'ignore', 'inherit'],
        env: {
          ...process.env,
          NODE_OPTIONS: options.trim(),
          NODE_ENV: 'test',
          TEST_DATABASE_URL: url,
          TEST_TEMPLATE_DATABASE: template,
        },
      });
      jest.once('error', reject);
      jest.once('close', (status) => resolve(status ?? 1));
    });
    return { code, counts: readCounts(resultFile) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readCounts(file) {
  try {
    const result = JSON.parse(readFileSync(file, 'utf8'));
    // A file that could not even be loaded holds no test that failed, and is a failure.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    return { passed: result.numPassedTests, failed, skipped: result.numPendingTests + result.numTodoTests };
  } catch {
    return null;
  }
}

const PROJECTS = ['unit', 'e2e', 'slow'];

function jestArguments(args) {
  const named = PROJECTS.filter((name) => name === args[0]);
  const rest = args.slice(named.length);
  const paths = rest.filter((arg) => /^(src|test|bench)\b/.test(arg));
  const options = rest.filter((arg) => !paths.includes(arg));
  const workers = named.includes('slow') ? SLOW_WORKERS : WORKERS;
  if (!options.some((arg) => /^(-w|--maxWorkers|-i|--runInBand)/.test(arg))) options.unshift(`--maxWorkers=${workers}`);
  // A path names its tests, slow or not. Each list is an option, which takes every word that follows.
  if (paths.length > 0) return [...options, '--testPathPatterns', ...paths];
  return ['--selectProjects', ...(named.length > 0 ? named : ['unit', 'e2e']), ...options];
}

async function main() {
  await timed('build', buildIfStale);
  let server = null;
  let template = null;
  let outcome;
  try {
    const given = process.env.TEST_DATABASE_URL;
    server = given ? { url: given, stop: async () => undefined } : await timed('PostgreSQL', startTestPostgres);
    template = await timed('template', () => prepareTemplate(server.url, given !== undefined));
    if (interrupted === null) {
      outcome = await timed('tests', () => runJest(jestArguments(process.argv.slice(2)), server.url, template.name));
      if (outcome.code === 0) await noteRun(server.url, outcome.counts);
    }
  } finally {
    await timed('stop', async () => {
      await template?.drop();
      await server?.stop();
    });
  }
  if (interrupted !== null) {
    process.stderr.write(`stopped by ${interrupted}\n`);
    return interrupted === 'SIGINT' ? 130 : 143;
  }
  return report(outcome);
}

/** For CI's table of what ran where; RAN_AS says what, where paths were named. */
async function noteRun(url, counts) {
  if (!process.env.RAN_FILE || counts === null) return;
  const named = PROJECTS.filter((name) => name === process.argv[2]);
  const what = process.env.RAN_AS || `${(named.length > 0 ? named : ['unit', 'e2e']).join(' and ')} tests`;
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

function report({ code, counts }) {
  process.stdout.write(`${timings.join(', ')}\n`);
  if (counts === null) return code === 0 ? 1 : code;
  const { passed, failed, skipped } = counts;
  const ranNothing = passed + failed === 0;
  if (ranNothing) process.stdout.write('no test ran\n');
  process.stdout.write(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`);
  return ranNothing && code === 0 ? 1 : code;
}

process.exitCode = await main();
