import { randomUUID } from 'node:crypto';
import { registerNumber } from '../support/register-number.js';
import { runHerald } from '../support/herald-process.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

/** Recipients of the messages that wait in the backup. */
const WAITING = ['15550101111', '15550102222', '15550103333'];

describe('a backup that is restored', () => {
  let platform: TestApp;
  let lived: TestDatabase;
  let backup: TestDatabase;
  let other: TestDatabase;
  let sender: TestSender;
  const ids = new Map<string, string>();

  /** A process on one of the databases; the platform and the secrets are the same for all. */
  function startOn(database: TestDatabase, roles: ('api' | 'worker')[]): Promise<TestApp> {
    const env = {
      DATABASE_URL: database.url,
      WHATSAPP_API_URL: platform.simulatorUrl ?? '',
      QUEUE_PREFIX: randomUUID(),
    };
    return startTestApp({ roles, shareWith: platform, env });
  }

  const send = (app: TestApp, to: string) =>
    app.api
      .as(sender.key.text)
      .post(
        '/messages',
        { connection_id: sender.connection.id, to: `+${to}`, type: 'text', text: { body: 'Hello' } },
        { headers: { 'idempotency-key': randomUUID() } },
      );

  async function taken(to: string): Promise<number> {
    const answer = await fetch(`${platform.simulatorUrl}/_simulator/messages?to=${to}`);
    const { data } = (await answer.json()) as { data: unknown[] };
    return data.length;
  }

  beforeAll(async () => {
    platform = await startTestApp({ roles: ['api', 'simulator'] });
    platform.simulator.applyFaults({ statuses: 'off' });
    lived = await createTestDatabase();
    // A life up to the backup: three messages are accepted, and no worker has run yet.
    const before = await startOn(lived, ['api']);
    sender = await before.sender();
    registerNumber(platform.simulator, sender.connection);
    for (const phone of [...WAITING, '15550104444']) await before.openWindow(sender, phone);
    for (const phone of WAITING) ids.set(phone, ((await send(before, phone)).body.data as { id: string }).id);
    await before.stop();
    backup = await copyTestDatabase(lived.url);
    other = await copyTestDatabase(lived.url);
    // And its life after the backup, which is lost: all three are sent.
    const after = await startOn(lived, ['worker']);
    await waitFor(async () => (await Promise.all(WAITING.map(taken))).every((count) => count === 1));
    await after.stop();
  });

  afterAll(async () => {
    for (const database of [lived, backup, other]) await database?.drop();
    await platform?.stop();
  });

  it('sends nothing until an operator decides, then nothing again, and all that was accepted meanwhile', async () => {
    const restored = await startOn(backup, ['api', 'worker']);
    try {
      const api = restored.api.as(sender.key.text);
      expect((await send(restored, '15550104444')).status).toBe(202);
      const [begun] = await restored.database.query<{ now: string }>('select clock_timestamp()::text as now');
      await waitFor(
        async () => {
          const [sweep] = await restored.database.query<{ ran: boolean }>(
            `select beat_at > $1::timestamptz + interval '3 seconds' as ran from heartbeat where name = 'sweep:send_due'`,
            [begun?.now],
          );
          return sweep?.ran === true;
        },
        { what: 'the sweep of due messages' },
      );
      expect(await Promise.all([...WAITING, '15550104444'].map(taken))).toEqual([1, 1, 1, 0]);

      expect(await herald(backup)).toMatchObject({ code: 0, body: { marked: { messages: 3, codes: 0 } } });
      await waitFor(async () => (await taken('15550104444')) === 1);
      for (const phone of WAITING) {
        const { data } = (await api.get(`/messages/${ids.get(phone)}`)).body;
        expect(data).toMatchObject({ status: 'outcome_unknown', error: { code: 'RESTORED' } });
      }
      expect(await Promise.all(WAITING.map(taken))).toEqual([1, 1, 1]);

      // An operator may confirm.
      const [first = ''] = WAITING;
      const path = `/messages/${ids.get(first)}/retry`;
      expect((await api.post(path, {})).status).toBe(409);
      expect((await api.post(path, { confirm_outcome_unknown: true })).status).toBe(202);
      await waitFor(async () => (await taken(first)) === 2);
      expect((await api.get(`/messages/${ids.get(first)}`)).body.data.error).toBeNull();
    } finally {
      await restored.stop();
    }
  });

  it('is marked by herald restore, which refuses where claims are not blocked and a worker is at work', async () => {
    expect(await herald(other, '--nothing-lost')).toMatchObject({ code: 0, body: { adopted: true } });
    await statement(other, "insert into heartbeat values ('sweep:send_due', clock_timestamp() + interval '1 hour')");
    expect(await herald(other)).toMatchObject({
      code: 1,
      body: { error: { message: expect.stringContaining('stop all') } },
    });
    expect(await herald(other, '--force')).toMatchObject({ code: 0, body: { marked: { messages: 3, codes: 0 } } });
    const restored = await startOn(other, ['api', 'worker']);
    try {
      const api = restored.api.as(sender.key.text);
      const { data } = (await api.get('/messages?status=outcome_unknown')).body;
      expect(data).toHaveLength(3);
    } finally {
      await restored.stop();
    }
  });

  async function herald(database: TestDatabase, ...options: string[]) {
    const env = {
      DATABASE_URL: database.url,
      DATA_DIR: platform.dataDir,
      WHATSAPP_API_URL: platform.simulatorUrl ?? '',
    };
    const { code, stdout } = await runHerald(['restore', '--json', ...options], env);
    return { code, body: JSON.parse(stdout) as Record<string, unknown> };
  }
});

async function statement(database: TestDatabase, sql: string): Promise<void> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
