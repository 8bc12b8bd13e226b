// Installs the bridge to Chatwoot into an empty folder and plays its story: `npm run test:chatwoot [-- --keep]`. The built Herald, the
// simulator, and a stand-in for Chatwoot that is made of its API description; both Herald and the bridge are killed on the way.
// It takes the bridge's tools from the npm registry, so it is not part of `npm test`.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildIfStale } from './build-if-stale.mjs';
import { freePort } from './lib/free-port.mjs';
import { ROOT } from './lib/root.mjs';
import { run } from './lib/run.mjs';
import { hasFailed, runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ran } from './ran.mjs';

const START_WITHIN_MS = 120_000;
const APP_SECRET = 'chatwoot-test-app-secret';
const scratch = scratchFolder('chatwoot');
const folder = join(scratch, 'integrations/chatwoot');
const user = join(scratch, 'empty');
const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
const environment = { PATH: process.env.PATH, HOME: process.env.HOME };

function install() {
  const skip = /(^|\/)(node_modules|dist)(\/|$)/;
  const source = join(ROOT, 'integrations/chatwoot');
  cpSync(source, folder, { recursive: true, filter: (path) => !skip.test(path.slice(source.length)) });
  mkdirSync(join(scratch, 'dist/downloads'), { recursive: true });
  cpSync(join(ROOT, 'dist/downloads/client.tgz'), join(scratch, 'dist/downloads/client.tgz'));
  run('npm', ['install', '--ignore-scripts', ...quiet], { cwd: folder });
}

/** As a user does it: nothing but the packed file, which contains the client. */
function installPacked() {
  run('npm', ['pack', ...quiet], { cwd: folder });
  const [packed] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  mkdirSync(user);
  run('npm', ['install', '--offline', ...quiet, join(folder, packed)], { cwd: user });
}

/** A program that can be killed and started again. */
class Program {
  output = '';
  #child = null;
  #ended = Promise.resolve(null);

  constructor(name, command, env, isReady) {
    Object.assign(this, { name, command, env, isReady });
  }

  async start() {
    const [program, ...args] = this.command;
    const child = spawn(program, args, { env: { ...environment, ...this.env }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once('close', resolve));
    const from = this.output.length;
    const deadline = setTimeout(() => child.kill('SIGKILL'), START_WITHIN_MS);
    await new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk) => {
          this.output += String(chunk);
          if (this.isReady.test(this.output.slice(from))) resolve();
        });
      child.once('close', () => reject(new Error(`${this.name} ended:\n${this.output.slice(from).slice(-4_000)}`)));
    }).finally(() => clearTimeout(deadline));
  }

  async kill() {
    this.#child?.kill('SIGKILL');
    await this.#ended;
  }

  /** @returns its exit code */
  async stop() {
    this.#child?.kill('SIGTERM');
    return this.#ended;
  }
}

async function startWorld() {
  const [heraldPort, simulatorPort, bridgePort] = [await freePort(), await freePort(), await freePort()];
  const webhook = `http://127.0.0.1:${heraldPort}/platform/whatsapp/webhook`;
  const simulator = new Program(
    'the simulator',
    [
      process.execPath,
      join(ROOT, 'dist/simulator/src/main.js'),
      '--port',
      String(simulatorPort),
      '--webhook-url',
      webhook,
    ].concat(['--app-secret', APP_SECRET]),
    {},
    /http:/,
  );
  const dataDir = join(scratch, 'data');
  const herald = new Program(
    'Herald',
    [process.execPath, join(ROOT, 'dist/src/main.js')],
    {
      PORT: String(heraldPort),
      ROLES: 'api,worker',
      WHATSAPP_API_URL: `http://127.0.0.1:${simulatorPort}`,
      WHATSAPP_APP_SECRET: APP_SECRET,
      DATA_DIR: dataDir,
      LOG_FORMAT: 'json',
    },
    /"msg":"ready"/,
  );
  await simulator.start();
  await herald.start();
  const demo = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'));
  const { StandIn } = await import(pathToFileURL(join(folder, 'test/stand-in.mjs')).href);
  const standIn = await new StandIn().start();
  const env = {
    HERALD_URL: demo.base_url,
    HERALD_API_KEY: demo.api_key,
    HERALD_CONNECTION_ID: demo.connection_id,
    CHATWOOT_URL: standIn.url,
    CHATWOOT_TOKEN: standIn.token,
    CHATWOOT_ACCOUNT_ID: String(standIn.accountId),
    BRIDGE_URL: `http://127.0.0.1:${bridgePort}`,
    HOST: '127.0.0.1',
    PORT: String(bridgePort),
    DATA_DIR: join(user, 'data'),
    MAX_FILE_MIB: '2',
  };
  const cli = join(user, 'node_modules/.bin/herald-chatwoot');
  const bridge = new Program('the bridge', [cli, 'start'], env, /"msg":"ready"/);
  const get = async (path) => {
    const answer = await fetch(`${demo.base_url}/api/v1${path}`, {
      headers: { authorization: `Bearer ${demo.api_key}` },
    });
    assert.equal(answer.status, 200);
    return answer.json();
  };
  /** What the journal says, to compare what arrived with. */
  herald.latestMedia = async (direction = 'inbound', type = 'image') => {
    const { data } = await get('/media?limit=50');
    return data.find((media) => media.direction === direction && media.type === type);
  };
  herald.unknownTexts = async () => {
    const { data } = await get('/messages?direction=outbound&status=outcome_unknown&limit=100');
    return new Set(data.map(({ body }) => body));
  };
  herald.firstCursor = async () => (await get('/events?limit=1')).data[0].cursor;
  bridge.goBackTo = async (cursor) => appendFile(join(env.DATA_DIR, 'state.jsonl'), `${JSON.stringify({ cursor })}\n`);
  herald.countInbound = async (word) => {
    let count = 0;
    for (let place = ''; ;) {
      const { data, pagination } = await get(`/messages?direction=inbound&limit=100${place}`);
      count += data.filter(({ body }) => body?.startsWith(word)).length;
      if (pagination.next_before === null) return count;
      place = `&before=${encodeURIComponent(pagination.next_before)}&before_id=${pagination.next_before_id}`;
    }
  };
  return {
    demo,
    env,
    cli,
    herald,
    bridge,
    standIn,
    simulator: `http://127.0.0.1:${simulatorPort}`,
    phoneNumberId: demo.phone_number_id,
    bridgeUrl: env.BRIDGE_URL,
    async stop() {
      await bridge.stop();
      await herald.stop();
      await simulator.stop();
      await standIn.stop();
    },
  };
}

