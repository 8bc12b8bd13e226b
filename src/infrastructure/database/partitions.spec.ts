import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { lowestIdSince, newId } from '../../common/ids.js';
import type { Database } from './database.js';
import { makePartitionsAhead, type Partition, Partitions, withPartitions } from './partitions.js';

const DAY_MS = 86_400_000;

let open: OpenTestDatabase;
let database: Database;
let partitions: Partitions;

beforeAll(async () => {
  open = await openTestDatabase(6);
  ({ database } = open);
  partitions = new Partitions(database);
});
afterAll(() => open.close());

beforeEach(async () => {
  await database.execute('drop table if exists trace cascade');
  await database.execute(
    `create table trace (id uuid primary key, text text not null default 'x' check (text <> '')) partition by range (id)`,
  );
  await database.execute(`create index trace_text on trace (text) where text = 'x'`);
});

const run = (sql: string, params?: unknown[]) => database.query(sql, params);
const daysFrom = (at: Date) => makePartitionsAhead(run, 'trace', 'day', at);
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);
const idOf = (time: Date): string => `${lowestIdSince(time).slice(0, 24)}${newId().slice(24)}`;
const insert = (time: Date) => database.execute('insert into trace (id) values ($1)', [idOf(time)]);

async function count(): Promise<number> {
  const [row] = await database.query<{ n: number }>('select count(*)::integer as n from trace');
  return row?.n ?? -1;
}

