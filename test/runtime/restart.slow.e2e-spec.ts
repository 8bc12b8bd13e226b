import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { Heartbeats } from '../../src/infrastructure/operations/readiness.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { waitFor } from '../support/wait-for.js';

const ENCRYPTION_KEYS = `1:${randomBytes(32).toString('base64')}`;

/** Every column of times whose default is infinite, as `table.column`. */
const INFINITE_DEFAULTS = `
select table_name as table, column_name as column, column_default as value from information_schema.columns
where table_schema = 'public' and column_default like '%infinity%'`;

describe('a second start on the same database', () => {
  let database: TestDatabase;
  let app: TestApp | null = null;

  beforeAll(async () => {
    database = await createTestDatabase();
  });

  afterAll(async () => {
    await app?.stop();
    await database?.drop();
  });

  const start = async (): Promise<TestApp> => {
    const own = { url: database.url, drop: () => Promise.resolve() };
    app = await startTestApp({ database: own, env: { ENCRYPTION_KEYS } });
    return app;
  };

  const beats = async ({ database: own }: TestApp, where: string): Promise<string[]> =>
    (await own.query<{ name: string }>(`select name from heartbeat where ${where} order by name`)).map(
      ({ name }) => name,
    );

  it('leads, and runs every sweep and every look', async () => {
    const first = await start();
    await waitFor(async () => (await beats(first, `name in ('leader', 'sweep:send_due')`)).length === 2);
    const sender = await first.sender();
    await first.openWindow(sender);
    await first.stop();

    const warn = jest.spyOn(Logger.prototype, 'warn');
    const second = await start();
    expect(await beats(second, 'not isfinite(beat_at)')).toEqual([]);
    const columns = await second.database.query<{ table: string; column: string; value: string }>(INFINITE_DEFAULTS);
    expect(columns.map(({ table, column }) => `${table}.${column}`).sort()).toEqual([
      'lane.low_at',
      'lane.next_slot_at',
      'template.touched_at',
      'template_account.changed_at',
    ]);
    await second.database.execute('insert into lane (key) values ($1) on conflict do nothing', [sender.connection.id]);
    await second.database.execute(
      'insert into template_account (organization_id, waba_id) values ($1, $2) on conflict do nothing',
      [sender.workspace.id, sender.connection.wabaId],
    );
    for (const { table, column, value } of columns) {
      await second.database.execute(`update ${table} set ${column} = ${value}`);
    }

    const sweeps = second.app.get(Sweeps);
    for (const name of sweeps.names) expect([name, await sweeps.runNow(name)]).toEqual([name, expect.any(Number)]);
    const startedAt = await second.database.row<{ now: string }>('select clock_timestamp()::text as now');
    await waitFor(
      async () =>
        (await beats(second, `name in ('leader', 'sweep:send_due') and beat_at > '${startedAt.now}'`)).length === 2,
    );
    expect(await second.app.get(Heartbeats).check()).toMatchObject({ ok: true });
    // Also says so where the condition of one sweep is refused.
    const warnings = warn.mock.calls.map(([text]) => String(text));
    expect(warnings.filter((text) => text.includes('sweep'))).toEqual([]);
  });
});
