import { migrations } from '../../migrations/all.js';
import { goBack, migrate } from '../../src/infrastructure/database/migrate.js';
import { lastOfReleases, oldestPlace } from '../../src/infrastructure/database/migration-plan.js';
import { type Migrations, timeOf } from '../../src/infrastructure/database/schema-state.js';
import type { SqlMigration, Step } from '../../src/infrastructure/database/sql-migration.js';
import { sendingWorkspace } from '../messages/fixture.js';
import { LaterExample9990000000000 } from '../support/later-migration.js';
import { contentsOf, rowsOf, schemaOf } from '../support/schema-of.js';
import { startTestApp } from '../support/test-app.js';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../support/test-database.js';

const list: Migrations = [...migrations, LaterExample9990000000000];
const LATER = list.filter(({ name }) => timeOf(name) > timeOf(oldestPlace()));
/** The place before each, in the order of the list. */
const placeBefore = (name: string): string => list[list.findIndex((each) => each.name === name) - 1]?.name ?? '';

let filled: TestDatabase;

/** A database in which the service has stored something of everything that is often stored. */
beforeAll(async () => {
  filled = await createTestDatabase();
  const keep = { url: filled.url, drop: () => Promise.resolve() };
  const test = await startTestApp({ database: keep });
  try {
    const { api, connection, ...workspace } = await sendingWorkspace(test);
    const ok = async (answer: Promise<{ status: number; body: unknown }>): Promise<void> => {
      const { status, body } = await answer;
      if (status >= 300) throw new Error(`${status}: ${JSON.stringify(body)}`);
    };
    await ok(api.get('/events?after=now')); // from now on they are recorded
    const contacts: string[] = [];
    for (let n = 0; n < 10; n++) contacts.push(await workspace.contact());
    const [first = '', second = ''] = contacts;
    for (const to of contacts) await workspace.reaches(await workspace.sendText(to), 'read');
    const { id } = await test.factories.message({ connection, status: 'failed', recipient: second });
    await ok(api.post(`/messages/${id}/retry`));
    const later = { send_at: new Date(Date.now() + 86_400_000).toISOString(), tag: 'spring' };
    await ok(workspace.send(first, { body: later }));
    await ok(api.request({ method: 'PUT', path: '/opt-outs', body: { to: '15550100001', category: 'marketing' } }));
    const { data } = (await api.get('/conversations')).body as { data: { id: string }[] };
    const path = `/conversations/${data[0]?.id}`;
    await ok(api.request({ method: 'PATCH', path, body: { assignee: 'ana@example.com', closed: true } }));
  } finally {
    await test.stop();
  }
});

afterAll(() => filled?.drop());

/** The list, in which one migration fails after so many steps. */
function failingAfter(Migration: new () => SqlMigration, done: number): Migrations {
  const fails: Step = { text: 'fails', work: () => Promise.reject(new Error('as a lost connection does')) };
  const make = function (): SqlMigration {
    const migration = new Migration();
    const steps = migration.steps.map((step, at) => (at < done ? step : fails));
    return Object.defineProperty(migration, 'steps', { value: steps });
  };
  const Failing = Object.defineProperty(make, 'name', { value: Migration.name }) as unknown as typeof Migration;
  return list.map((each) => (each === Migration ? Failing : each));
}

it('there are rows in the tables that the service fills', async () => {
  const contents = Object.values(await contentsOf(filled.url));
  expect(contents.filter((rows) => !rows.startsWith('0 ')).length).toBeGreaterThanOrEqual(15);
});

it.each(LATER.map((Migration) => [Migration.name, Migration] as const))(
  '%s goes up, down and up again on filled tables, also from each of its steps',
  async (name, Migration) => {
    const database = await copyTestDatabase(filled.url);
    try {
      const before = placeBefore(name);
      await migrate(database.url, { list });
      await goBack(database.url, before, { list });
      const [schema, contents] = [await schemaOf(database.url), await contentsOf(database.url)];

      expect(await migrate(database.url, { list, to: name })).toEqual([name]);
      const made = await schemaOf(database.url);
      await goBack(database.url, before, { list });
      expect(await schemaOf(database.url)).toEqual(schema);
      expect(await contentsOf(database.url)).toEqual(contents);

      for (let done = 1; done < new Migration().steps.length; done++) {
        const failing = failingAfter(Migration, done);
        await expect(migrate(database.url, { list: failing, to: name })).rejects.toThrow('as a lost connection does');
        await goBack(database.url, before, { list });
        expect([done, await schemaOf(database.url)]).toEqual([done, schema]);
        await expect(migrate(database.url, { list: failing, to: name })).rejects.toThrow('as a lost connection does');
        expect(await migrate(database.url, { list, to: name })).toEqual([name]);
        expect([done, await schemaOf(database.url)]).toEqual([done, made]);
        await goBack(database.url, before, { list });
      }
      expect(await contentsOf(database.url)).toEqual(contents);
    } finally {
      await database.drop();
    }
  },
);

it.each([...lastOfReleases])(
  'a database of release %s is brought to the newest schema, and back',
  async (_version, place) => {
    const database = await copyTestDatabase(filled.url);
    try {
      const newest = await schemaOf(database.url);
      await goBack(database.url, place, { list });
      const contents = await contentsOf(database.url);
      await migrate(database.url);
      expect(await schemaOf(database.url)).toEqual(newest);
      await goBack(database.url, place, { list });
      expect(await contentsOf(database.url)).toEqual(contents);
    } finally {
      await database.drop();
    }
  },
);

it('what the example adds is made, filled and reverted', async () => {
  const database = await copyTestDatabase(filled.url);
  try {
    await migrate(database.url, { list });
    const rows = await rowsOf<{ ok: boolean }>(
      database.url,
      'select example_digits = length(phone) as ok from conversation where phone is not null',
    );
    expect(rows.length).toBeGreaterThanOrEqual(10);
    expect(rows.every(({ ok }) => ok)).toBe(true);
  } finally {
    await database.drop();
  }
});
