import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { hasPgBouncer, PgBouncer, SERVER_LIMITS, type PgBouncerOptions } from '../support/rig/pgbouncer.js';
import { hasRedis, startRedis } from '../support/rig/redis.js';
import { Scope } from '../support/rig/scope.js';
import { checkDatabase } from '../../src/cli/doctor.js';
import { requireDatabase } from '../../src/bootstrap/database.js';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { migrate } from '../../src/infrastructure/database/migrate.js';
import { Partitions } from '../../src/infrastructure/database/partitions.js';
import { poolingOf } from '../../src/infrastructure/database/pooler.js';
import { codesSentTo, mobile, otpApp, setSender } from '../otp/fixture.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

const isHere = await hasPgBouncer();
if (!isHere) process.stderr.write('not run, for want of pgbouncer\n');
const withPgBouncer = isHere ? describe : describe.skip;

withPgBouncer('what lends the connections', () => {
  const scope = new Scope();
  let test: TestDatabase;
  let other: TestDatabase;

  beforeAll(async () => {
    [test, other] = [await createTestDatabase(), await createTestDatabase()];
  });
  afterAll(async () => {
    await scope.close();
    await test?.drop();
    await other?.drop();
  });

  const found = (url: string) => poolingOf(url, () => Promise.resolve());
  const pooler = async (options?: PgBouncerOptions, url = test.url) =>
    (await PgBouncer.start(scope, url, options)).through(url);

  it('is PostgreSQL itself', async () => {
    expect(await found(test.url)).toBe('none');
  });

  it.each<[string, PgBouncerOptions, string]>([
    ['session mode', { mode: 'session' }, 'session'],
    ['transaction mode', {}, 'transaction'],
    ['transaction mode with a single connection', { poolSize: 1 }, 'transaction'],
    ['transaction mode with two by turns', { poolSize: 2, settings: { server_round_robin: '1' } }, 'transaction'],
    ['transaction mode with five by turns', { poolSize: 5, settings: { server_round_robin: '1' } }, 'transaction'],
  ])('is a pooler in %s', async (_, options, expected) => {
    const url = await pooler(options);
    expect(await found(url)).toBe(expected);
    // All connections that it may have are open, and in use by others while it is asked.
    const pool = new pg.Pool({ connectionString: url, max: options.mode === 'session' ? 3 : 8 });
    let over = false;
    const noise = Array.from({ length: pool.options.max }, async () => {
      while (!over) await pool.query('select pg_sleep(0.001)');
    });
    try {
      for (let n = 0; n < 5; n++) expect(await found(url)).toBe(expected);
    } finally {
      over = true;
      await Promise.all(noise);
      await pool.end();
    }
  });

  const settingsOf = (DATABASE_URL: string, DATABASE_DIRECT_URL = '') =>
    loadConfig({ env: { NODE_ENV: 'test', DATABASE_URL, DATABASE_DIRECT_URL }, persistSecrets: false });
  const refusal = (...urls: Parameters<typeof settingsOf>) =>
    requireDatabase(settingsOf(...urls).database).then(
      () => null,
      (error: Error) => [error.name, error.message],
    );

  it('a start is refused where something of it could not work, by a sentence that names the setting', async () => {
    const url = await pooler({ connectQuery: SERVER_LIMITS });
    expect(await refusal(url)).toEqual([
      'StartError',
      'DATABASE_URL leads to a pooler in transaction mode, and some of the work needs a session: set DATABASE_DIRECT_URL to PostgreSQL itself',
    ]);
    expect(await refusal(test.url, url)).toEqual([
      'StartError',
      'DATABASE_DIRECT_URL leads to a pooler in transaction mode, which keeps no session: set it to PostgreSQL itself',
    ]);
    expect(await refusal(url, other.url)).toEqual([
      'StartError',
      'DATABASE_DIRECT_URL leads to another database than DATABASE_URL: set both to the same database of one server',
    ]);
    expect(await refusal(await pooler(), test.url)).toEqual([
      'StartError',
      `behind the pooler of DATABASE_URL Herald cannot set statement_timeout and idle_in_transaction_session_timeout, which the role must bring there: run "alter role <role> set statement_timeout = '10000ms'" and "alter role <role> set idle_in_transaction_session_timeout = '30s'", then have the pooler reconnect`,
    ]);
    expect((await refusal(test.url, 'postgres://127.0.0.1:1/none'))?.[1]).toMatch(/check DATABASE_DIRECT_URL$/);
    const unknown = await pooler({ database: 'elsewhere' });
    expect((await refusal(unknown))?.[1]).toMatch(/can't be reached \(bouncer config error\).*check DATABASE_URL$/);
  });

  it('a start notes it, and the doctor reports it', async () => {
    const url = await pooler({ connectQuery: SERVER_LIMITS });
    const config = settingsOf(url, test.url);
    const findings = await checkDatabase(config);
    expect(config.database).toMatchObject({ pooling: 'transaction', directPooling: 'none' });
    expect(findings.find(({ check }) => check === 'pooler')).toEqual({
      check: 'pooler',
      status: 'ok',
      detail: 'DATABASE_URL is a pooler in transaction mode, sessions go by DATABASE_DIRECT_URL',
    });
    expect(findings.find(({ check }) => check === 'connections')?.detail).toMatch(
      /^a process opens up to 1 besides the pooler's; /,
    );
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([]);
  });

  it("a migration has no time limit, whatever the role's is", async () => {
    const empty = await createEmptyDatabase();
    try {
      const client = new pg.Client({ connectionString: empty.url });
      await client.connect();
      await client.query(`alter database ${new URL(empty.url).pathname.slice(1)} set statement_timeout = '1ms'`);
      await client.end();
      expect((await migrate(empty.url)).length).toBeGreaterThan(10);
    } finally {
      await empty.drop();
    }
  });
});

const QUEUES = (await hasRedis()) ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const);
const MODES = ['transaction', 'session'] as const;
const WAYS = QUEUES.flatMap((queue) => MODES.map((mode) => ({ queue, mode })));

