import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { newId } from '../../common/ids.js';
import { isOwned, LaneOwner } from './lane-owner.js';

let opened: OpenTestDatabase;
beforeAll(async () => {
  opened = await openTestDatabase();
});
afterAll(() => opened.close());

async function owns(owner: string): Promise<boolean> {
  const key = newId();
  await opened.database.execute('insert into lane (key, owner) values ($1, $2)', [key, owner]);
  const sql = `select ${isOwned('lane')} as owned from lane where key = $1`;
  return (await opened.database.row<{ owned: boolean }>(sql, [key])).owned;
}

const rowOf = (id: string) =>
  opened.database.find<{ alive_until: string }>('select alive_until::text from worker where id = $1', [id]);

it('a process owns its lanes for as long as it works, and knows of others', async () => {
  const [first, second] = [new LaneOwner(opened.database), new LaneOwner(opened.database)];
  expect(await owns(first.id)).toBe(false);
  await first.start();
  expect([first.hasOthers, await owns(first.id)]).toEqual([false, true]);
  await second.start();
  expect(second.hasOthers).toBe(true);
  const before = await rowOf(first.id);
  await waitFor(async () => (await rowOf(first.id))?.alive_until !== before?.alive_until);
  await waitFor(() => first.hasOthers);
  await second.onApplicationShutdown();
  expect([await owns(second.id), await rowOf(second.id)]).toEqual([false, null]);
  await first.onApplicationShutdown();
});

it.each([
  ['that has not been heard of for five seconds', '-1 second', false],
  ['that beat by a clock that has stepped back since', '1 hour', false],
  ['that beat just now', '5 seconds', true],
])('a process %s', async (_, ahead, expected) => {
  const id = newId();
  await opened.database.execute(`insert into worker values ($1, clock_timestamp() + $2::interval)`, [id, ahead]);
  expect(await owns(id)).toBe(expected);
});

it('forgets processes that ended without a word', async () => {
  const [dead, strange] = [newId(), newId()];
  await opened.database.execute(
    `insert into worker values ($1, clock_timestamp() - interval '2 minutes'), ($2, clock_timestamp() + interval '1 hour')`,
    [dead, strange],
  );
  const owner = new LaneOwner(opened.database);
  await owner.start();
  expect([await rowOf(dead), await rowOf(strange)]).toEqual([null, null]);
  await owner.onApplicationShutdown();
});

it('goes on after beats that failed', async () => {
  await opened.database.execute('delete from worker');
  const owner = new LaneOwner(opened.database);
  await opened.database.execute('alter table worker rename to worker_away');
  await owner.start();
  await opened.database.execute('alter table worker_away rename to worker');
  await waitFor(() => owns(owner.id));
  expect(owner.hasOthers).toBe(false);
  await owner.onApplicationShutdown();
});

it('is alive also while all connections are lent', async () => {
  const busy = await openTestDatabase(2);
  const lent = await Promise.all([busy.database.pool.connect(), busy.database.pool.connect()]);
  const owner = new LaneOwner(busy.database);
  try {
    await owner.start();
    const alive = await lent[0].query('select from worker where id = $1', [owner.id]);
    expect(alive.rowCount).toBe(1);
  } finally {
    for (const client of lent) client.release();
    await owner.onApplicationShutdown();
    await busy.database.onApplicationShutdown();
    await busy.close();
  }
});
