// Builds the image of the Dockerfile and runs it against PostgreSQL and Redis: `npm run test:image`.
// There is no registry of images where this runs, so a stand-in for the base image is made of Debian's packages and
// npm's build of Node. It has the base's layout (Debian, node and npm in /usr/local, the user `node`), not its bytes.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseYaml } from '@redocly/openapi-core';
import { call } from './lib/call.mjs';
import { freePort } from './lib/free-port.mjs';
import { installNode } from './lib/npm-install.mjs';
import { run as runProgram } from './lib/run.mjs';
import { hasFailed, runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ran } from './ran.mjs';
import { ROOT } from './lib/root.mjs';

const IMAGE = 'localhost/herald:test';
const COMPOSE = parseYaml(readFileSync(join(ROOT, 'compose.yaml'), 'utf8'));
/** Of what the Dockerfile adds to its base. */
const MIB = 1024 ** 2;
const MAX_ADDED_BYTES = 250 * MIB;
const COMMAND_MS = 240_000;
const START_MS = 60_000;
const READ_MS = 30_000;
const STOP_MS = 20_000;
/** Of a program, in characters; the SBOM is the longest. */
const MAX_OUTPUT = 2_000_000;
const TOOLS = ['buildah', 'mmdebstrap', 'redis-server', 'openssl', 'setpriv', 'unshare'];
const PHONE_NUMBER_ID = '106540352242922';
const WABA_ID = '102290129340398';
const ACCESS_TOKEN = 'token-of-the-test';
const CUSTOMER = '353871234567';

const work = scratchFolder('image');
const storage = ['--root', join(work, 'storage'), '--runroot', join(work, 'run'), '--storage-driver', 'vfs'];
const children = new Set();

const run = (...command) => runProgram(...command).trim();

/** A command line without spaces in its words. */
const words = (line) => line.trim().split(/\s+/);

const buildah = (command, ...args) => run('buildah', [command, ...storage, ...args]);

function missingTools() {
  const missing = TOOLS.filter((tool) => spawnSync('which', [tool]).status !== 0);
  if (process.getuid() !== 0) missing.push('root');
  if (postgresPrograms() === null) missing.push('postgresql');
  return missing;
}

/** The folder of the newest PostgreSQL of Debian's packages, or null. */
function postgresPrograms() {
  const found = [18, 17, 16, 15]
    .map((version) => `/usr/lib/postgresql/${version}/bin`)
    .find((path) => existsSync(path));
  return found ?? null;
}

/** Starts a program whose output is kept for the message of a failure. */
function start(command, args, options = {}) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  const started = { child, output: '', ended: new Promise((resolve) => child.once('exit', resolve)) };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (started.output = (started.output + text).slice(-MAX_OUTPUT)));
  }
  children.add(started);
  void started.ended.then(() => children.delete(started));
  return started;
}

/** Waits until `ask` returns something. @throws Error after `withinMs`, or when one of `programs` has ended. */
async function until(what, withinMs, ask, ...programs) {
  const deadline = performance.now() + withinMs;
  let last = '';
  while (performance.now() < deadline) {
    const ended = programs.find(({ child }) => child.exitCode !== null);
    if (ended) throw new Error(`${what}: a program ended with ${ended.child.exitCode}:\n${ended.output}`);
    try {
      const found = await ask();
      if (found) return found;
    } catch (error) {
      last = error.message;
    }
    await sleep(100);
  }
  throw new Error(
    `${what} did not happen within ${withinMs} ms ${last}\n${programs.map(({ output }) => output).join('\n')}`,
  );
}

/** The image of the Dockerfile's `FROM`. */
function baseName() {
  return /^FROM (\S+)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1];
}

/** The base image: `FROM` of the Dockerfile, of Debian's packages and npm's build of the same version of Node. */
function makeBase() {
  const name = baseName();
  const [, version, suite] = /^node:(\d+\.\d+\.\d+)-(\w+)-slim$/.exec(name ?? '') ?? [];
  if (version === undefined)
    throw new Error(`the Dockerfile's base is ${name}; a stand-in is made for node:<version>-<Debian's release>-slim`);
  const root = join(work, 'base');
  run('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', suite, root]);
  cpSync(installNode(version, join(work, 'node')), join(root, 'usr/local/bin/node'));
  const npm = dirname(dirname(realpathSync(run('which', ['npm']))));
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const tool of ['npm', 'npx']) {
    run('ln', ['-sf', `../lib/node_modules/npm/bin/${tool}-cli.js`, join(root, 'usr/local/bin', tool)]);
  }
  run('chroot', [root, 'useradd', '--uid', '1000', '--create-home', '--shell', '/bin/bash', 'node']);
  const container = buildah('from', 'scratch');
  buildah('add', container, root, '/');
  buildah('config', '--env', 'PATH=/usr/local/bin:/usr/bin:/bin', '--cmd', 'node', container);
  buildah('commit', '--rm', container, `docker.io/library/${name}`);
  rmSync(root, { recursive: true });
  return `docker.io/library/${name}`;
}