/** @returns what it printed, and its exit code */
function command({ cli }, name, env) {
  return spawnAsync(cli, [name], { ...environment, ...env });
}

function spawnAsync(program, args, env) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

async function checkSetup(world) {
  const { env, standIn, demo } = world;
  const refused = async (change, words) => {
    const { code, output } = await command(world, 'setup', { ...env, ...change });
    assert.equal(code, 1);
    assert.match(output, words);
    assert(!output.includes(demo.api_key) && !output.includes(standIn.token), 'a secret is shown');
  };
  await refused(
    { HERALD_API_KEY: '', CHATWOOT_URL: 'chat', PORT: 'x' },
    /HERALD_API_KEY is missing[^]*CHATWOOT_URL is no[^]*PORT is no/,
  );
  await refused({ HERALD_API_KEY: demo.otp_live_key }, /does not help|lacks scopes/);
  await refused({ HERALD_CONNECTION_ID: '' }, /several numbers/);
  await refused({ CHATWOOT_TOKEN: 'wrong' }, /CHATWOOT_TOKEN/);
  standIn.version = '4.12.1';
  await refused({}, /4\.13/);
  standIn.version = '4.13.0';
  standIn.role = 'agent';
  await refused({}, /administrator/);
  standIn.role = 'administrator';
  const early = await command(world, 'start', env);
  assert.equal(early.code, 1);
  assert.match(early.output, /setup/);
  assert.equal(standIn.inboxes.length, 0, 'a refused setup has changed something');
  const first = await command(world, 'setup', env);
  assert.equal(first.code, 0, first.output);
  assert.match(first.output, /made inbox/);
  const again = await command(world, 'setup', env);
  assert.match(again.output, /already/);
  assert.equal(standIn.inboxes.length, 1);
  standIn.inboxes[0].webhook_url = 'http://elsewhere.example/';
  const moved = await command(world, 'setup', env);
  assert.match(moved.output, /now/);
  assert.equal(standIn.inboxes[0].webhook_url, `${env.BRIDGE_URL}/callback`);
  assert.equal(standIn.inboxes[0].lock_to_single_conversation, true);
}

async function checkEnd({ bridge, bridgeUrl, demo, standIn, env }) {
  const health = await fetch(`${bridgeUrl}/health`);
  assert.equal(health.status, 200, await health.text());
  assert.equal(await bridge.stop(), 0, 'the bridge did not stop as asked');
  const said = [
    demo.api_key,
    standIn.token,
    standIn.inboxes[0].secret,
    'Where is my order',
    'Anything else',
    '15550007001',
  ];
  for (const secret of said) assert(!bridge.output.includes(secret), `the log has ${secret}`);
  const mode = spawnSync('stat', ['-c', '%a', join(env.DATA_DIR, 'state.jsonl')], { encoding: 'utf8' }).stdout.trim();
  assert.equal(mode, '600');
}

async function play(world) {
  const { storyOf } = await import(pathToFileURL(join(folder, 'test/story.mjs')).href);
  const story = storyOf(world);
  if (!(await step('setup: refusals, once, again', () => checkSetup(world)))) return;
  if (!(await step('start', () => world.bridge.start()))) return;
  let counted = '';
  const parts = {
    'customers write': story.customerWrites,
    'agents answer': story.agentAnswers,
    'files both ways': story.filesBothWays,
    'sent from the phone, and no loop': story.sentElsewhere,
    'a closed window, Retry, failures': story.closedWindow,
    'people and numbers': story.peopleAndNumbers,
    'resolved conversations': story.resolvedConversations,
    'Herald is away': story.heraldAway,
    'kills of Herald and the bridge': async () => (counted = await story.kills()),
    'an unknown outcome': story.unknownOutcome,
    'all events once more': story.eventsAgain,
    'a contact is deleted': story.contactsChange,
    'requests as described': async () => story.finish(),
    'health, stop, log': () => checkEnd(world),
  };
  for (const [name, work] of Object.entries(parts)) await step(name, work);
  if (counted !== '') process.stdout.write(`counted: ${counted}\n`);
  if (hasFailed()) process.stdout.write(`${world.bridge.output.slice(-6_000)}\n`);
}

await runSteps(scratch, async () => {
  const ready = await step('install', async () => {
    await buildIfStale();
    install();
  });
  if (!ready) return;
  if (!(await step('build, pack, install into an empty folder', installPacked))) return;
  if (!(await step('unit tests', () => run('npm', ['test', '--silent'], { cwd: folder })))) return;
  const world = await startWorld();
  try {
    await play(world);
  } finally {
    await world.stop();
  }
  if (!hasFailed()) ran('Chatwoot', 'stand-in for 4.13', 'the bridge: install, setup, both directions, kills');
});
