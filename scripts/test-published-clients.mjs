// Runs published clients of the Cloud API against the simulator, and against Herald: `npm run test:published-clients [-- --keep]
// [-- NAME]`. What works with the platform must work with both. Needs the npm registry, so it is not part of `npm test`.
import { spawn } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { buildIfStale } from './build-if-stale.mjs';
import { startDemoHerald } from './lib/demo-herald.mjs';
import { forwardTo } from './lib/forward.mjs';
import { npmInstall } from './lib/npm-install.mjs';
import { run } from './lib/run.mjs';
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

/** TLS before a plain address, for a client that speaks nothing else: with a certificate for `localhost` that it has to be given. */
async function withTls(address) {
  const [keyFile, certFile] = ['tls-key.pem', 'tls-cert.pem'].map((name) => join(scratch, name));
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', keyFile, '-out', certFile];
  run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject, ...files]);
  const [key, cert] = [keyFile, certFile].map((file) => readFileSync(file, 'utf8'));
  const server = createServer({ key, cert }, forwardTo(address));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { tls: { port: server.address().port, cert }, stop };
}

async function withSimulator(name, { CLIENTS }, version) {
  // Each with a simulator of its own: what one has left is no part of what another finds.
  const { address, stop } = await startSimulator();
  const { tls, stop: stopTls } = await withTls(address);
  const platformFetch = globalThis.fetch;
  try {
    redirectPlatform(address);
    const steps = await CLIENTS[name]({ address, tls, customerWrites: (from) => writeAsCustomer(address, from) });
    const count = Object.keys(steps).length;
    return (await step(`${name} ${version}, ${count} steps`, () => runClient(steps))) ? count : 0;
  } finally {
    globalThis.fetch = platformFetch;
    stopTls();
    await stop();
  }
}

/** @throws Error where it does not come */
async function until(what, look) {
  const deadline = performance.now() + STEP_WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await pause(100);
  }
}

/** The client with its base URL changed to Herald's: each message is seen at the simulator, and its statuses by the id it got. */
async function withHerald(name, { CLIENTS, NOT_OF_HERALD, callHerald }, version, { demo, to }) {
  const address = `${demo.base_url}/graph`;
  const read = async (path) => {
    const answer = await globalThis.fetch(`${demo.base_url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${demo.api_key}` },
    });
    return (await answer.json()).data;
  };
  const customerWrites = async (from = to) => {
    const wamid = await writeAsCustomer(demo.simulator_url, from);
    await until('what the customer wrote', async () => (await read(`/messages?meta_message_id=${wamid}`))[0]);
    return wamid;
  };
  const arrived = async (id) => {
    const message = await until(`message ${id} to be read`, async () => {
      const found = await read(`/messages/${id}`);
      if (found.status === 'failed') throw new Error(`${found.type}: ${JSON.stringify(found.error)}`);
      return found.status === 'read' ? found : null;
    });
    const answer = await fetch(`${demo.simulator_url}/_simulator/messages?to=${to.slice(1)}&limit=1000`);
    const { data: messages } = await answer.json();
    if (!messages.some((seen) => seen.id === message.meta_message_id)) throw new Error(`${id} is not at the simulator`);
  };
  const { tls, stop } = await withTls(demo.base_url);
  const platformFetch = globalThis.fetch;
  try {
    redirectPlatform(address);
    // Opens the window of 24 hours.
    await customerWrites();
    const taken = callHerald({ key: demo.api_key, to });
    const all = Object.entries(await CLIENTS[name]({ address, tls, customerWrites }));
    const others = NOT_OF_HERALD[name] ?? [];
    const steps = Object.fromEntries(all.filter(([each]) => !others.includes(each)));
    const allArrived = async () => {
      if (taken.length === 0) throw new Error('nothing was sent');
      for (const id of taken) await arrived(id);
    };
    const { 'delete a file': deleteFile } = steps;
    // A queued message needs its file.
    if (deleteFile !== undefined) steps['delete a file'] = () => allArrived().then(deleteFile);
    steps['read at the recipient'] = allArrived;
    const count = Object.keys(steps).length;
    return (await step(`${name} ${version} with Herald, ${count} steps`, () => runClient(steps))) ? count : 0;
  } finally {
    globalThis.fetch = platformFetch;
    stop();
  }
}

async function main() {
  cpSync(join(ROOT, 'test/client/published'), scratch, { recursive: true });
  if (!(await step('install the clients', () => npmInstall(scratch)))) return;
  await buildIfStale();
  const { dependencies } = JSON.parse(readFileSync(join(scratch, 'package.json'), 'utf8'));
  const clients = await import(pathToFileURL(join(scratch, 'clients.mjs')).href);
  const known = Object.keys(clients.CLIENTS);
  const names = known.filter((name) => wanted === undefined || name === wanted);
  if (names.length === 0) throw new Error(`There is no client ${wanted}; there are ${known.join(', ')}.`);
  let total = 0;
  for (const name of names) total += await withSimulator(name, clients, dependencies[name]);
  const herald = await startDemoHerald(join(scratch, 'data'));
  let ofHerald = 0;
  try {
    for (const [index, name] of names.entries()) {
      const to = `+49151123457${70 + index}`;
      ofHerald += await withHerald(name, clients, dependencies[name], { demo: herald.demo, to });
    }
  } finally {
    await herald.stop();
  }
  if (hasFailed()) return;
  const what = `${total} steps against the simulator, ${ofHerald} against Herald`;
  ran('Published clients', `${names.length} of npm`, what);
}

await runSteps(scratch, main);
