import pg from 'pg';
import { withHostClock } from '../../test/support/host-clock.js';
import { openTestDatabase, type OpenTestDatabase } from '../../test/support/test-database.js';
import { loadConfig } from '../infrastructure/config/load-config.js';
import { checkDatabase } from './doctor.js';
import { checkGraphVersion } from './doctor-platform.js';
import type { Finding } from './doctor-findings.js';

let test: OpenTestDatabase;

beforeAll(async () => {
  test = await openTestDatabase();
});
afterEach(() => test.database.execute(`delete from heartbeat where name like 'sweep:%'`));
afterAll(() => test?.close());

async function found(check = 'workers'): Promise<Omit<Finding, 'check'> | undefined> {
  const config = loadConfig({ env: { NODE_ENV: 'test', DATABASE_URL: test.url }, persistSecrets: false });
  const findings = await checkDatabase(config);
  const one = findings.find((finding) => finding.check === check);
  return one && { status: one.status, detail: one.detail };
}

async function beat(name: string, secondsAgo: number, every: number | null = 1): Promise<void> {
  await test.database.execute(
    'insert into heartbeat values ($1, clock_timestamp() - make_interval(secs => $2), $3::integer)',
    [`sweep:${name}`, secondsAgo, every],
  );
}

describe('doctor, of the database', () => {
  it('fails where it takes no writes', async () => {
    expect(await found('database')).toMatchObject({ status: expect.stringMatching('ok|warn') });
    const name = new URL(test.url).pathname.slice(1);
    await test.database.execute(`alter database ${name} set default_transaction_read_only = on`);
    try {
      expect(await found('database')).toEqual({ status: 'fail', detail: expect.stringContaining('is read-only') });
    } finally {
      await test.database.execute(`alter database ${name} reset default_transaction_read_only`);
    }
  });
});

describe('doctor, of the migrations', () => {
  let other: OpenTestDatabase;

  beforeEach(async () => {
    other = await openTestDatabase();
  });
  afterEach(() => other.close());

  async function findings(): Promise<Finding[]> {
    const env = { NODE_ENV: 'test', DATABASE_URL: other.url };
    return checkDatabase(loadConfig({ env, persistSecrets: false }));
  }

  it.each([
    ['another build made', `update schema_migration set checksum = 'x'`, /by another build of Herald.*not checked$/],
    [
      'lacks a migration',
      `delete from schema_migration where name like 'Tags%'`,
      /^1 did not run: herald migrate\. .*not checked$/,
    ],
  ])('reads no table of a database that %s, and says so once', async (_what, change, detail) => {
    await other.database.execute(change);
    await other.database.execute('alter table connection drop column payment_missing_at');
    await other.database.execute('alter table heartbeat rename column beat_at to beaten_at');
    const found = await findings();
    expect(found.filter(({ status }) => status === 'fail')).toEqual([
      { check: 'migrations', status: 'fail', detail: expect.stringMatching(detail) },
    ]);
    expect(found.at(-1)?.check).toBe('transactions');
  });
});

describe('doctor, of the workers', () => {
  it('takes them for at work while every sweep succeeds in its time', async () => {
    await beat('send_due', 1);
    await beat('replay_purge', 7_200, 3_600);
    await beat('of_an_older_release', 90, null);
    expect(await found()).toEqual({ status: 'ok', detail: expect.stringMatching(/^at work \d+ s ago$/) });
  });

  it('names the sweeps that have not succeeded for a while', async () => {
    await beat('send_due', 1);
    await beat('retention', 100, 60);
    await beat('schedule', 40);
    expect(await found()).toEqual({
      status: 'fail',
      detail: expect.stringMatching(/^sweeps without a success for too long: schedule \d+ s\. /),
    });
  });

  it('warns where no process runs, and fails where one does and none of them sweeps', async () => {
    expect(await found()).toMatchObject({ status: 'warn' });
    await beat('send_due', 100);
    const stopped = { status: 'warn', detail: expect.stringMatching(/^none at work; .* Nothing is sent$/) };
    expect(await found()).toEqual(stopped);
    const listener = new pg.Client({ connectionString: test.url, application_name: 'herald-listen' });
    await listener.connect();
    try {
      expect(await found()).toEqual({
        status: 'fail',
        detail: expect.stringContaining('see the log of the workers'),
      });
    } finally {
      await listener.end();
    }
  });
});

describe('doctor, of the clocks', () => {
  const reported = (name: string, aheadSeconds: number, secondsAgo: number) =>
    test.database.execute(
      `insert into heartbeat (name, beat_at, host_ahead_seconds)
       values ($1, clock_timestamp() - make_interval(secs => $3), $2)`,
      [`clock:${name}`, aheadSeconds, secondsAgo],
    );
  afterEach(() => test.database.execute(`delete from heartbeat where name like 'clock:%'`));

  it("names each process that says its host's clock is wrong, and this machine", async () => {
    const right = { status: 'ok', detail: expect.stringMatching(/^\d+ ms from the database's$/) };
    expect(await found('clock')).toEqual(right);
    await reported('old:1', 400, 600);
    expect(await found('clock')).toEqual(right);
    await reported('pod-a:7', -3.25, 10);
    expect(await found('clock')).toEqual({
      status: 'warn',
      detail: "the clock of the process pod-a:7 is 3.3 s behind the database's: synchronise both",
    });
    await reported('pod-b:7', 31_536_000, 10);
    expect(await withHostClock(-60_000, () => found('clock'))).toEqual({
      status: 'fail',
      detail: expect.stringMatching(
        /^the clock of this host is 60 s behind .*; .* pod-b:7 is 31536000 s ahead of .*; .*pod-a:7/,
      ),
    });
  });
});

describe('doctor, of the Graph version', () => {
  const NOW = new Date('2026-12-01T00:00:00Z');
  it.each([
    ['v26.0', 'ok', 'v26.0, served until 2028-11-25 or longer'],
    ['v22.0', 'ok', 'v22.0, served until 2027-05-20 or longer'],
    [
      'v21.0',
      'warn',
      'v21.0 ends on 2027-01-21, in 51 days: set WHATSAPP_API_VERSION=v26.0, which this Herald is made for',
    ],
    ['v30.0', 'ok', 'v30.0, whose end is not known here'],
  ])('%s: %s', (version, status, detail) => {
    const env = { NODE_ENV: 'test', DATABASE_URL: test.url, WHATSAPP_API_VERSION: version };
    expect(checkGraphVersion(loadConfig({ env, persistSecrets: false }), NOW)).toEqual({ status, detail });
  });

  it('that has ended is warned of', () => {
    const env = { NODE_ENV: 'test', DATABASE_URL: test.url };
    const config = loadConfig({ env, persistSecrets: false });
    expect(checkGraphVersion(config, new Date('2028-12-01')).detail).toBe(
      'v26.0 has ended on 2028-11-25: look for a newer Herald',
    );
  });
});
