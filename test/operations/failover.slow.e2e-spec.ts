import { randomUUID } from 'node:crypto';
import { registerNumber } from '../support/register-number.js';
import { runHerald } from '../support/herald-process.js';
import { InstalledPostgres, installedPostgres } from '../support/rig/installed-postgres.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

/** Recipients of the messages of which the standby does not know that they were sent. */
const WAITING = ['15550101111', '15550102222', '15550103333'];
const LATER = '15550104444';

const programs = installedPostgres();
if (programs === null) {
  process.stdout.write(
    'test/operations/failover: skipped, no PostgreSQL 15 or newer of Debian with pg_basebackup here\n',
  );
}

(programs === null ? describe.skip : describe)('a promoted standby, under processes that run on', () => {
  let platform: TestApp;
  let postgres: InstalledPostgres;
  let api: TestApp;
  let worker: TestApp;
  let sender: TestSender;

  function startOn(roles: ('api' | 'worker')[]): Promise<TestApp> {
    return startTestApp({
      roles,
      shareWith: platform,
      env: {
        DATABASE_URL: postgres.url,
        DATABASE_MIGRATE: 'true',
        WHATSAPP_API_URL: platform.simulatorUrl ?? '',
        QUEUE_PREFIX: randomUUID(),
      },
    });
  }

  async function send(to: string): Promise<string> {
    const { status, body } = await api.api
      .as(sender.key.text)
      .post(
        '/messages',
        { connection_id: sender.connection.id, to: `+${to}`, type: 'text', text: { body: 'Hello' } },
        { headers: { 'idempotency-key': randomUUID() } },
      );
    expect(status).toBe(202);
    return (body.data as { id: string }).id;
  }

  async function taken(to: string): Promise<number> {
    const answer = await fetch(`${platform.simulatorUrl}/_simulator/messages?to=${to}`);
    return ((await answer.json()) as { data: unknown[] }).data.length;
  }

  const takenOfAll = (): Promise<number[]> => Promise.all([...WAITING, LATER].map(taken));

  const first = async (sql: string): Promise<boolean> =>
    (await worker.database.query<{ yes: boolean }>(`select (${sql}) as yes`))[0]?.yes === true;

  /** Lanes were noticed to be held, and the sweep of due rows has woken them at least once since. */
  async function waitUntilHeld(): Promise<void> {
    const noticed = () => first('select blocked_since is not null from database_identity').catch(() => false);
    await waitFor(noticed, { what: 'the new history to be noticed' });
    await waitFor(async () => (await api.api.get('/health/ready')).status === 200, { what: 'the api to be ready' });
  }

  async function waitForSweeps(): Promise<void> {
    const [row] = await worker.database.query<{ now: string }>('select clock_timestamp()::text as now');
    const swept = `select beat_at > '${row?.now}'::timestamptz + interval '3 seconds' from heartbeat where name = 'sweep:send_due'`;
    await waitFor(() => first(swept), { what: 'the sweep of due messages' });
  }

  const herald = async (...args: string[]) => {
    const env = {
      DATABASE_URL: postgres.url,
      DATA_DIR: platform.dataDir,
      WHATSAPP_API_URL: platform.simulatorUrl ?? '',
    };
    const { code, stdout } = await runHerald([...args, '--json'], env);
    return { code, body: JSON.parse(stdout) as unknown };
  };

  beforeAll(async () => {
    platform = await startTestApp({ roles: ['api', 'simulator'] });
    platform.simulator.applyFaults({ statuses: 'off' });
    postgres = await InstalledPostgres.start(programs ?? '');
    api = await startOn(['api']);
    sender = await api.sender();
    registerNumber(platform.simulator, sender.connection);
    for (const phone of [...WAITING, LATER]) await api.openWindow(sender, phone);
  });

  afterAll(async () => {
    await worker?.stop();
    await api?.stop();
    postgres?.remove();
    await platform?.stop();
  });

  it('sends nothing after an asynchronous one, seconds old, until herald restore, and then nothing twice', async () => {
    const ids = [];
    for (const phone of WAITING) ids.push(await send(phone));
    postgres.backUp();
    worker = await startOn(['worker']);
    await waitFor(async () => (await takenOfAll()).join() === '1,1,1,0', { what: 'the messages to be sent' });
    postgres.failOver();

    await waitUntilHeld();
    await send(LATER);
    await waitForSweeps();
    expect(await takenOfAll()).toEqual([1, 1, 1, 0]);
    const { parts } = (await api.api.get('/health/ready')).body as unknown as { parts: Record<string, unknown> };
    expect(parts.lanes).toEqual({ ok: true, detail: expect.stringContaining('herald restore') });
    const doctor = (await herald('doctor')).body as { check: string }[];
    expect(doctor.find(({ check }) => check === 'lanes')).toMatchObject({ status: 'fail' });

    expect(await herald('restore')).toMatchObject({ code: 0, body: { marked: { messages: 3, codes: 0 } } });
    await waitFor(async () => (await taken(LATER)) === 1, { what: 'the message accepted meanwhile' });
    for (const id of ids) {
      const { data } = (await api.api.as(sender.key.text).get(`/messages/${id}`)).body;
      expect(data).toMatchObject({ status: 'outcome_unknown', error: { code: 'RESTORED' } });
    }
    await waitForSweeps();
    expect(await takenOfAll()).toEqual([1, 1, 1, 1]);
  });

  it('goes on after a planned one with herald restore --nothing-lost, and what waited is sent once', async () => {
    postgres.switchOver();
    await waitUntilHeld();
    await send(LATER);
    await waitForSweeps();
    expect(await takenOfAll()).toEqual([1, 1, 1, 1]);
    expect(await herald('queue', 'status')).toMatchObject({ body: { held: true } });
    expect(await herald('restore', '--nothing-lost')).toMatchObject({ code: 0, body: { adopted: true } });
    await waitFor(async () => (await taken(LATER)) === 2, { what: 'the message that waited' });
    await waitForSweeps();
    expect(await takenOfAll()).toEqual([1, 1, 1, 2]);
  });
});
