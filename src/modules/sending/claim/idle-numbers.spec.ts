import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { factsOf } from '../../../../test/support/facts.js';
import { seedQueued, seedScheduled } from '../../../../test/support/rig/seed-messages.js';
import { costOf } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import type { DuePage, MarkedLanes } from '../../../infrastructure/queue/due-lanes.js';
import { SCHEDULE_LANE, ScheduleRepository } from '../../messages/schedule/schedule.repository.js';
import { ClaimRepository } from './claim.repository.js';

const NUMBERS = 20_000;
const PAGE = 2_000;
const TABLES = ['connection', 'lane', 'message_queue'];

let opened: OpenTestDatabase;
let connection: ConnectionRow;
let looks: MarkedLanes[];

beforeAll(async () => {
  opened = await openTestDatabase();
  const { database } = opened;
  const factories = new Factories(database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  const columns = await database.query<{ name: string }>(
    `select column_name as name from information_schema.columns where table_name = 'connection'`,
  );
  const others: Readonly<Record<string, string>> = {
    id: 'gen_random_uuid()',
    phone_number_id: '(100000000 + n)::text',
    phone_number: '(100000000 + n)::text',
  };
  const values = columns.map(({ name }) => others[name] ?? name);
  await database.execute(
    `insert into connection (${columns.map(({ name }) => name).join(', ')})
     select ${values.join(', ')} from connection, generate_series(1, ${NUMBERS - 1}) as n`,
  );
  await database.execute(
    `insert into lane (key, low_at, next_slot_at)
     select prefix || id, now() - interval '15 seconds', now() - interval '1 hour' from connection, unnest($1::text[]) as prefix`,
    [['', SCHEDULE_LANE]],
  );
  await database.execute('vacuum analyze connection, lane');
  looks = [new ClaimRepository(database).dueConnections, new ScheduleRepository(database, factsOf(database)).dueLanes];
});
afterAll(() => opened.close());

/** The pages that are read of all tables; each is counted in a look of its own. */
async function pagesOf(work: () => Promise<unknown>): Promise<number> {
  let pages = 0;
  for (const table of TABLES) pages += (await costOf(opened.database, table, work)).pages;
  return pages;
}

it('cost a look for due rows next to nothing, and one that has a due row is found by the next look', async () => {
  const look = async (lanes: MarkedLanes): Promise<DuePage> => {
    await opened.database.query(`select ${lanes.hasWork(PAGE)} as is_due`);
    return lanes(PAGE, null);
  };
  // The first one counts the numbers.
  for (const lanes of looks) expect(await look(lanes)).toEqual({ lanes: [], next: null });
  let pages = 0;
  for (const lanes of looks) pages += await pagesOf(() => look(lanes));
  expect(pages).toBeLessThanOrEqual(200);

  await seedQueued(opened.database, connection, { count: 3 });
  await seedScheduled(opened.database, connection, { count: 1 });
  await opened.database.execute(`update message_queue set held_until = now() where held_until is not null`);
  const found = await Promise.all(looks.map((lanes) => look(lanes)));
  expect(found.map(({ lanes }) => lanes)).toEqual([[connection.id], [`${SCHEDULE_LANE}${connection.id}`]]);
});

it('cost a look for marks that are to move next to nothing', async () => {
  const move = async (lanes: MarkedLanes): Promise<void> => {
    await opened.database.query(`select ${lanes.moveMarks.hasWork()} as is_to_move`);
    await lanes.moveMarks();
  };
  // The first one looks before all marks, as once a minute.
  for (const lanes of looks) await move(lanes);
  let pages = 0;
  for (const lanes of looks) pages += await pagesOf(() => move(lanes));
  expect(pages).toBeLessThanOrEqual(200);
});
