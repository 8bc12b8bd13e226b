import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.mjs';

const START_WITHIN_MS = 120_000;

/**
 * The built program with the demo, its embedded database and the simulator, on free ports.
 *
 * @param {string} dataDir an empty folder; the caller removes it
 * @param {string} node the program that runs it
 * @returns {Promise<{demo: object, output: () => string, stop: () => Promise<number | null>}>} `demo`: what demo.json
 *   says; `stop` gives the exit code
 */
export async function startDemoHerald(dataDir, node = process.execPath) {
  const { PATH, HOME } = process.env;
  const child = spawn(node, [join(ROOT, 'dist/src/main.js')], {
    env: { PATH, HOME, PORT: '0', SIMULATOR_PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    return ended;
  };
  let output = '';
  const deadline = setTimeout(() => child.kill('SIGTERM'), START_WITHIN_MS);
  await new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.stdout.on('data', (chunk) => {
      output += String(chunk);
      if (output.includes('"msg":"ready"')) resolve();
    });
    child.once('close', () => reject(new Error(`Herald did not start:\n${output}`)));
  }).finally(() => clearTimeout(deadline));
  return { demo: JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')), output: () => output, stop };
}
