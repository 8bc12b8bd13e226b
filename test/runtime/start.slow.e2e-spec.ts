import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { FOREIGN_SCHEMA } from '../../src/infrastructure/database/schema-state.js';
import { ApiClient } from '../support/api-client.js';
import { embeddedPostgresPid, HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { createTestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

interface DemoFile {
  base_url: string;
  api_key: string;
  otp_sandbox_key: string;
  otp_live_key: string;
  connection_id: string;
  simulator_url: string;
  recipients: { to: string; outcome: string }[];
}

function readDemo(dataDir: string): DemoFile {
  return JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8')) as DemoFile;
}

describe('npm start without any setting', () => {
  const dataDir = temporaryDataDir();
  let herald: HeraldProcess;
  let first: DemoFile;

  beforeAll(async () => {
    herald = await HeraldProcess.start({ DATA_DIR: dataDir.path });
    first = readDemo(dataDir.path);
  });

  afterAll(async () => {
    await herald.end('SIGKILL');
    const pid = embeddedPostgresPid(dataDir.path);
    if (pid !== null) process.kill(pid, 'SIGINT');
    await waitFor(() => embeddedPostgresPid(dataDir.path) === null);
    dataDir.remove();
  });

  it('writes demo.json for its owner only', () => {
    expect(statSync(join(dataDir.path, 'demo.json')).mode & 0o777).toBe(0o600);
    expect(first).toMatchObject({
      base_url: herald.ready.base_url,
      api_url: `${herald.ready.base_url}/api/v1`,
      api_key: expect.stringMatching(/^hrld_live_/),
      operator_key: expect.stringMatching(/^hrld_admin_/),
    });
    expect(first.recipients).toHaveLength(13);
  });

  it('prints a first call that works as it is printed', async () => {
    // The line "ready" comes over another pipe and may be read before.
    const command = await waitFor(() => /^ +curl [\s\S]*? -d '.*'$/m.exec(herald.stderr)?.[0]);
    const answer = execFileSync('bash', ['-c', command], { encoding: 'utf8' });
    expect(JSON.parse(answer)).toEqual({ data: { id: expect.any(String), status: 'queued' } });
  });

  it('has an open window with every number of the demo', async () => {
    const api = new ApiClient(first.base_url, first.api_key);
    for (const { to } of first.recipients) {
      const message = { connection_id: first.connection_id, to, type: 'text', text: { body: 'Hello' } };
      const answer = await api.post('/messages', message, { headers: { 'idempotency-key': crypto.randomUUID() } });
      expect({ to, status: answer.status }).toEqual({ to, status: 202 });
    }
  });

  it('sends codes: a sandbox answers with them, a live project sends them over the simulator', async () => {
    const headers = { 'idempotency-key': crypto.randomUUID() };
    const sandbox = new ApiClient(first.base_url, first.otp_sandbox_key);
    const { body } = await sandbox.post('/otp/send', { to: '+4915112345678' }, { headers });
    const verified = await sandbox.post('/otp/verify', { id: body.data.id, code: body.data.test_code });
    expect(verified.body.data.status).toBe('verified');

    const live = new ApiClient(first.base_url, first.otp_live_key);
    const sent = await live.post('/otp/send', { to: '+4915112345678' }, { headers });
    expect(sent.status).toBe(202);
    await waitFor(async () => (await live.get(`/otp/${sent.body.data.id}`)).body.data.status === 'read');
  });

  it('refuses a second start on the same data with one sentence', async () => {
    const second = await HeraldProcess.launch({ DATA_DIR: dataDir.path }).untilEnded();
    expect(second.code).toBe(1);
    expect(JSON.parse(second.stderr)).toMatchObject({
      level: 'fatal',
      msg: expect.stringMatching(/^Herald cannot start: /),
    });
  });

  it('ends on SIGTERM with 0 and takes the database along; the next start has the same workspace and key', async () => {
    const ended = await herald.end('SIGTERM');
    expect(ended).toMatchObject({ code: 0, signal: null });
    expect(embeddedPostgresPid(dataDir.path)).toBeNull();

    herald = await HeraldProcess.start({ DATA_DIR: dataDir.path });
    const second = readDemo(dataDir.path);
    expect(second).toMatchObject({ api_key: first.api_key, connection_id: first.connection_id });
    const { body } = await new ApiClient(second.base_url, second.api_key).get('/messages');
    expect(body.data.length).toBeGreaterThan(0);
  });

  it('stops on SIGHUP as on SIGTERM', async () => {
    expect(await herald.end('SIGHUP')).toMatchObject({ code: 0, signal: null });
    herald = await HeraldProcess.start({ DATA_DIR: dataDir.path });
  });

  it('comes back after kill -9, with the database that lived on', async () => {
    await herald.end('SIGKILL');
    expect(embeddedPostgresPid(dataDir.path)).not.toBeNull();
    herald = await HeraldProcess.start({ DATA_DIR: dataDir.path });
    const { status } = await new ApiClient(herald.ready.base_url, first.api_key).get('/connections');
    expect(status).toBe(200);
  });

  it('ends with 1 when the database ends under it, and comes back at the next start', async () => {
    const pid = embeddedPostgresPid(dataDir.path);
    // Without a server, 0 would stand for every process of these tests.
    if (pid === null) throw new Error('no database runs');
    process.kill(pid, 'SIGKILL');
    const ended = await herald.untilEnded();
    expect(ended).toMatchObject({ code: 1, signal: null });
    expect(ended.stdout).toContain('the embedded PostgreSQL ended by itself');
    herald = await HeraldProcess.start({ DATA_DIR: dataDir.path });
    const { body } = await new ApiClient(herald.ready.base_url, first.api_key).get('/messages');
    expect(body.data.length).toBeGreaterThan(0);
  });

  it('stops at once on a second Ctrl-C, and still takes the database along', async () => {
    herald.signal('SIGINT');
    const ended = await herald.end('SIGINT');
    expect([0, 130]).toContain(ended.code);
    expect(embeddedPostgresPid(dataDir.path)).toBeNull();
  });
});

/** Says whether the SDK is among what a start with the settings of its environment has loaded. */
const LOADED_WITH_TRACES = `
const { createRequire } = await import('node:module');
await import('./dist/src/bootstrap/application.js');
const { loadConfig } = await import('./dist/src/infrastructure/config/load-config.js');
const { Counters } = await import('./dist/src/infrastructure/operations/counters.js');
const { Tracing } = await import('./dist/src/infrastructure/operations/tracing.js');
await Tracing.open(loadConfig({ persistSecrets: false }), new Counters());
const modules = Object.keys(createRequire(process.cwd() + '/').cache);
console.log(modules.some((path) => path.includes('@opentelemetry/sdk-trace')));
process.exit(0);`;

it.each([
  ['no', {}, 'false\n'],
  ['an', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, 'true\n'],
  ['a disabled', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', OTEL_SDK_DISABLED: 'true' }, 'false\n'],
])('loads the SDK of traces where they are wanted: with %s address of a collector', (_, settings, loaded) => {
  const env = { PATH: process.env.PATH, NODE_ENV: 'test', ...settings };
  const args = ['--input-type=module', '--eval', LOADED_WITH_TRACES];
  expect(execFileSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' })).toBe(loaded);
});

/** Else they are generated, and kept in DATA_DIR. */
const SECRETS = {
  ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
  WHATSAPP_APP_SECRET: 'secret-of-a-test',
  WHATSAPP_VERIFY_TOKEN: 'token-of-a-test',
};

describe('a start that cannot be', () => {
  it('names all invalid settings together and exits with 78', async () => {
    const env = { PORT: 'many', LOG_LEVEL: 'loud', NODE_ENV: 'production' };
    const { code, stderr } = await HeraldProcess.launch(env).untilEnded();
    expect(code).toBe(78);
    const { level, msg } = JSON.parse(stderr) as { level: string; msg: string };
    expect(level).toBe('fatal');
    expect(msg).toContain('PORT must be a whole number');
    expect(msg).toContain('LOG_LEVEL must be one of');
    expect(msg).toContain('DATABASE_URL must be set in production');
    expect(msg).not.toContain('    at ');
    const readable = await HeraldProcess.launch({ ...env, LOG_FORMAT: 'pretty' }).untilEnded();
    expect(readable.stderr).toBe(`${msg}\n`);
  });

  it('says that the database offers no TLS', async () => {
    const database = await createTestDatabase();
    const dataDir = temporaryDataDir();
    const url = new URL(database.url);
    url.searchParams.set('sslmode', 'require');
    const { code, stderr } = await HeraldProcess.launch({
      DATABASE_URL: url.href,
      DATA_DIR: dataDir.path,
    }).untilEnded();
    await database.drop();
    dataDir.remove();
    expect(code).toBe(1);
    // The driver says before that the meaning of sslmode will change.
    const line = stderr.trim().split('\n').at(-1) ?? '';
    expect((JSON.parse(line) as { msg: string }).msg).toMatch(
      /^Herald cannot start: the database \w+ at [\w.]+:\d+ offers no TLS: turn it on there, or set sslmode=disable in DATABASE_URL$/,
    );
  });

  it('says that files cannot be written', async () => {
    const database = await createTestDatabase();
    const { code, stderr } = await HeraldProcess.launch({
      DATABASE_URL: database.url,
      DATA_DIR: '/proc/nowhere',
      ...SECRETS,
    }).untilEnded();
    await database.drop();
    expect(code).toBe(1);
    const generated = await HeraldProcess.launch({ DATA_DIR: '/proc/nowhere' }).untilEnded();
    expect(generated.code).toBe(78);
    expect((JSON.parse(generated.stderr) as { msg: string }).msg).toContain(
      "DATA_DIR names /proc/nowhere, which can't be read or written: ENOENT",
    );
    expect((JSON.parse(stderr) as { msg: string }).msg).toBe(
      "Herald cannot start: the folder /proc/nowhere can't be written (ENOENT): give this user the right to write there, or set DATA_DIR or MEDIA_DIR",
    );
  });

  it.each(['true', 'false'])('says that another build made the database: DATABASE_MIGRATE=%s', async (migrates) => {
    const database = await createTestDatabase();
    const dataDir = temporaryDataDir();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`update schema_migration set checksum = 'x' where name like 'Media%'`);
    await client.end();
    const env = { DATABASE_URL: database.url, DATA_DIR: dataDir.path, DATABASE_MIGRATE: migrates };
    const { code, stderr } = await HeraldProcess.launch(env).untilEnded();
    await database.drop();
    dataDir.remove();
    expect(code).toBe(1);
    expect((JSON.parse(stderr) as { msg: string }).msg).toBe(`Herald cannot start: ${FOREIGN_SCHEMA}`);
  });

  it('says which port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const database = await createTestDatabase();
    const dataDir = temporaryDataDir();
    const { code, stderr } = await HeraldProcess.launch({
      DATABASE_URL: database.url,
      DATA_DIR: dataDir.path,
      PORT: String(port),
    }).untilEnded();
    other.close();
    await database.drop();
    dataDir.remove();
    expect(code).toBe(1);
    expect((JSON.parse(stderr) as { msg: string }).msg).toBe(
      `Herald cannot start: port ${port} is in use by another program: stop it, or start Herald with PORT=<another port>`,
    );
  });
});
