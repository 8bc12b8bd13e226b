import { jest } from '@jest/globals';
import { acceptedOutcome } from '../../../test/support/accepted-outcome.js';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { factsOf } from '../../../test/support/facts.js';
import { livingOwner } from '../../../test/support/grant-lane.js';
import { LIMITED } from '../../../test/support/limits.js';
import { newMessage } from '../../../test/support/new-message.js';
import { beginTransaction } from '../../../test/support/open-transaction.js';
import { seedJournal } from '../../../test/support/rig/seed-journal.js';
import { type SeededConnection, Workspaces } from '../../../test/support/rig/workspace.js';
import { partitionsTouched } from '../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { newId } from '../../common/ids.js';
import { makePartitionsAhead, Partitions } from '../../infrastructure/database/partitions.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import { ConversationPagesRepository } from '../conversations/pages/conversation-pages.repository.js';
import { ClaimRepository } from '../sending/claim/claim.repository.js';
import { AcceptRepository, INSERT_MESSAGES } from './accept/accept.repository.js';
import type { JournalQuery } from './journal/journal-page.js';
import { MessagesMaintenanceRepository } from './maintenance/messages-maintenance.repository.js';
import { MessagesRepository } from './messages.repository.js';
import { findNewMessages, storeMessages } from './reports/received-messages.repository.js';

const TABLE = 'message_content';
const MONTHS = 24;
const DAY_MS = 86_400_000;
const DAYS = 21 * 30;
const MESSAGES = 2_000;
/** As of prepared statements, whose plans do not know the ids. */
const GENERIC = 'set local plan_cache_mode = force_generic_plan';

let opened: OpenTestDatabase;
let connection: SeededConnection;
let partitions: Partitions;
let journal: MessagesRepository;
let owner: string;

beforeAll(async () => {
  opened = await openTestDatabase(6);
  const { database } = opened;
  partitions = new Partitions(database);
  for (const { name } of await partitions.list(TABLE)) await database.execute(`drop table ${name}`);
  const now = new Date();
  for (let after = 3 - MONTHS; after <= 0; after++) {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + after, 1));
    await makePartitionsAhead((sql, params) => database.query(sql, params), TABLE, 'month', month);
  }
  const workspace = await new Workspaces(database.pool).create();
  [connection] = workspace.connections;
  await seedJournal(database.pool, workspace.connections, MESSAGES, (DAYS * 86_400) / MESSAGES);
  await database.execute('delete from message_queue');
  await database.execute('insert into lane (key) values ($1)', [connection.id]);
  journal = new MessagesRepository(database, factsOf(database));
  owner = (await livingOwner(database)).id;
});

afterAll(() => opened.close());

/** The partitions in which the contents of these messages are. */
async function homesOf(ids: readonly string[]): Promise<string[]> {
  const rows = await opened.database.query<{ name: string }>(
    `select distinct tableoid::regclass::text as name from ${TABLE} where message_id = any($1::uuid[]) order by 1`,
    [ids],
  );
  return rows.map(({ name }) => name);
}

/** Runs what returns the ids of its messages: these lie in few months, and no other is touched. */
async function expectFew(work: () => Promise<readonly string[]>, most: number, settings?: string): Promise<void> {
  let ids: readonly string[] = [];
  const touched = await partitionsTouched(opened.database, TABLE, async () => (ids = await work()), settings);
  expect(ids.length).toBeGreaterThan(0);
  expect(touched).toEqual(await homesOf(ids));
  expect(touched.length).toBeLessThanOrEqual(most);
}

const accepted = () => newMessage(connection, `49151${newId().slice(-8)}`);

const page = async (query: Partial<JournalQuery>): Promise<string[]> => {
  const wanted = { organizationId: connection.organizationId, limit: 20, ...query };
  const found = await journal.page({ ...wanted, downTo: (await journal.scanEnd(wanted)) ?? undefined });
  return found.map(({ id }) => id);
};

const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);

it('has a partition a month, of two years', async () => {
  expect(await partitions.list(TABLE)).toHaveLength(MONTHS);
  const [used] = await opened.database.query<{ months: number }>(
    `select count(distinct tableoid)::integer as months from ${TABLE}`,
  );
  expect(used?.months).toBeGreaterThan(20);
});

