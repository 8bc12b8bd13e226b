import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';
import pg from 'pg';
import { Database } from '../../src/infrastructure/database/database.js';
import { OptOutsService } from '../../src/modules/opt-outs/opt-outs.service.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { makePlace, type Place, writeLives } from '../support/rig/erased-person.js';

/** Contacts' messages, each way, besides the person's. */
const SIZES = [2_000, 20_000] as const;
const CHUNK = 1_000;
const OF_PERSON = 15;

interface Measured {
  isOn: boolean;
  pages: number;
  /** By statement. */
  dear: Map<string, number>;
}

const measured = new AsyncLocalStorage<Measured>();

let test: TestApp;
let places: Place[];

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
  const statements = Database.prototype as unknown as {
    send: (sql: string | { text: string }, params: readonly unknown[]) => Promise<unknown>;
  };
  const { send } = statements;
  jest.spyOn(statements, 'send').mockImplementation(async function (this: Database, sql, params) {
    const run = measured.getStore();
    if (run?.isOn !== true) return send.call(this, sql, params);
    const work = async (): Promise<unknown> => {
      const before = await pages(this, send);
      const result = await send.call(this, sql, params);
      const read = (await pages(this, send)) - before;
      run.pages += read;
      const text = typeof sql === 'string' ? sql : sql.text;
      run.dear.set(text, (run.dear.get(text) ?? 0) + read);
      return result;
    };
    return this.inTransaction ? work() : this.transaction(work);
  });
  places = [];
  for (const { connection } of [await test.sender(), await test.sender()]) {
    places.push(await makePlace(test.database, connection));
    const someone = { phone: '15550009999', userId: null, category: 'marketing', reason: null } as const;
    await test.app.get(OptOutsService, { strict: false }).put(connection.organizationId, someone);
  }
});
afterAll(async () => test?.stop());

/** Pages that the transaction has read so far, of all tables and indexes of the program. */
async function pages(
  database: Database,
  send: (sql: string, params: readonly unknown[]) => Promise<unknown>,
): Promise<number> {
  const sql = `select sum(pg_stat_get_xact_blocks_fetched(c.oid))::integer as pages from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'i')`;
  const { rows } = (await send.call(database, sql, [])) as { rows: { pages: number }[] };
  return rows[0]?.pages ?? 0;
}

/** Of the index of whom notifications name, which has an entry for each 64 of their pages, what each name of a person reads at the most. */
async function rangesOfNotifications(): Promise<number> {
  const { pages: all } = await test.database.row<{ pages: number }>(
    `select relpages as pages from pg_class where oid = 'platform_notification'::regclass`,
  );
  return all / 16;
}

/** Without the limit that the program gives its statements. */
async function vacuum(): Promise<void> {
  const client = new pg.Client({ connectionString: test.databaseUrl });
  await client.connect();
  try {
    await client.query('vacuum analyze');
  } finally {
    await client.end();
  }
}

async function costOf(work: () => Promise<unknown>): Promise<Measured> {
  const run: Measured = { isOn: true, pages: 0, dear: new Map() };
  await measured.run(run, work);
  run.isOn = false;
  return run;
}

it('to erase a person costs the same whatever else there is, and so does counting', async () => {
  const erasure = test.app.get(Erasure);
  const costs: Measured[][] = [];
  let written = 0;
  for (const [index, size] of SIZES.entries()) {
    // Of the workspace and of another one.
    for (; written < size; written += places.length * CHUNK) {
      for (const place of places) {
        await writeLives(place, CHUNK, `'1777' || lpad((${written % 10_000} + n % 500)::text, 7, '0')`);
      }
    }
    const phone = `1555000880${index}`;
    const [place] = places as [Place];
    await writeLives(place, OF_PERSON, `'${phone}'::text`);
    await vacuum();
    const counted = await costOf(async () => {
      const { counts } = await erasure.count(place.organizationId, phone);
      expect(counts).toMatchObject({
        messages: 2 * OF_PERSON,
        opt_outs: OF_PERSON,
        one_time_codes: OF_PERSON,
        contacts: 1,
      });
    });
    const erased = await costOf(() => erasure.erase(place.organizationId, phone));
    costs.push([counted, erased]);
  }
  const [few, many] = costs as [Measured[], Measured[]];
  const ranges = await rangesOfNotifications();
  expect(ranges).toBeGreaterThan(50);
  for (const [index, { pages: read, dear }] of many.entries()) {
    const before = few[index] as Measured;
    const more = (text: string): number => (text.includes('platform_notification') ? ranges : 20);
    const grown = [...dear].filter(([text, cost]) => cost > 2 * (before.dear.get(text) ?? 0) + more(text));
    expect(grown).toEqual([]);
    expect(read / before.pages).toBeLessThan(2);
  }
}, 600_000);