withPgBouncer.each(WAYS)('a service behind a pooler in $mode mode, its queue on $queue', ({ queue, mode }) => {
  const scope = new Scope();
  let stored: TestDatabase;
  let pooler: PgBouncer;
  let test: TestApp;
  let sender: TestSender;

  beforeAll(async () => {
    // Without a table: the start migrates.
    stored = await createEmptyDatabase();
    pooler = await PgBouncer.start(scope, stored.url, {
      mode,
      ...(mode === 'transaction' && { connectQuery: SERVER_LIMITS, poolSize: 4 }),
    });
    const urls = {
      DATABASE_URL: pooler.through(stored.url),
      DATABASE_DIRECT_URL: mode === 'transaction' ? stored.url : '',
      DATABASE_MIGRATE: 'true',
      REDIS_URL: queue === 'Redis' ? await startRedis(scope) : '',
    };
    test = await startTestApp({ env: urls, database: stored });
    sender = await test.sender();
  });
  afterAll(async () => {
    await test?.stop();
    await scope.close();
  });

  const send = async (phone: string, idempotencyKey: string = randomUUID()) =>
    sender.api.post(
      '/messages',
      { connection_id: sender.connection.id, to: `+${phone}`, type: 'text', text: { body: 'Hello' } },
      { headers: { 'idempotency-key': idempotencyKey } },
    );
  const isRead = async (id: string) => (await sender.api.get(`/messages/${id}`)).body.data.status === 'read';

  it('sends what many ask for at once, and each once', async () => {
    const phones = await Promise.all(Array.from({ length: 40 }, async () => (await test.openWindow(sender)).phone));
    const answers = await Promise.all(phones.map((phone) => send(phone)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    for (const { body } of answers) await waitFor(() => isRead(body.data.id as string));
    const attempts = await test.database.query('select 1 from message_attempt_view');
    expect(attempts).toHaveLength(40);
  });

  it('knows a repeated key', async () => {
    const { phone } = await test.openWindow(sender);
    const key = randomUUID();
    const [first, again] = [await send(phone, key), await send(phone, key)];
    expect([first.status, again.status, again.body.data.id]).toEqual([202, 202, first.body.data.id]);
  });

  it('has no statement of its own on the connections that it shares', async () => {
    if (mode === 'session') return;
    for (let n = 0; n < 8; n++) {
      expect(await test.database.query('select name from pg_prepared_statements')).toEqual([]);
    }
  });

  it('sends a one-time code', async () => {
    await setSender(test);
    const shop = await otpApp(test, 'live', { packages: { DE: 10 } });
    const to = mobile();
    const { body } = await shop.send(to);
    await shop.reaches(body.data.id, 'read', 'delivered', 'sent');
    const [code] = await codesSentTo(test, to.slice(1));
    expect((await shop.verify(body.data.id, code?.code ?? '')).status).toBe(200);
  });

  it('hears of a change that another process made', async () => {
    const { key, api } = await test.sender();
    expect((await api.get('/messages')).status).toBe(200);
    await test.database.execute('update api_key set revoked_at = now() where id = $1', [key.id]);
    await test.database.execute('select pg_notify($1, $2)', ['herald_cache', `api_key ${key.id}`]);
    await waitFor(async () => (await api.get('/messages')).status === 401);
  });

  it('makes and drops the partitions of days, under a lock that outlasts a transaction', async () => {
    const days = test.app.get(Partitions);
    const table = 'webhook_delivery';
    const before = await days.list(table);
    const last = before.at(-1)?.name ?? '';
    await test.database.execute(`drop table ${last}`);
    const made = await Promise.all([1, 2, 3].map(() => days.makeAhead(table, 'day')));
    expect(made.toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
    expect((await days.list(table)).map(({ name }) => name)).toEqual(before.map(({ name }) => name));
    // The queue takes some for the time of a statement; what stays is ours.
    const locks = `select 1 from pg_locks where locktype = 'advisory'`;
    await waitFor(async () => (await test.database.query(locks)).length === 0, { what: 'no lock to be left' });
  });

  it('goes on by itself after the pooler was killed', async () => {
    const { phone } = await test.openWindow(sender);
    await pooler.kill();
    expect((await send(phone)).status).toBe(503);
    await pooler.restart();
    const answer = await waitFor(async () => {
      const tried = await send(phone);
      return tried.status === 202 && tried;
    });
    await waitFor(() => isRead(answer.body.data.id as string));
  });
});
