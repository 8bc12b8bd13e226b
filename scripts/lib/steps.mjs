// Named steps of a check, one after the other, each with a line that says how it went.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const results = [];

/** Runs one step; false where it failed. */
export async function step(name, work) {
  const from = performance.now();
  let fault = null;
  try {
    await work();
  } catch (error) {
    fault = error;
  }
  const seconds = ((performance.now() - from) / 1_000).toFixed(1).padStart(6);
  process.stdout.write(`${fault === null ? 'ok  ' : 'FAIL'} ${name.padEnd(44)} ${seconds} s\n`);
  if (fault !== null) process.stdout.write(`${fault.message.trimEnd()}\n\n`);
  results.push(fault === null);
  return fault === null;
}

export function hasFailed() {
  return results.includes(false);
}

/** An empty folder, which `runSteps` removes. */
export function scratchFolder(name) {
  return mkdtempSync(join(tmpdir(), `herald-${name}-`));
}

/** Runs all steps, says how many passed, and sets the exit code. With `--keep` the scratch folder stays. */
export async function runSteps(scratch, work) {
  try {
    await work();
  } finally {
    if (process.argv.includes('--keep')) process.stdout.write(`kept: ${scratch}\n`);
    else rmSync(scratch, { recursive: true, force: true });
  }
  const failed = results.filter((ok) => !ok).length;
  process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
