// Everything that must hold before a change lands: `npm run check [-- STEP...] [-- --skip STEP,STEP]`.
import { spawn } from 'node:child_process';
import { ROOT } from './lib/root.mjs';

const node = (...args) => [process.execPath, args];
const npm = (script) => ['npm', ['run', '--silent', script]];

/** In this order: what fails fast comes first, and what needs dist/ after the build. */
const STEPS = {
  format: npm('format:check'),
  lint: npm('lint'),
  types: npm('typecheck'),
  arrows: npm('arrows'),
  conventions: node('scripts/conventions.mjs'),
  build: node('scripts/build-if-stale.mjs', '--strict'),
  generated: node('scripts/generate.mjs', '--check'),
  unit: node('scripts/test.mjs', 'unit'),
  e2e: node('scripts/test.mjs', 'e2e'),
  slow: node('scripts/test.mjs', 'slow'),
};

function chosenSteps(args) {
  const skipAt = args.indexOf('--skip');
  const skipped = skipAt === -1 ? [] : (args[skipAt + 1] ?? '').split(',').filter(Boolean);
  const named = skipAt === -1 ? args : args.slice(0, skipAt);
  const unknown = [...named, ...skipped].filter((name) => STEPS[name] === undefined);
  if (unknown.length > 0) {
    throw new Error(`no such step: ${unknown.join(', ')}; there are ${Object.keys(STEPS).join(', ')}`);
  }
  const wanted = named.length > 0 ? named : Object.keys(STEPS);
  return Object.keys(STEPS).filter((name) => wanted.includes(name) && !skipped.includes(name));
}

/** Runs one step and resolves with what it said, shown only where it failed. */
function run([command, args]) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks = [];
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => chunks.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => resolve({ ok: code === 0, output: Buffer.concat(chunks).toString() }));
  });
}

const failed = [];
for (const name of chosenSteps(process.argv.slice(2))) {
  const startedAt = performance.now();
  const { ok, output } = await run(STEPS[name]);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const tests = /^\d+ passed, \d+ failed.*$/m.exec(output)?.[0];
  process.stdout.write(
    `${ok ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds.padStart(6)} s${tests ? `  ${tests}` : ''}\n`,
  );
  if (ok) continue;
  failed.push(name);
  process.stdout.write(`${output.trimEnd()}\n\n`);
}
if (failed.length > 0) {
  process.stdout.write(`failed: ${failed.join(', ')}; one alone: npm run check -- ${failed[0]}\n`);
  process.exitCode = 1;
}