describe('of the partitions of contents', () => {
  it('an accept locks the one that it inserts into', async () => {
    const message = accepted();
    const locked = await opened.database.transaction(async () => {
      await opened.database.query(INSERT_MESSAGES, [JSON.stringify([message]), 24]);
      return opened.database.query<{ name: string }>(
        `select relation::regclass::text as name from pg_locks
         where pid = pg_backend_pid() and relation in (select inhrelid from pg_inherits where inhparent = $1::regclass)`,
        [TABLE],
      );
    }, GENERIC);
    expect(locked.map(({ name }) => name)).toEqual(await homesOf([message.id]));
  });

  it('a claim reads those of its messages', async () => {
    const accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
    await accepts.acceptTogether(Array.from({ length: 20 }, accepted), false);
    const claims = new ClaimRepository(opened.database);
    const claim = async () => {
      const { items } = await claimLane(claims, claimRequest(connection.id, owner, 10), { leaseMs: 60_000 });
      return items.map(({ id }) => id);
    };
    await expectFew(claim, 1, GENERIC);
  });

  it('an outcome touches none, and a retry that of its message', async () => {
    const [claimed] = await opened.database.query<{ id: string; attemptId: string }>(
      'select message_id as id, attempt_id as "attemptId" from message_queue where attempt_id is not null limit 1',
    );
    if (claimed === undefined) throw new Error('nothing was claimed');
    const facts = factsOf(opened.database);
    const answer = { kind: 'answer', ...acceptedOutcome(claimed) } as const;
    const record = () => facts.apply([answer], opened.database);
    expect(await partitionsTouched(opened.database, TABLE, record, GENERIC)).toEqual([]);
    const [failed = ''] = await page({ status: 'failed', before: ago(300) });
    const retry = () =>
      journal.retry(connection.organizationId, [{ messageId: failed, body: 'Again' }], ['failed', 'outcome_unknown']);
    await expectFew(retry, 1, GENERIC);
  });

  it('a received message touches that which it is inserted into', async () => {
    const { organizationId, id: connectionId, phoneNumber: businessNumber } = connection;
    const report = {
      connectionId,
      organizationId,
      businessNumber,
      metaMessageId: `wamid.${newId()}`,
      from: '4915199',
      userId: null,
      profileName: null,
      type: 'text' as const,
      content: { body: 'oi' },
      body: 'oi',
      occurredAt: new Date(),
      context: {},
      contextMessageId: null,
      opensWindow: true,
    };
    const receive = async () => {
      const found = await findNewMessages([report], opened.database);
      const [stored] = await storeMessages(found, [null], opened.database, undefined as never);
      return stored === undefined ? [] : [stored.messageId];
    };
    await expectFew(receive, 1);
  });

  it.each<[string, Partial<JournalQuery>, number]>([
    ['of the workspace', {}, 2],
    ['further down', { before: ago(200) }, 2],
    ['of what was delivered', { status: 'delivered' }, 4],
    ['of what has failed', { status: 'failed' }, MONTHS],
  ])('a page of the journal, %s, reads those of its messages', async (_name, query, most) => {
    await expectFew(() => page(query), most);
    await expectFew(() => page(query), most, GENERIC);
  });

  it('the plan of a page costs less than one that PostgreSQL compiles', async () => {
    const statements = jest.spyOn(opened.database, 'query');
    expect(await page({})).toHaveLength(20);
    const [sql, params] = statements.mock.lastCall ?? [];
    statements.mockRestore();
    const [plan] = await opened.database.query<{ 'QUERY PLAN': [{ Plan: { 'Total Cost': number } }] }>(
      `explain (format json) ${typeof sql === 'string' ? sql : sql?.text}`,
      params,
    );
    const above = await opened.database.row<{ cost: number }>(
      `select current_setting('jit_above_cost')::float8 as cost`,
    );
    expect(plan?.['QUERY PLAN'][0].Plan['Total Cost']).toBeLessThan(above.cost / 10);
  });

  it('one message reads its own', async () => {
    const [id = ''] = await page({ before: ago(400) });
    const find = async () => [(await journal.findWithAttempts(connection.organizationId, id))?.id ?? ''];
    await expectFew(find, 1);
    await expectFew(find, 1, GENERIC);
  });

  it('a page of conversations reads those of their last messages', async () => {
    const pages = new ConversationPagesRepository(opened.database);
    const none = {
      connectionId: null,
      since: null,
      to: null,
      recipient: null,
      search: null,
      assignee: null,
      assigneeId: null,
      closed: null,
    };
    const filter = { ...none, until: null, before: null, beforeId: null, waiting: false, unread: false, limit: 10 };
    const list = async () => {
      const { conversations } = await pages.page(connection.organizationId, filter);
      return conversations.map(({ last_message }) => last_message?.id ?? '');
    };
    await expectFew(list, 2);
  });

  it('an erasure touches those of its messages, and retention no younger one', async () => {
    const { database } = opened;
    const maintenance = new MessagesMaintenanceRepository(database, factsOf(database));
    const ids = await page({ before: ago(100), direction: 'outbound' });
    const homes = await homesOf(ids);
    const blank = () => maintenance.blank(connection.organizationId, ids);
    expect(await partitionsTouched(database, TABLE, blank)).toEqual(homes);
    expect(await homesOf(ids)).toEqual([]);
    const all = (await partitions.list(TABLE)).map(({ name }) => name);
    const before = ago(DAYS - 15);
    const old = 'select message_id as id from message_content where message_id < $1';
    const [oldest = ''] = await page({ before });
    const rows = await database.query<{ id: string }>(old, [oldest]);
    const touched = await partitionsTouched(database, TABLE, () => maintenance.remove('contents', before, 1_000));
    expect(rows.length).toBeGreaterThan(0);
    expect(all.slice(0, 3)).toEqual(expect.arrayContaining(touched));
    expect(await database.query(old, [oldest])).toEqual([]);
  });
});

it('a month is dropped beside messages that are accepted, read and claimed, though a reader keeps it from ending', async () => {
  const { database } = opened;
  const reader = await beginTransaction(opened.url);
  const accepts = new AcceptRepository(database, Tracing.OFF, LIMITED);
  const claims = new ClaimRepository(database);
  const before = ago(300);
  try {
    await reader.query(`select from ${TABLE} limit 1`);
    const dropped = partitions.dropBefore(TABLE, before);
    await waitFor(async () => (await partitions.list(TABLE)).some(({ detaching }) => detaching), {
      what: 'the detachment to wait for the reader',
    });
    for (let n = 0; n < 5; n++) {
      expect(await accepts.accept(accepted())).toMatchObject({ kind: 'inserted' });
      expect(await page({})).toHaveLength(20);
      const { items } = await claimLane(claims, claimRequest(connection.id, owner, 1), { leaseMs: 60_000 });
      expect(items).toHaveLength(1);
    }
    expect((await partitions.list(TABLE)).some(({ detaching }) => detaching)).toBe(true);
    await reader.end();
    expect(await dropped).toBeGreaterThan(8);
  } finally {
    await reader.end();
  }
  const [oldest] = await partitions.list(TABLE);
  expect(oldest?.below.localeCompare((await page({ before })).at(0) ?? '')).toBe(1);
});
