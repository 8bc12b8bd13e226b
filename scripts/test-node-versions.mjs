// Runs Herald on the versions of Node that it supports: `npm run test:node-versions [-- --start-only]`. On each one start with the embedded
// database, one message from the 202 to `read` and a stop; on the oldest the client as a package, on 22 and 24 the unit tests of what
// stands on Node itself. All else in CI runs on the Node of the machine. The versions come from npm, so it is not part of `npm test`.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from './build-if-stale.mjs';
import { call } from './lib/call.mjs';
import { startDemoHerald } from './lib/demo-herald.mjs';
import { installNode } from './lib/npm-install.mjs';
import { runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ran } from './ran.mjs';
import { ROOT } from './lib/root.mjs';

/** The oldest that package.json allows, and the newest of each later one. */
const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const OLDEST = /^>=(\d+\.\d+)$/.exec(engines.node)[1];
const WITH_UNIT_TESTS = ['22', '24'];
/** Where a change of Node would show: HTTP in and out, sockets, streams of files, crypto, timers, and how modules are loaded. */
const STAND_ON_NODE = [
  'test/support/rig/tcp-proxy',
  'src/cli/api/client',
  'src/cli/program',
  'src/common/keyed-mutex',
  'src/common/retry.spec',
  'src/common/slots',
  'src/modules/keys/api-key-format',
  'src/infrastructure/database/lost-server',
  'src/infrastructure/http/express-adapter',
  'src/infrastructure/http/server-limits',
  'src/infrastructure/operations/logger',
  'src/infrastructure/secrets/secret-box',
  'src/infrastructure/storage/folder-storage',
  'src/infrastructure/whatsapp/',
  'src/modules/media/upload/upload.service',
  'src/modules/webhook/address/',
  'src/modules/webhook/dispatch/webhook-dispatcher',
  'simulator/src/http/',
  'simulator/src/media/',
  'test/architecture/test-environment',
];
const READ_MS = 30_000;
const TESTS_MS = 600_000;
const MAX_OUTPUT = 20_000;

const work = scratchFolder('node');

async function startSendStop(node, version) {
  const herald = await startDemoHerald(join(work, `data-${version}`), node);
  let code;
  try {
    const { base_url, api_key: key, connection_id, recipients } = herald.demo;
    const api = `${base_url}/api/v1`;
    const text = { connection_id, to: recipients[0].to, type: 'text', text: { body: 'Until six.' } };
    const { data: sent } = await call(`${api}/messages`, { key, method: 'POST', body: JSON.stringify(text) });
    const deadline = performance.now() + READ_MS;
    for (;;) {
      const { status } = (await call(`${api}/messages/${sent.id}`, { key })).data;
      if (status === 'read') break;
      if (performance.now() > deadline) throw new Error(`the message is ${status} after ${READ_MS / 1_000} s`);
      await sleep(50);
    }
  } finally {
    code = await herald.stop();
  }
  if (code !== 0) throw new Error(`SIGTERM ended it with ${code}:\n${herald.output().slice(-MAX_OUTPUT)}`);
}

/** As `npm test -- ...` does, with its line in the table of what ran. */
async function tests(node, as, ...args) {
  const child = spawn(node, ['scripts/test.mjs', ...args, `--maxWorkers=${availableParallelism()}`], {
    cwd: ROOT,
    // What tests start by the name `node` is this one too.
    env: { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter), RAN_AS: as },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TESTS_MS,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (output = (output + text).slice(-MAX_OUTPUT)));
  }
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`the tests (${args.join(' ')}) ended with ${code}:\n${output}`);
}

function versionOf(node) {
  return JSON.parse(readFileSync(join(dirname(dirname(node)), 'package.json'), 'utf8')).version.replace(/^v/, '');
}

async function tryVersion(wanted, isOldest) {
  let node = '';
  const name = isOldest ? `${OLDEST}.0` : wanted;
  if (!(await step(`Node.js ${name} from npm`, () => (node = installNode(name, join(work, wanted)))))) return;
  const version = versionOf(node);
  if (await step(`${version}: start, send, read, stop`, () => startSendStop(node, version)))
    ran('Node.js', version, 'start, one message to `read`, stop');
  if (isOldest) {
    await step(`${version}: the client, from ES modules and CommonJS`, () =>
      tests(node, 'the client as a package', 'slow', 'test/client/package'),
    );
  } else if (!process.argv.includes('--start-only')) {
    await step(`${version}: unit tests of what stands on Node`, () =>
      tests(node, 'unit tests of what stands on Node', ...STAND_ON_NODE),
    );
  }
}

await runSteps(work, async () => {
  await buildIfStale();
  await tryVersion(OLDEST, true);
  for (const version of WITH_UNIT_TESTS) await tryVersion(version, false);
});