describe('partitions', () => {
  it('have the defaults, checks and indexes of the table, and storage parameters of their own', async () => {
    await daysFrom(new Date());
    await expect(database.execute(`insert into trace (id, text) values ($1, '')`, [newId()])).rejects.toThrow('check');
    await insert(daysAgo(400));
    await insert(daysAgo(-6.9));
    const [newest] = await database.query<{ storage: string; indexes: number }>(
      `select array_to_string(reloptions, ',') as storage,
         (select count(*)::integer from pg_index where indrelid = c.oid) as indexes from pg_class c where c.oid = $1::regclass`,
      [(await partitions.list('trace')).at(-1)?.name],
    );
    expect(newest).toEqual({
      storage: 'autovacuum_vacuum_scale_factor=0.01,autovacuum_vacuum_insert_scale_factor=0.05',
      indexes: 2,
    });
  });

  it('are made ahead once, by whichever of several processes', async () => {
    await daysFrom(daysAgo(12));
    await Promise.all([1, 2, 3].map(() => partitions.makeAhead('trace', 'day')));
    const made = await partitions.list('trace');
    expect(await Promise.all([1, 2, 3].map(() => partitions.makeAhead('trace', 'day')))).toEqual([0, 0, 0]);
    expect(made.at(-1)?.below).toBe(lowestIdSince(new Date((Math.floor(Date.now() / DAY_MS) + 8) * DAY_MS)));
    // No day is missing, also of those in which no process ran.
    for (let day = 6; day > -7; day--) await insert(daysAgo(day));
    expect(await count()).toBe(13);
  });

  it('go with their rows once all of these are old, beside statements that run', async () => {
    await daysFrom(daysAgo(8));
    await partitions.makeAhead('trace', 'day');
    for (const day of [9, 4.5, 0]) await insert(daysAgo(day));
    expect(await partitions.dropBefore('trace', daysAgo(9))).toBe(0);
    let writing = true;
    const writer = (async () => {
      while (writing) await insert(new Date());
    })();
    const dropped = await Promise.all([1, 2].map(() => partitions.dropBefore('trace', daysAgo(2))));
    writing = false;
    await writer;
    expect(dropped).toContain(0);
    expect(Math.max(...dropped)).toBeGreaterThan(0);
    const [oldest] = await database.query<{ id: string }>('select min(id::text) as id from trace');
    expect(oldest?.id.localeCompare(lowestIdSince(daysAgo(2)))).toBe(1);
  });

  it('are never dropped where they reach beyond the clock of the database', async () => {
    await daysFrom(daysAgo(8));
    await partitions.makeAhead('trace', 'day');
    for (const day of [9, 0]) await insert(daysAgo(day));
    const now = lowestIdSince(new Date());
    const ahead = async () => (await partitions.list('trace')).filter(({ below }) => below > now);
    const before = await ahead();
    expect(before.length).toBeGreaterThan(1);
    // As of a host whose clock is ahead.
    await partitions.dropBefore('trace', daysAgo(-200));
    await insert(new Date());
    expect(await count()).toBe(2);
    expect(await ahead()).toEqual(before);
  });

  it('are made again, today included, where some or all of them are gone', async () => {
    await daysFrom(daysAgo(8));
    await partitions.makeAhead('trace', 'day');
    for (const left of [3, 0]) {
      const all = await partitions.list('trace');
      for (const { name } of all.slice(0, all.length - left)) await database.execute(`drop table ${name}`);
      await expect(insert(new Date())).rejects.toThrow('no partition');
      await partitions.makeAhead('trace', 'day');
      for (let day = 6; day > -7; day--) await insert(daysAgo(day));
      expect(await partitions.makeAhead('trace', 'day')).toBe(0);
    }
  });

  it('that are detached while a transaction reads them are dropped by the next call', async () => {
    await daysFrom(daysAgo(8));
    await partitions.makeAhead('trace', 'day');
    await insert(daysAgo(9));
    const reader = await database.pool.connect();
    await reader.query('begin');
    await reader.query('select * from trace');
    const [first] = await partitions.list('trace');
    // As where the process dies while it waits for that transaction.
    const dying = await database.pool.connect();
    await dying.query(`set statement_timeout = 300`);
    await expect(dying.query(`alter table trace detach partition ${first?.name} concurrently`)).rejects.toThrow(
      'timeout',
    );
    dying.release(true);
    expect((await partitions.list('trace'))[0]?.detaching).toBe(true);
    await reader.query('commit');
    reader.release();
    expect(await partitions.dropBefore('trace', daysAgo(30))).toBe(1);
    expect(await count()).toBe(0);
  });

  it('are made where a row had none, and the work that failed runs again', async () => {
    await daysFrom(daysAgo(60));
    await expect(insert(new Date())).rejects.toThrow('no partition');
    await withPartitions(database, 'trace', 'day', () => insert(new Date()));
    expect(await count()).toBe(1);
    const refused = database.execute(`insert into trace (id, text) values ($1, '')`, [newId()]);
    let tries = 0;
    const again = withPartitions(database, 'trace', 'day', () => {
      tries++;
      return refused;
    });
    await expect(again).rejects.toThrow('check constraint');
    expect(tries).toBe(1);
  });

  it('may have the rows of a month each, and two months are made ahead', async () => {
    const month = (after: number): Date => {
      const now = new Date();
      return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + after, 1));
    };
    await makePartitionsAhead(run, 'trace', 'month', month(-3));
    expect(await partitions.makeAhead('trace', 'month')).toBe(3);
    expect(await partitions.makeAhead('trace', 'month')).toBe(0);
    const made = await partitions.list('trace');
    const digits = (after: number): string => month(after).toISOString().slice(0, 7).replace('-', '');
    expect(made).toEqual(
      [-3, -2, -1, 0, 1, 2].map((after) => ({
        name: `trace_${digits(after)}`,
        from: after === -3 ? null : lowestIdSince(month(after)),
        below: lowestIdSince(month(after + 1)),
        detaching: false,
      })),
    );
    // The oldest is still needed.
    const isNeeded = ({ from }: Partition) => Promise.resolve(from === null);
    expect(await partitions.dropBefore('trace', month(-1), isNeeded)).toBe(1);
    expect(await partitions.list('trace')).toEqual([made[0], ...made.slice(2)]);
    expect(await partitions.dropBefore('trace', month(-1))).toBe(1);
    expect(await partitions.list('trace')).toEqual(made.slice(2));
  });
});
