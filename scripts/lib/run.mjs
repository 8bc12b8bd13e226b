import { spawnSync } from 'node:child_process';

const WITHIN_MS = 240_000;
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;
/** Of what a program that failed has written, in characters. */
const SHOWN = 8_000;

/** What a program writes to its standard output. @throws Error with the end of its output where it fails */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    encoding: 'utf8',
    timeout: WITHIN_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
    ...options,
  });
  if (error) throw error;
  if (status === 0) return stdout;
  throw new Error(`${[command, ...args].join(' ')} ended with ${status}:\n${(stdout + stderr).slice(-SHOWN)}`);
}
