import { factsOf } from '../../../test/support/facts.js';
import { Factories, testPhone, type ConnectionRow } from '../../../test/support/factories.js';
import { LIMITED } from '../../../test/support/limits.js';
import { newMessage } from '../../../test/support/new-message.js';
import { beginTransaction } from '../../../test/support/open-transaction.js';
import { costOf, type Cost } from '../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import type { Retention } from '../../infrastructure/queue/retention.js';
import type { Sweep, Sweeps } from '../../infrastructure/queue/sweeps.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { AcceptRepository } from '../messages/accept/accept.repository.js';
import { TagsRepository } from '../tags/tags.repository.js';
import type { Erasure } from '../workspaces/erasure/erasure.service.js';
import { LimitsMaintenance } from './limits.maintenance.js';
import { LimitBook, SETTLED_AT_ONCE } from './limits.service.js';

const LIMIT = 1_000_000;
const PRICE = 70_000;
const TOGETHER = 100;
const TABLES = ['organization', 'limit_use', 'limit_reservation', 'limit_correction'];

let opened: OpenTestDatabase;
let factories: Factories;
/** Of two processes. */
let accepts: [AcceptRepository, AcceptRepository];
let tags: TagsRepository;

beforeAll(async () => {
  opened = await openTestDatabase(10);
  const { database } = opened;
  factories = new Factories(database);
  accepts = [
    new AcceptRepository(database, Tracing.OFF, LIMITED),
    new AcceptRepository(database, Tracing.OFF, LIMITED),
  ];
  tags = new TagsRepository(database, factsOf(database));
  await database.execute(`insert into usage_rate values ('{*}', 'marketing', 1, 0.07, 'EUR', '2026-01-01')`);
});
afterAll(() => opened.close());

async function limited(): Promise<ConnectionRow> {
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await opened.database.execute(
    'update organization set messages_per_day = $2::integer, spend_per_month = $2::integer where id = $1',
    [connection.organizationId, LIMIT],
  );
  return connection;
}

const campaign = (connection: ConnectionRow, count: number, tag: string) =>
  Array.from({ length: count }, () =>
    newMessage(connection, testPhone(), { lookUp: 'contact', templateCategory: 'MARKETING', tag }),
  );

async function send(connection: ConnectionRow, count: number, tag: string): Promise<void> {
  for (let left = count; left > 0; left -= TOGETHER) {
    await accepts[left % 2]?.acceptTogether(campaign(connection, Math.min(left, TOGETHER), tag), true, true);
  }
}

async function cancel({ organizationId }: ConnectionRow, tag: string): Promise<void> {
  await tags.act({ organizationId, tag }, 'cancel', null);
  while ((await tags.cancel({ organizationId, tag })).rows > 0);
}

/** What an accept costs, of the tables of limits; it is taken back. */
async function costOfAccept({ organizationId }: ConnectionRow): Promise<Record<string, Cost>> {
  const message = { id: newId(), organizationId, recipient: testPhone(), templateCategory: 'MARKETING' };
  const costs: Record<string, Cost> = {};
  const undone = new Error('undone');
  for (const table of TABLES) {
    const work = opened.database.transaction(async () => {
      costs[table] = await costOf(opened.database, table, async () => {
        const book = await LimitBook.open([message], opened.database);
        book.take(message);
        await book.write();
      });
      throw undone;
    });
    await expect(work).rejects.toBe(undone);
  }
  return costs;
}

async function used({ organizationId }: ConnectionRow): Promise<number[]> {
  const message = { id: newId(), organizationId, recipient: testPhone(), templateCategory: 'MARKETING' };
  return (await LimitBook.look(message, opened.database)).states.map((state) => state.used);
}

function sweep(): Sweep {
  let added: Sweep | undefined;
  const others = { add: () => undefined };
  const sweeps = { add: (each: Sweep) => (added = each) } as unknown as Sweeps;
  new LimitsMaintenance(
    opened.database,
    others as unknown as Retention,
    others as unknown as Erasure,
    sweeps,
  ).onModuleInit();
  return added as unknown as Sweep;
}

it('an accept reads the same, however many messages of the workspace were canceled', async () => {
  const costs: Record<string, Cost>[] = [];
  for (const count of [400, 4_000]) {
    const connection = await limited();
    await send(connection, count, 'sale');
    await cancel(connection, 'sale');
    expect(await used(connection)).toEqual([0, 0]);
    costs.push(await costOfAccept(connection));
  }
  const sum = (cost: Record<string, Cost> | undefined, of: 'entries' | 'pages'): number =>
    Object.values(cost ?? {}).reduce((total, each) => total + each[of], 0);
  // A row for each statement that canceled some.
  expect(sum(costs[1], 'entries')).toBeLessThan(sum(costs[0], 'entries') + 40);
  expect(sum(costs[1], 'pages')).toBeLessThan(sum(costs[0], 'pages') * 2);
}, 120_000);

it('what a cancel of thousands gives back is right at each moment, also while messages are accepted and it is settled', async () => {
  const connection = await limited();
  const others = 5 * TOGETHER;
  await send(connection, 2_500, 'sale');
  const settling = sweep();
  await Promise.all([
    cancel(connection, 'sale'),
    send(connection, others, 'other'),
    ...accepts.map((each) => each.acceptTogether(campaign(connection, TOGETHER, 'other'), true, true)),
    settling.run(new AbortController().signal),
  ]);
  const left = others + 2 * TOGETHER;
  expect(await used(connection)).toEqual([left, left * PRICE]);
  await settling.run(new AbortController().signal);
  expect(await used(connection)).toEqual([left, left * PRICE]);
  expect(await corrections(connection)).toBe(0);
}, 120_000);

const corrections = ({ organizationId }: ConnectionRow): Promise<number> =>
  opened.database.count(
    `select count(*)::integer as count from limit_correction where organization_id = '${organizationId}'`,
  );

async function correct({ organizationId }: ConnectionRow, count: number): Promise<void> {
  await opened.database.execute(
    `insert into limit_correction (organization_id, kind, period, amount)
     select $1, 'messages_per_day', current_date, -1 from generate_series(1, $2)`,
    [organizationId, count],
  );
}

it('workspaces are settled in turn: one that is locked, and one with many corrections, keep no other waiting', async () => {
  const [locked, greedy, other] = [await limited(), await limited(), await limited()].sort((a, b) =>
    a.organizationId < b.organizationId ? -1 : 1,
  ) as [ConnectionRow, ConnectionRow, ConnectionRow];
  for (const each of [locked, other]) await correct(each, 1);
  await correct(greedy, SETTLED_AT_ONCE + 1);
  const holder = await beginTransaction(opened.url);
  try {
    await holder.query('select from organization where id = $1 for no key update', [locked.organizationId]);
    const settling = sweep();
    await settling.run(new AbortController().signal);
    expect(await Promise.all([locked, greedy, other].map(corrections))).toEqual([1, 0, 0]);
    await holder.query('rollback');
    await settling.run(new AbortController().signal);
    expect(await corrections(locked)).toBe(0);
  } finally {
    await holder.end();
  }
});