/** Builds as `docker build` does; this machine's certificates, npm settings and npm cache are there for the build only. */
function build() {
  const setting = (name) => run('npm', ['config', 'get', name]);
  mkdirSync(setting('cache'), { recursive: true });
  const volumes = [
    [setting('cache'), '/root/.npm'],
    [setting('userconfig'), '/root/.npmrc:ro'],
    [setting('globalconfig'), '/usr/local/etc/npmrc:ro'],
    ['/etc/ssl/certs', '/etc/ssl/certs:ro'],
  ].filter(([source]) => existsSync(source));
  const mounts = volumes.flatMap((volume) => ['--volume', volume.join(':')]);
  // The format in which an image has a health check.
  buildah('bud', '--isolation', 'chroot', '--format', 'docker', '--pull-never', '--tag', IMAGE, ...mounts, ROOT);
}

function sizeOf(image) {
  const { size } = JSON.parse(run('buildah', ['images', ...storage, '--json', image]))[0];
  const [, amount, unit] = /^([\d.]+) ([KMG]?)B$/.exec(size);
  return Number(amount) * { '': 1, K: 1e3, M: 1e6, G: 1e9 }[unit];
}

/** A certificate for localhost of an authority of its own: production refuses a platform without TLS. */
function makeCertificate() {
  const key = join(work, 'platform.key');
  const cert = join(work, 'platform.crt');
  run('openssl', [
    ...words('req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost'),
    ...words(`-keyout ${key} -out ${cert}`),
  ]);
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

/** Passes HTTPS requests on to the simulator. */
async function startTls(simulatorPort, certificate) {
  const server = createHttpsServer(certificate, (request, response) => {
    const { method, url, headers } = request;
    const passed = httpRequest({ host: '127.0.0.1', port: simulatorPort, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    request.pipe(passed);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return server.address().port;
}

/** An empty cluster and a database `herald`, run by the user `postgres` of Debian's package. */
async function startPostgres() {
  const programs = postgresPrograms();
  const folder = join(work, 'postgres');
  const port = await freePort();
  const asPostgres = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];
  mkdirSync(folder);
  run('chown', ['postgres:postgres', folder]);
  run('chmod', ['a+x', work]);
  const initdb = [join(programs, 'initdb'), '--pgdata', folder, '--username=postgres', '--auth=trust', '--no-sync'];
  run('setpriv', [...asPostgres, ...initdb], { cwd: '/' });
  const server = start(
    'setpriv',
    [
      ...asPostgres,
      join(programs, 'postgres'),
      ...words(`-D ${folder} -h 127.0.0.1 -p ${port} -c fsync=off`),
      '-k',
      '',
    ],
    { cwd: '/' },
  );
  const psql = (database, sql) =>
    run(join(programs, 'psql'), ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database, '-Atc', sql]);
  await until('PostgreSQL', START_MS, () => psql('postgres', 'select 1'), server);
  psql('postgres', 'create role herald login');
  psql('postgres', 'create database herald owner herald');
  return `postgres://herald@127.0.0.1:${port}/herald`;
}

async function startRedis() {
  const port = await freePort();
  const folder = join(work, 'redis');
  mkdirSync(folder);
  const server = start('redis-server', [
    ...words(`--port ${port} --bind 127.0.0.1 --dir ${folder} --maxmemory-policy noeviction`),
    '--save',
    '',
  ]);
  const ping = () => run('redis-cli', ['-p', String(port), 'ping']) === 'PONG';
  await until('Redis', START_MS, ping, server);
  return `redis://127.0.0.1:${port}`;
}

/** The image's files, mounted; a program that runs in them sees a root that it cannot write to. */
class Container {
  constructor() {
    this.name = buildah('from', '--pull-never', IMAGE);
    this.root = buildah('mount', this.name);
    const { OCIv1 } = JSON.parse(buildah('inspect', this.name));
    const { Env, Cmd } = OCIv1.config;
    this.command = Cmd;
    this.env = Object.fromEntries(Env.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    cpSync(join(work, 'platform.crt'), join(this.root, 'data/platform.crt'));
    // A container engine writes it.
    writeFileSync(join(this.root, 'etc/hosts'), '127.0.0.1 localhost\n');
  }

  /** As `docker run --read-only --tmpfs /tmp --tmpfs /data --user node` does, on the network of this machine. */
  #arguments(command) {
    const script = [
      'mount --bind "$1" "$1"',
      'mount -t proc proc "$1/proc"',
      'mount --bind /dev "$1/dev"',
      'mount --bind "$1/data" "$1/data"',
      'mount -t tmpfs tmpfs "$1/tmp"',
      'mount -o remount,ro,bind "$1"',
      'root=$1; shift',
      'exec /usr/sbin/chroot --userspec=1000:1000 "$root" sh -c \'cd /app && exec "$@"\' sh "$@"',
    ].join(' && ');
    return ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', this.root, ...command];
  }

  /** What the program prints. Asynchronous, because this process is the platform's TLS end meanwhile. */
  async run(command, env) {
    const program = this.start(command, env);
    const code = await Promise.race([program.ended, sleep(COMMAND_MS, undefined, { ref: false })]);
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${program.output}`);
    return program.output.trim();
  }

  start(command, env) {
    return start('unshare', this.#arguments(command), { env: { ...this.env, ...env } });
  }
}

/** Waits for the message's last status, as a client does. */
async function untilRead(api, key, id) {
  const seen = () => call(`${api}/messages/${id}`, { key });
  return until('`read`', READ_MS, async () => {
    const { data: message } = await seen();
    if (message.status === 'failed') throw new Error(JSON.stringify(message));
    return message.status === 'read';
  });
}

/** A workspace that may send, a number of the simulator and an open window; one message through all of Herald. */
async function sendOne(container, settings, apiPort, simulatorPort) {
  const herald = (...command) => container.run(['herald', ...command], settings);
  const { id: workspace } = JSON.parse(await herald('workspace', 'create', '--name', 'Lighthouse Coffee', '--json'));
  await herald('subscription', 'set', '--workspace', workspace, '--paid-until', '2099-12-31');
  const { key } = JSON.parse(await herald('key', 'create', '--workspace', workspace, '--name', 'backend', '--json'));
  const connection = JSON.parse(
    await herald(
      ...words(`connection add --workspace ${workspace} --phone-number-id ${PHONE_NUMBER_ID} --waba-id ${WABA_ID}`),
      ...words(`--token ${ACCESS_TOKEN} --json`),
    ),
  );
  const inbound = { phone_number_id: PHONE_NUMBER_ID, from: CUSTOMER, message: 'Are you open?' };
  await call(`http://127.0.0.1:${simulatorPort}/_simulator/inbound`, { method: 'POST', body: JSON.stringify(inbound) });
  const api = `http://127.0.0.1:${apiPort}/api/v1`;
  const received = async () => (await call(`${api}/messages?direction=inbound`, { key })).data.length === 1;
  await until('the inbound message', READ_MS, received);
  const text = { connection_id: connection.id, to: `+${CUSTOMER}`, type: 'text', text: { body: 'Until six.' } };
  const { data: sent } = await call(`${api}/messages`, { key, method: 'POST', body: JSON.stringify(text) });
  await untilRead(api, key, sent.id);
}

/**
 * Starts what a service of compose.yaml runs, with the variables that it sets and no other.
 *
 * @param filled values of those that lead elsewhere here
 */
function startService(container, name, filled) {
  const { command = container.command, environment } = COMPOSE.services[name];
  const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, filled[key] ?? value]));
  const open = Object.keys(env).filter((key) => env[key].includes('${'));
  if (open.length > 0) throw new Error(`compose.yaml asks for ${open.join(', ')}`);
  // The platform's certificate is of an authority that only this run knows.
  return container.start(command, { ...env, NODE_EXTRA_CA_CERTS: '/data/platform.crt' });
}

async function main() {
  const missing = missingTools();
  if (missing.length > 0) {
    // Neither passed nor failed: what is missing is no fault of the image.
    process.stdout.write(`not run, for want of ${missing.join(', ')}\n`);
    ran('Image', baseName(), `not run: no ${missing.join(', ')}`);
    return;
  }
  let base = '';
  const isBuilt =
    (await step('a base image of Debian packages and Node', () => (base = makeBase()))) && (await step('build', build));
  if (!isBuilt) return;

  await step(`at most ${MAX_ADDED_BYTES / MIB} MiB above the base`, () => {
    const added = sizeOf(IMAGE) - sizeOf(base);
    process.stdout.write(`     ${Math.round(added / MIB)} MiB\n`);
    if (added > MAX_ADDED_BYTES) throw new Error(`it is ${Math.round(added / MIB)} MiB above the base`);
  });
  const certificate = makeCertificate();
  const container = new Container();
  const [apiPort, workerPort, simulatorPort] = [await freePort(), await freePort(), await freePort()];
  let settings = {};
  const hasSurroundings = await step('PostgreSQL, Redis and a platform', async () => {
    const appSecret = randomBytes(24).toString('hex');
    const simulator = container.start(
      [
        ...words(`node dist/simulator/src/main.js --port ${simulatorPort} --host-name localhost`),
        ...words(`--app-secret ${appSecret} --access-token ${ACCESS_TOKEN}`),
        ...words(`--webhook-url http://127.0.0.1:${apiPort}/platform/whatsapp/webhook --number`),
        `${PHONE_NUMBER_ID},${WABA_ID},+353 1 234 5678,Lighthouse Coffee`,
      ],
      {},
    );
    await until('the simulator', START_MS, () => simulator.output.includes('listens on'), simulator);
    const databaseUrl = await startPostgres();
    settings = {
      DATABASE_URL: databaseUrl,
      DATABASE_DIRECT_URL: databaseUrl,
      DATABASE_MIGRATE: 'false',
      REDIS_URL: await startRedis(),
      WHATSAPP_API_URL: `https://localhost:${await startTls(simulatorPort, certificate)}`,
      WHATSAPP_APP_SECRET: appSecret,
      WHATSAPP_VERIFY_TOKEN: randomBytes(12).toString('hex'),
      ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
      METRICS_TOKEN: randomBytes(24).toString('hex'),
      PUBLIC_URL: 'https://herald.example',
      NODE_EXTRA_CA_CERTS: '/data/platform.crt',
      LOG_FORMAT: 'json',
      ROLES: 'worker',
      HOST: '127.0.0.1',
    };
  });
  if (!hasSurroundings) return;

  await step('the user node, on a root that is read-only', async () => {
    const script = 'id -un; touch /app/x 2>/dev/null && echo "/app can be written to"; touch /tmp/x /data/x';
    const printed = await container.run(['sh', '-c', script], {});
    if (printed !== 'node') throw new Error(printed);
  });
  await step('an SBOM names what is installed', async () => {
    const { components } = JSON.parse(await container.run(['cat', 'sbom.cdx.json'], {}));
    const names = new Set(components.map(({ group, name }) => (group ? `${group}/${name}` : name)));
    const absent = ['@nestjs/core', 'bullmq', 'typeorm', 'pg'].filter((name) => !names.has(name));
    if (absent.length > 0)
      throw new Error(`${absent.join(', ')} not in it, but ${[...names].slice(0, 5).join(', ')} ...`);
    if (names.has('jest')) throw new Error('it names jest, which is not installed');
  });
  const { ROLES: _, ...filled } = settings;
  await step('the services of compose.yaml: migrate', async () => {
    const program = startService(container, 'migrate', filled);
    const code = await Promise.race([program.ended, sleep(COMMAND_MS, undefined, { ref: false })]);
    if (code !== 0) throw new Error(`it ended with ${code}:\n${program.output}`);
  });
  const processes = [
    startService(container, 'api', { ...filled, PORT: String(apiPort) }),
    startService(container, 'worker', { ...filled, PORT: String(workerPort) }),
  ];
  const areReady = await step('api and worker are ready', async () => {
    for (const port of [apiPort, workerPort]) {
      const isReady = async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).ok;
      await until(`/health/ready on port ${port}`, START_MS, isReady, ...processes);
    }
  });
  if (areReady) {
    await step('the health check of the image', async () => {
      const command = /CMD (\["node", "-e",.*\])$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1];
      await container.run(JSON.parse(command), { PORT: String(workerPort) });
    });
    await step('/client.tgz', async () => {
      const answer = await fetch(`http://127.0.0.1:${apiPort}/client.tgz`);
      if (!answer.ok) throw new Error(`it answers ${answer.status}`);
    });
    await step('one message, from the 202 to read', () => sendOne(container, settings, apiPort, simulatorPort));
    await step('herald doctor', () => container.run(['herald', 'doctor'], settings));
  }
  await step('both stop at SIGTERM, with exit code 0', async () => {
    for (const { child } of processes) child.kill('SIGTERM');
    for (const { child, ended, output } of processes) {
      await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })]);
      if (child.exitCode !== 0) throw new Error(`exit code ${child.exitCode}, signal ${child.signalCode}:\n${output}`);
    }
  });
  if (hasFailed()) return;
  const what = 'image: migrate, api and worker, one message to `read`, doctor, stop';
  const numberIn = (text) => /\d+\.[\d.]+/.exec(text)[0];
  ran('Image', `${baseName()} (a stand-in)`, 'build; migrate, api and worker, one message to `read`, doctor, stop');
  ran('PostgreSQL', numberIn(run(join(postgresPrograms(), 'postgres'), ['--version'])), what);
  ran('Redis', numberIn(run('redis-server', ['--version'])), what);
}

await runSteps(work, async () => {
  try {
    await main();
  } finally {
    for (const { child } of children) child.kill('SIGTERM');
    await Promise.all(
      [...children].map(({ ended }) => Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])),
    );
    for (const { child } of children) child.kill('SIGKILL');
    spawnSync('buildah', ['umount', ...storage, '--all']);
  }
});
