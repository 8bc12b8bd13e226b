// Named steps of a check, one after the other, each with a line that says how it went.
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

/** Says how many passed, and sets the exit code. */
export function endSteps() {
  const failed = results.filter((ok) => !ok).length;
  process.stdout.write(`${results.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
}
