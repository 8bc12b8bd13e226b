import { anyHas } from '../../../infrastructure/queue/turns.js';
import { factsOf } from '../../../../test/support/facts.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { newMessage } from '../../../../test/support/new-message.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { AcceptRepository } from '../../messages/accept/accept.repository.js';
import { MessagesRepository } from '../../messages/messages.repository.js';
import { scheduleLaneOf, ScheduleRepository } from '../../messages/schedule/schedule.repository.js';
import { TagsRepository, WORK_ROWS } from '../../tags/tags.repository.js';
import { SendingSweepsRepository } from '../sweeps/sending-sweeps.repository.js';
import { ClaimRepository } from './claim.repository.js';

const OWNER = newId();
const HELD = 100_000;
const LIVE = 20;
/** Of the table and its indexes, that one statement may read; a claim reads the recipient's index for each row. */
const MAX_PAGES = 600;

let opened: OpenTestDatabase;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  const factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  const lanes = new LaneRepository(opened.database);
  await lanes.ensure(connection.id);
  await lanes.ensure(scheduleLaneOf(connection.id));
  await opened.database.execute('alter table message_queue set (autovacuum_enabled = false)');
});
afterAll(() => opened.close());

interface Reads {
  indexes: string[];
  pages: number;
}

/** Which indexes of the queue `work` scans, with plans made now, and how many pages of it and of them. */
async function readsOf(mode: string, work: () => Promise<unknown>): Promise<Reads> {
  const soFar = () =>
    opened.database.query<{ name: string; scans: string; pages: string }>(
      `select oid::regclass::text as name, pg_stat_get_xact_numscans(oid) as scans,
         pg_stat_get_xact_blocks_fetched(oid) as pages
       from (select 'message_queue'::regclass::oid as oid
         union all select indexrelid from pg_index where indrelid = 'message_queue'::regclass) as relation`,
    );
  return opened.database.transaction(async () => {
    await opened.database.execute(`set local plan_cache_mode = ${mode}`);
    await opened.database.execute('discard plans');
    const from = new Map((await soFar()).map((each) => [each.name, each]));
    await work();
    const to = (await soFar()).map(({ name, scans, pages }) => ({
      name,
      scans: Number(scans) - Number(from.get(name)?.scans),
      pages: Number(pages) - Number(from.get(name)?.pages),
    }));
    return {
      indexes: to.flatMap(({ name, scans }) => (scans > 0 ? [name.replace('message_queue_', '')] : [])).sort(),
      pages: to.reduce((sum, { pages }) => sum + pages, 0),
    };
  });
}

async function accept(): Promise<void> {
  const accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  await accepts.acceptTogether(
    Array.from({ length: LIVE }, () => newMessage(connection, testPhone())),
    true,
  );
}

/** Held rows of the number: two thirds wait for a time, a third is of a paused tag. */
async function hold(count: number): Promise<void> {
  await opened.database.execute(
    `with queue as (insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at, tag,
       held_until, scheduled_for, expires_at)
     select $1, now(), uuid_v7(), $2, '49' || n, now(), case when n % 3 = 0 then 'sale' end,
       case when n % 3 = 0 then 'infinity' else now() + interval '1 hour' + n * interval '1 second' end,
       case when n % 3 > 0 then now() + interval '1 hour' + n * interval '1 second' end, now() + interval '1 day'
     from generate_series(1, $3::integer) as n returning *)
     insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
     select message_id, organization_id, connection_id, created_at, queued_at from queue`,
    [connection.id, connection.organizationId, count],
  );
}

/** Each statement, and the indexes that it may be planned with. */
function work(): Record<string, [indexes: readonly string[], run: () => Promise<unknown>]> {
  const { database } = opened;
  const sends = new ClaimRepository(database);
  const schedule = new ScheduleRepository(database, factsOf(database));
  const sweeps = new SendingSweepsRepository(database, factsOf(database));
  return {
    claim: [['due', 'lane'], () => claimLane(sends, claimRequest(connection.id, OWNER, 5), { leaseMs: 3_600_000 })],
    'due lanes': [['due'], () => sends.dueConnections(2_000, null)],
    marks: [['due'], () => sends.dueConnections.moveMarks()],
    // With the trigger of what is removed.
    expiry: [['expiry', 'lane'], () => sweeps.expireQueued(1_000)],
    leases: [['lease', 'lane'], () => sweeps.expireLeases(1_000)],
    'count of what waits': [
      ['due', 'lane', 'lease'],
      () => new MessagesRepository(database, factsOf(database)).countQueued(connection.organizationId, 100),
    ],
    repair: [['lane'], () => sweeps.repairTurns(new AbortController().signal)],
    'scheduled messages': [['held'], () => schedule.claim(claimRequest(scheduleLaneOf(connection.id), OWNER, 1))],
    'due scheduled': [['held'], () => schedule.dueLanes(2_000, null)],
    'marks of the scheduled': [['held'], () => schedule.dueLanes.moveMarks()],
    'what is to be held': [['tag'], () => database.byIndex(() => database.query(`select ${anyHas(WORK_ROWS)}`))],
    'a hold': [
      ['tag'],
      () =>
        new TagsRepository(database, factsOf(database)).hold({
          organizationId: connection.organizationId,
          tag: 'sale',
        }),
    ],
  };
}

async function expectBounded(state: string): Promise<void> {
  const wrong: string[] = [];
  for (const mode of ['force_custom_plan', 'force_generic_plan']) {
    await opened.database.execute('delete from message_queue where held_until is null');
    await accept();
    for (const [name, [allowed, run]] of Object.entries(work())) {
      const { indexes, pages } = await readsOf(mode, run);
      const others = indexes.filter((index) => !allowed.includes(index));
      if (others.length > 0 || pages > MAX_PAGES)
        wrong.push(`${state}, ${mode}, ${name}: ${indexes.join(', ')}; ${pages} pages`);
    }
  }
  expect(wrong).toEqual([]);
}

it(`${HELD} held rows are read by no statement on what is free, whatever the statistics say`, async () => {
  await opened.database.execute(
    `insert into message_tag (organization_id, tag, paused, acted_at) values ($1, 'sale', true, now())`,
    [connection.organizationId],
  );
  await opened.database.execute('vacuum analyze message_queue');
  await expectBounded('analyzed while empty');
  await hold(HELD);
  await expectBounded('filled since');
  await opened.database.execute('vacuum message_queue');
  await expectBounded('vacuumed without analyze');
  await opened.database.execute('analyze message_queue');
  await expectBounded('analyzed');
  await opened.database.execute('delete from message_queue where held_until is not null');
  await expectBounded('emptied');
});
