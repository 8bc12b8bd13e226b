// Runs published clients of the Cloud API against the simulator: `npm run test:published-clients [-- --keep] [-- NAME]`.
// What works with the platform must work here. Needs the npm registry, so it is not part of `npm test`.
import { spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildIfStale } from './build-if-stale.mjs';
import { npmInstall } from './lib/npm-install.mjs';
import { hasFailed, runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ran } from './ran.mjs';
import { ROOT } from './lib/root.mjs';

const PLATFORM = 'https://graph.facebook.com';
const START_WITHIN_MS = 60_000;
const STEP_WITHIN_MS = 30_000;
const [wanted] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const scratch = scratchFolder('published-clients');

/** The simulator alone, without a webhook: what clients call is all there is to see. */
async function startSimulator() {
  const child = spawn(process.execPath, [join(ROOT, 'dist/simulator/src/main.js'), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const deadline = setTimeout(() => child.kill('SIGTERM'), START_WITHIN_MS);
  const address = await new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => resolve(/http:\S+/.exec(String(chunk))?.[0]));
    child.once('close', () => reject(new Error('The simulator did not start.')));
  }).finally(() => clearTimeout(deadline));
  const stop = () => {
    child.kill('SIGTERM');
    return new Promise((resolve) => child.once('close', resolve));
  };
  return { address, stop };
}

/** Leads the platform's address to the simulator, for clients that have no setting for it. */
function redirectPlatform(address) {
  const original = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    const url = String(input instanceof Request ? input.url : input);
    if (!url.startsWith(PLATFORM)) return original(input, init);
    const there = address + url.slice(PLATFORM.length);
    return original(input instanceof Request ? new Request(there, input) : there, init);
  };
}

async function writeAsCustomer(address, from = '+4915112345678') {
  const { PHONE } = await import(pathToFileURL(join(scratch, 'clients.mjs')).href);
  const message = { id: `wamid.${Math.random().toString(36).slice(2)}`, type: 'text', text: { body: 'Hello' } };
  const answer = await fetch(`${address}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: PHONE, from, message }),
  });
  if (!answer.ok) throw new Error(`The customer could not write: ${await answer.text()}`);
  return message.id;
}

/** @throws Error that names every step that failed */
async function runClient(steps) {
  const failures = [];
  for (const [name, work] of Object.entries(steps)) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no answer within ${STEP_WITHIN_MS / 1_000} s`)), STEP_WITHIN_MS);
    });
    try {
      await Promise.race([work(), late]);
    } catch (error) {
      failures.push(`  ${name}: ${error.message}`);
    } finally {
      clearTimeout(timer);
    }
  }
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

async function main() {
  cpSync(join(ROOT, 'test/client/published'), scratch, { recursive: true });
  if (!(await step('install the clients', () => npmInstall(scratch)))) return;
  await buildIfStale();
  const { dependencies } = JSON.parse(readFileSync(join(scratch, 'package.json'), 'utf8'));
  const { CLIENTS } = await import(pathToFileURL(join(scratch, 'clients.mjs')).href);
  const names = Object.keys(CLIENTS).filter((name) => wanted === undefined || name === wanted);
  if (names.length === 0)
    throw new Error(`There is no client ${wanted}; there are ${Object.keys(CLIENTS).join(', ')}.`);
  let total = 0;
  for (const name of names) {
    // Each with a simulator of its own: what one has left is no part of what another finds.
    const { address, stop } = await startSimulator();
    const platformFetch = globalThis.fetch;
    try {
      redirectPlatform(address);
      const steps = await CLIENTS[name]({ address, customerWrites: (from) => writeAsCustomer(address, from) });
      const count = Object.keys(steps).length;
      if (await step(`${name} ${dependencies[name]}, ${count} steps`, () => runClient(steps))) total += count;
    } finally {
      globalThis.fetch = platformFetch;
      await stop();
    }
  }
  if (!hasFailed()) ran('Published clients', `${names.length} of npm`, `${total} steps against the simulator`);
}

await runSteps(scratch, main);
