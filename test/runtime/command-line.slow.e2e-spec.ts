import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { SECRETS } from '../../src/cli/doctor.js';
import { createEmptyDatabase } from '../support/test-database.js';
import { runHerald, temporaryDataDir } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { runInProcess } from '../support/run-in-process.js';
import { entries, notify } from '../inbound/fixture.js';
import { approvedTemplate } from '../otp/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

describe('herald', () => {
  let app: TestApp;
  let env: Record<string, string>;

  beforeAll(async () => {
    app = await startTestApp();
    env = {
      DATABASE_URL: app.databaseUrl,
      DATA_DIR: app.dataDir,
      WHATSAPP_API_URL: app.simulatorUrl ?? '',
      ...(process.env.REDIS_URL === undefined ? {} : { REDIS_URL: process.env.REDIS_URL }),
    };
  });

  afterAll(async () => {
    await app.stop();
  });

  /** Runs a command without spaces in its arguments, and reads its JSON. */
  async function json<T>(command: string): Promise<T> {
    return JSON.parse(await runInProcess([...command.split(' '), '--json'], env)) as T;
  }

  it('makes a workspace that can send: workspace, subscription, key, number', async () => {
    const workspace = await json<{ id: string }>('workspace create --name Acme');
    const paid = await json<{ api_paid_until: string }>(
      `subscription set --workspace ${workspace.id} --paid-until 2099-12-31`,
    );
    expect(paid.api_paid_until).toBe('2099-12-31T23:59:59.999Z');
    const key = await json<{ key: string; scopes: string[] }>(
      `key create --workspace ${workspace.id} --scopes connections:read --expires-in 30d`,
    );
    expect(key.scopes).toEqual(['connections:read']);

    const number = { phoneNumberId: '123456789012345', wabaId: '543210987654321' };
    app.simulator.registerNumber({ ...number, displayPhoneNumber: '+1 555-010-9999', verifiedName: 'Acme' });
    const add = `connection add --workspace ${workspace.id} --token - --json`;
    const ids = `--phone-number-id ${number.phoneNumberId} --waba-id ${number.wabaId}`;
    const added = await runHerald(`${add} ${ids}`.split(' '), env, 'a-secret-token\n');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).not.toContain('a-secret-token');

    const { body } = await app.api.as(key.key).get('/connections');
    expect(body.data).toMatchObject([{ phone_number: '15550109999', status: 'connected' }]);
    const [connection] = await json<{ id: string; verified_name: string }[]>(
      `connection list --workspace ${workspace.id}`,
    );
    expect(connection?.verified_name).toBe('Acme');
    await json(`connection disconnect ${connection?.id} --workspace ${workspace.id}`);
    const after = await app.api.as(key.key).get('/connections');
    expect(after.body.data).toMatchObject([{ status: 'disconnected' }]);
  });

  it('rotates and revokes keys, and a running service follows', async () => {
    const { workspace, key } = await app.sender();
    const fresh = await json<{ id: string; key: string }>(`key rotate ${key.id} --overlap 0s`);
    // The service hears of it from the database, a moment later.
    const codeWith = async (text: string) => (await app.api.as(text).get('/connections')).body.error?.code;
    await waitFor(async () => (await codeWith(key.text)) === 'API_KEY_REVOKED', { what: 'the old key to end' });
    expect((await app.api.as(fresh.key).get('/connections')).status).toBe(200);
    await json(`key revoke ${fresh.id}`);
    await waitFor(async () => (await codeWith(fresh.key)) === 'API_KEY_REVOKED', { what: 'the new key to end' });
    const keys = await json<{ revoked_at: string | null }[]>(`key list --workspace ${workspace.id}`);
    expect(keys.map((each) => each.revoked_at !== null)).toEqual([true, true]);
  });

  it('makes a project that sends codes: sender, project, package, key', async () => {
    const { workspace } = await app.sender();
    const number = { phoneNumberId: '123456789012399', wabaId: '543210987654399' };
    app.simulator.registerNumber({ ...number, displayPhoneNumber: '+1 555-010-9998', verifiedName: 'Codes' });
    const ids = `--phone-number-id ${number.phoneNumberId} --waba-id ${number.wabaId}`;
    const set = (template: string) =>
      runHerald(`otp-sender set --token - --template ${template} --json ${ids}`.split(' '), env, 'a-secret-token\n');
    const wrong = await set('hello_world');
    expect(JSON.parse(wrong.stdout).error.message).toContain('not of the category AUTHENTICATION');
    await approvedTemplate(app.simulatorUrl ?? '', number.wabaId, 'login_code');
    const sender = await set('login_code');
    expect(sender).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(sender.stdout)).toMatchObject({ phone_number: '15550109998', languages: ['en_US'] });
    expect(sender.stdout).not.toContain('a-secret-token');

    const project = await json<{ id: string }>(
      `otp-project create --workspace ${workspace.id} --mode live --countries de,us`,
    );
    await json(`otp-package grant --project ${project.id} --country de --limit 5`);
    const key = await json<{ key: string; scopes: string[] }>(`key create --otp-project ${project.id}`);
    expect(key.scopes).toEqual(['otp:send', 'otp:verify', 'otp:read']);
    const headers = { 'idempotency-key': 'from-the-command-line' };
    const sent = await app.api.as(key.key).post('/otp/send', { to: '+4915112345678' }, { headers });
    expect(sent.status).toBe(202);
    const packages = await json<{ allowances: object[]; months: { reserved: number; used: number }[] }>(
      `otp-package list --project ${project.id}`,
    );
    expect(packages.allowances).toEqual([{ country: 'DE', monthly_limit: 5 }]);
    expect(packages.months.map(({ reserved, used }) => reserved + used)).toEqual([1]);
    const mixed = await runHerald(`key create --otp-project ${project.id} --scopes messages:read`.split(' '), env);
    expect(mixed).toMatchObject({
      code: 1,
      stderr: 'herald: KEY_SCOPES_MIXED: a key of an OTP project has scopes of OTP only\n',
    });
  });

  it('queue status counts what waits, by number', async () => {
    const { connection } = await app.sender();
    // A number that is not connected keeps what it has.
    const paused = await app.factories.connection({
      organizationId: connection.organizationId,
      status: 'disconnected',
    });
    const dueAt = new Date(Date.now() - 60_000);
    const later = new Date(Date.now() + 3_600_000);
    await app.factories.message({ connection: paused, nextAttemptAt: dueAt });
    await app.factories.message({ connection: paused, nextAttemptAt: dueAt });
    // To another recipient: behind these two it would wait for its turn, and not for its time.
    await app.factories.message({ connection: paused, nextAttemptAt: later, recipient: '4915200000001' });
    const { queues, lanes } = await json<{
      queues: { queue: string; waiting: number }[];
      lanes: { connection_id: string; oldest_due_ms: number }[];
    }>('queue status');
    expect(queues.map(({ queue }) => queue).sort()).toEqual([
      'codes',
      'files',
      'messages',
      'notifications',
      'webhooks',
    ]);
    expect(queues.find(({ queue }) => queue === 'messages')?.waiting).toBeGreaterThanOrEqual(3);
    const lane = lanes.find((each) => each.connection_id === paused.id);
    expect(lane).toMatchObject({ due: 2, queued: 3, in_flight: 0, connection_status: 'disconnected', draining: false });
    expect(lane?.oldest_due_ms).toBeGreaterThanOrEqual(60_000);
    expect(lane?.oldest_due_ms).toBeLessThan(120_000);
  });

  it.each([
    ['', /^Usage: herald/],
    ['key', /^Usage: herald key/],
    ['webhook replay --since 1h --status bogus', /argument 'bogus' is invalid\. Allowed choices are failed, all/],
    ['tail --status sent,bogus', /'sent,bogus' is invalid\. Allowed are queued, .*outcome_unknown/],
    [
      'message send --to 15550001234 --recipient DE.1 --key x --url http://127.0.0.1:9',
      /exactly one of --to and --rec/,
    ],
  ])('refuses "herald %s" with 2, before it calls anything', async (line, message) => {
    const { code, stdout, stderr } = await runHerald(line.split(' ').filter(Boolean), {});
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  it('shows the defaults in its help', async () => {
    const { stdout } = await runHerald(['events', 'list', '--help'], {});
    expect(stdout).toMatch(/--limit <n> +how many at the most \(default: 100\)/);
    expect((await runHerald(['key', 'rotate', '--help'], {})).stdout).toContain('(default: 1d)');
  });

  it('says what is wrong; exits with 1, and with 2 where the command was wrong', async () => {
    const unknown = '01890000-0000-7000-8000-000000000000';
    const text = 'There is no such workspace, or the operator key may not see it: herald workspace list.';
    const plain = await runHerald(['key', 'list', '--workspace', unknown], env);
    expect(plain).toMatchObject({ code: 1, stdout: '', stderr: `herald: WORKSPACE_NOT_FOUND: ${text}\n` });
    const asJson = await runHerald(['key', 'list', '--workspace', unknown, '--json'], env);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: 'WORKSPACE_NOT_FOUND', message: text } });
    const scopes = await runHerald(['key', 'create', '--workspace', unknown, '--scopes', 'everything'], env);
    expect(scopes.code).toBe(2);
    expect(scopes.stderr).toContain('everything is no scope');
  });

  describe('on a database of another release', () => {
    const OLDER =
      /^herald: the database's schema is older than this herald, \d+ migrations did not run: run `herald migrate`\n$/;
    const NEWER =
      "herald: the database's schema is newer than this herald: run the command of the release that made it\n";
    const tables = async (url: string): Promise<string[]> => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query<{ name: string }>('select relname as name from pg_class where oid >= 16384');
      await client.end();
      return rows.map(({ name }) => name).sort();
    };

    it('every command but migrate refuses, and changes nothing', async () => {
      const empty = await createEmptyDatabase();
      const of = { ...env, DATABASE_URL: empty.url };
      try {
        const before = await tables(empty.url);
        for (const command of ['workspace list', 'restore --dry-run']) {
          const refused = await runHerald(command.split(' '), of);
          expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(OLDER) });
        }
        expect(await tables(empty.url)).toEqual(before);

        expect(await runHerald(['migrate'], of)).toMatchObject({ code: 0, stderr: '' });
        expect(await runHerald(['workspace', 'list'], of)).toMatchObject({ code: 0, stderr: '' });

        const client = new pg.Client({ connectionString: empty.url });
        await client.connect();
        await client.query(`insert into schema_migration values ('Later9999999999999', 'x', 1)`);
        await client.end();
        expect(await runHerald(['workspace', 'list'], of)).toMatchObject({ code: 1, stdout: '', stderr: NEWER });
      } finally {
        await empty.drop();
      }
    });
  });

  it('doctor finds nothing wrong here, and what is wrong elsewhere', async () => {
    const findings = await json<{ check: string; status: string }[]>('doctor');
    expect(findings.filter((finding) => finding.status === 'fail')).toEqual([]);
    expect(findings.map((finding) => finding.check).join()).toBe(
      'settings,data folder,disk,encryption keys,billing,address,Graph version,database,migrations,connections,durability,clock,transactions,stored tokens,numbers,payment,contact book,marketing,notifications,workers,lanes,queue,WhatsApp',
    );
    const broken = {
      ...env,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      WHATSAPP_API_URL: 'http://127.0.0.1:1',
      WHATSAPP_API_VERSION: 'v99.0',
      BILLING: 'off',
    };
    const { code, stdout } = await runHerald(['doctor'], broken);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ok +billing +off: no workspace needs a subscription/m);
    expect(stdout).toMatch(/^ok +Graph version +v99\.0, whose end is not known here/m);
    expect(stdout).toMatch(/^FAIL database +can't be reached/m);
    expect(stdout).toMatch(/^FAIL WhatsApp +http:\/\/127\.0\.0\.1:1 can't be reached/m);
  });

  it('doctor refuses in production what production would, and warns of too strong a role', async () => {
    const production = {
      ...env,
      NODE_ENV: 'production',
      ROLES: 'worker',
      WHATSAPP_API_URL: 'https://127.0.0.1:1',
      ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}`,
    };
    const { stdout } = await runHerald(['doctor'], production);
    expect(stdout).toMatch(/^warn database +PostgreSQL .*; Herald's role is a superuser: give it one that only owns/m);
    expect(stdout).toMatch(
      /^warn address +PUBLIC_URL is not set: links to files .* lead to this machine; set the https/m,
    );
    const weak = await runHerald(['doctor'], { ...production, TRUST_PROXY: 'true', METRICS_TOKEN: 'short' });
    expect(weak.code).toBe(1);
    expect(weak.stdout).toMatch(/^FAIL settings +METRICS_TOKEN must be at least 16/m);
    expect(weak.stdout).toMatch(/^FAIL settings +TRUST_PROXY must not trust every address/m);
  });

  it('doctor finds nothing wrong with a database that is still empty, and changes nothing', async () => {
    const empty = await createEmptyDatabase();
    try {
      const { code, stdout } = await runHerald(['doctor'], { ...env, DATABASE_URL: empty.url });
      expect({ code, failed: stdout.match(/^FAIL.*/gm) }).toEqual({ code: 0, failed: null });
      expect(stdout).toMatch(/^warn migrations +the database is empty: herald migrate makes the tables/m);
      // Nothing is stored yet that could be looked at.
      expect(stdout).not.toMatch(/^\S+ +numbers /m);
      expect((await runHerald(['migrate'], { ...env, DATABASE_URL: empty.url })).code).toBe(0);
      const after = await runHerald(['doctor'], { ...env, DATABASE_URL: empty.url });
      expect(after).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok +numbers +none yet/m) });
    } finally {
      await empty.drop();
    }
  });

  it('doctor warns of numbers that send less, or nothing', async () => {
    const { connection } = await app.sender();
    await app.database.execute(`update connection set status = 'restricted' where id = $1`, [connection.id]);
    const { stdout } = await runHerald(['doctor'], env);
    expect(stdout).toMatch(new RegExp(`^warn numbers +\\d+ of \\d+: .*${connection.id} restricted`, 'm'));
    await app.database.execute(`update connection set status = 'connected' where id = $1`, [connection.id]);
  });

  it('doctor names what the platform sent that Herald does not know, and how often', async () => {
    const value = { messaging_product: 'whatsapp', metadata: {} };
    const changes = [
      { field: 'brand_new_field', value },
      { field: 'flows', value },
      { field: 'messages', value: { ...value, hologram_actions: [] } },
    ];
    for (let n = 0; n < 2; n++) await notify(app, entries([{ id: '1', changes }]));
    const { stdout } = await runHerald(['doctor'], env);
    expect(stdout).toMatch(
      /^warn notifications +Herald does not know brand_new_field 2, messages\.hologram_actions 2; known, but not used: flows 2\. Kept as they came for 14 days/m,
    );
  });

  it('connection add names the address where no platform answers', async () => {
    const workspace = await json<{ id: string }>('workspace create --name Nowhere');
    const add = `connection add --workspace ${workspace.id} --token - --phone-number-id 123456789012377 --waba-id 543210987654321`;
    const { code, stderr } = await runHerald(
      add.split(' '),
      { ...env, WHATSAPP_API_URL: 'http://127.0.0.1:1' },
      'token\n',
    );
    expect(code).toBe(1);
    expect(stderr).toMatch(/could not be asked about the number 123456789012377 at http:\/\/127\.0\.0\.1:1 /);
  });

  it('connection add finds the simulator of the service in its folder', async () => {
    const workspace = await json<{ id: string }>('workspace create --name Found');
    const number = { phoneNumberId: '123456789012399', wabaId: '543210987654399' };
    app.simulator.registerNumber({ ...number, displayPhoneNumber: '+1 555-010-9998', verifiedName: 'Found' });
    const file = join(app.dataDir, 'demo.json');
    writeFileSync(file, JSON.stringify({ simulator_url: app.simulatorUrl }));
    try {
      const { WHATSAPP_API_URL: _unset, ...bare } = env;
      const add = `connection add --workspace ${workspace.id} --token - --phone-number-id ${number.phoneNumberId} --waba-id ${number.wabaId}`;
      expect(await runHerald(add.split(' '), bare, 'token\n')).toMatchObject({ code: 0, stderr: '' });
    } finally {
      rmSync(file);
    }
  });

  it('doctor notices tokens that the encryption keys do not open', async () => {
    await app.sender();
    const other = { ...env, ENCRYPTION_KEYS: `7:${Buffer.alloc(32, 7).toString('base64')}` };
    const { code, stdout } = await runHerald(['doctor'], other);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^FAIL stored tokens +encrypted with key version 1, which is not in ENCRYPTION_KEYS/m);
  });

  it('doctor looks at every column that is encrypted again with a new key', async () => {
    const columns = await app.database.query<{ name: string }>(
      `select table_name || '.' || column_name as name from information_schema.columns
       where table_schema = 'public' and column_name like '%ciphertext'`,
    );
    // Of codes, which live for minutes.
    const all = [...SECRETS.map((place) => place.join('.')), 'otp_challenge.code_ciphertext'];
    expect(columns.map(({ name }) => name).toSorted()).toEqual(all.toSorted());
    const { workspace } = await app.sender();
    await app.database.execute(
      `insert into webhook_endpoint (id, organization_id, url, events, active, header_names, headers_ciphertext)
       values (uuid_v7(), $1, 'https://example.com/', '{message.received}', false, '{X-Key}', '\\x00000009aa')`,
      [workspace.id],
    );
    try {
      const { stdout } = await runHerald(['doctor'], env);
      expect(stdout).toMatch(/^FAIL stored tokens +encrypted with key version 9, which is not in ENCRYPTION_KEYS/m);
    } finally {
      await app.database.execute('delete from webhook_endpoint where organization_id = $1', [workspace.id]);
    }
  });
});

describe('herald where no service runs', () => {
  const dataDir = temporaryDataDir();
  const env = { DATA_DIR: dataDir.path };

  afterAll(() => dataDir.remove());

  it('loads what the service consists of only for commands that need it', () => {
    const hooks = `export async function load(url, context, next) {
      if (/node_modules.(@nestjs|typeorm|bullmq)/.test(url)) throw new Error('loaded ' + url);
      return next(url, context);
    }`;
    const code = `
      const { register } = await import('node:module');
      register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hooks)}));
      const { buildProgram } = await import('./dist/src/cli/program.js');
      console.log(buildProgram().commands.length > 10);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'true\n', stderr: '' });
  });

  it('starts the embedded database for the time of a command', async () => {
    const created = await runHerald(['workspace', 'create', '--name', 'Acme', '--json'], env);
    expect(created).toMatchObject({ code: 0, stderr: '' });
    const listed = await runHerald(['workspace', 'list'], env);
    expect(listed.stdout).toContain('Acme');
    const again = await runHerald(['migrate', '--json'], env);
    expect(JSON.parse(again.stdout)).toEqual({ migrations: [], reverted: [] });
  });
});
