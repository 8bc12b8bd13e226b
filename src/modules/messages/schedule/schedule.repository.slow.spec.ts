import { factsOf, cancelMessage } from '../../../../test/support/facts.js';
import { LIMITED } from '../../../../test/support/limits.js';
import { seedScheduled } from '../../../../test/support/rig/seed-messages.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { Tracing } from '../../../infrastructure/operations/tracing.js';
import { AcceptRepository } from '../accept/accept.repository.js';
import { MessagesMaintenanceRepository } from '../maintenance/messages-maintenance.repository.js';
import { MessagesRepository } from '../messages.repository.js';
import { CLAIM, type ClaimedMessage, claimParams, ClaimRepository } from '../../sending/claim/claim.repository.js';
import { SendingSweepsRepository } from '../../sending/sweeps/sending-sweeps.repository.js';
import { RELEASE_BATCH, scheduleLaneOf, ScheduleRepository, type Decision } from './schedule.repository.js';
import { newMessage } from '../../../../test/support/new-message.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };
const MANY = 20_000;

let opened: OpenTestDatabase;
let factories: Factories;
let schedule: ScheduleRepository;
let sends: ClaimRepository;
let sweeps: SendingSweepsRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  factories = new Factories(opened.database);
  sends = new ClaimRepository(opened.database);
  sweeps = new SendingSweepsRepository(opened.database, factsOf(opened.database));
});
afterAll(() => opened.close());

beforeEach(async () => {
  schedule = new ScheduleRepository(opened.database, factsOf(opened.database));
  connection = await newConnection();
});

async function newConnection(): Promise<ConnectionRow> {
  const made = await factories.connection({ organizationId: (await factories.workspace()).id });
  const lanes = new LaneRepository(opened.database);
  await lanes.ensure(made.id);
  await lanes.ensure(scheduleLaneOf(made.id));
  return made;
}

/** A message that has been due for so long. */
async function due(
  of = connection,
  values: { recipient?: string; secondsAgo?: number; tag?: string } = {},
): Promise<string> {
  const accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  const sendAt = new Date(Date.now() + 3_600_000).toISOString();
  const { messageId } = await accepts.accept(
    newMessage(of, values.recipient ?? testPhone(), { sendAt, tag: values.tag }),
  );
  await opened.database.execute(
    `update message_queue set scheduled_for = clock_timestamp() - make_interval(secs => $2),
       held_until = clock_timestamp() - make_interval(secs => $2),
       expires_at = clock_timestamp() - make_interval(secs => $2) + (expires_at - scheduled_for) where message_id = $1`,
    [messageId, values.secondsAgo ?? 0],
  );
  return messageId;
}

const queued = (messageId: string): Decision => ({ messageId, refusal: null, body: 'hello' });

async function claim(of = connection, limit = 64): Promise<ClaimedMessage[]> {
  return (await claimLane(sends, claimRequest(of.id, OWNER, limit), LIMITS)).items;
}

/** The due messages of a number that a claim finds. */
async function findDue(of = connection): Promise<string[]> {
  const { items } = await schedule.claim(claimRequest(scheduleLaneOf(of.id), OWNER, 1));
  return items.flat().map(({ message }) => message.id);
}

async function placesOf(id: string): Promise<string[]> {
  const rows = await opened.database.query<{ place: string }>(
    `select case when held_until is not null then 'held' when attempt_id is null then 'queue' else 'wire' end as place
     from message_queue where message_id = $1
     union all select status || ' ' || coalesce(failure_category, '') from message_state where message_id = $1 and status <> 'queued'`,
    [id],
  );
  return rows.map(({ place }) => place);
}

describe('what is scheduled for later', () => {
  it('is read by no claim, no sweep, no gauge of what waits and no other number’s release', async () => {
    await seedScheduled(opened.database, connection, { count: MANY });
    await opened.database.execute('analyze message_queue, message');
    const other = await newConnection();
    const overdue = await due(other);
    const maintenance = new MessagesMaintenanceRepository(opened.database, factsOf(opened.database));
    const messages = new MessagesRepository(opened.database, factsOf(opened.database));
    for (const each of [connection, other]) await factories.message({ connection: each, recipient: testPhone() });
    const work: Record<string, () => Promise<unknown>> = {
      claim: () => {
        const request = claimRequest(connection.id, OWNER, 64);
        return opened.database.query(CLAIM, claimParams([request], [newId()], 3_600_000));
      },
      'due lanes': () => sends.dueConnections(2_000, null),
      'leases that ran out': () => sweeps.expireLeases(1_000),
      'what waited too long': () => sweeps.expireQueued(1_000),
      'low-water marks': () => sends.dueConnections.moveMarks(),
      'due numbers': async () =>
        expect((await schedule.dueLanes(2_000, null)).lanes).toEqual([scheduleLaneOf(other.id)]),
      'the release': async () => {
        expect(await findDue(other)).toEqual([overdue]);
        await schedule.release([queued(overdue)]);
      },
      'a look that finds nothing': async () => expect([await findDue(other), await findDue()]).toEqual([[], []]),
      'the depth of the queue': () => maintenance.depth(),
      'the oldest due': () => maintenance.oldestDueSeconds(),
      'the count of queued messages': () => messages.countQueued(connection.organizationId, 1_000),
      'a page of the journal': () => messages.findById(connection.organizationId, newId()),
      'a cancel': () => cancelMessage(opened.database, connection.organizationId, newId()),
    };
    const read: Record<string, number> = {};
    for (const [name, run] of Object.entries(work)) read[name] = await rowsRead(opened.database, 'message_queue', run);
    expect(Object.entries(read).filter(([, rows]) => rows > 20)).toEqual([]);
  });

  it('of one workspace is not read where another’s is counted', async () => {
    await opened.database.execute('delete from message_queue where held_until is not null');
    await seedScheduled(opened.database, connection, { count: 4 * MANY });
    const other = await newConnection();
    await due(other);
    await opened.database.execute('analyze message_queue');
    const read = await rowsRead(opened.database, 'message_queue', async () => {
      expect(
        await new MessagesRepository(opened.database, factsOf(opened.database)).countScheduled(
          other.organizationId,
          10_000,
        ),
      ).toBe(1);
    });
    expect(read).toBeLessThan(10);
  });
});

describe('the release', () => {
  it('reads a batch of those that are due at one moment, however many they are', async () => {
    await seedScheduled(opened.database, connection, { count: MANY });
    await opened.database.execute(
      `update message_queue set held_until = now() - interval '1 hour', scheduled_for = now() - interval '1 hour'
       where connection_id = $1`,
      [connection.id],
    );
    await opened.database.execute('analyze message_queue');
    expect(await rowsRead(opened.database, 'message_queue', () => findDue())).toBeLessThan(5 * RELEASE_BATCH);
    await opened.database.execute('delete from message_queue where held_until is not null');
  });
});

describe('a cancel beside a claim and a release', () => {
  it('leaves each message in one place, and never one both canceled and claimed', async () => {
    const ends = { canceled: 0, claimed: 0 };
    for (let round = 0; round < 30; round++) {
      const of = await newConnection();
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) {
        ids.push((await factories.message({ connection: of, recipient: testPhone() })).id, await due(of));
      }
      const canceled = new Set<string>();
      const claimed = new Set<string>();
      const claims = async (): Promise<void> => {
        for (const { id } of await claim(of, 4)) claimed.add(id);
      };
      const releases = async (): Promise<void> => {
        await schedule.release(ids.map(queued));
        await claims();
      };
      const cancels = ids.map(async (id) => {
        if (await cancelMessage(opened.database, of.organizationId, id)) canceled.add(id);
      });
      await Promise.all([claims(), ...cancels, releases(), claims()]);
      await claims();
      for (const id of ids) {
        expect([id, canceled.has(id) && claimed.has(id)]).toEqual([id, false]);
        expect(await placesOf(id)).toEqual([canceled.has(id) ? 'failed canceled' : claimed.has(id) ? 'wire' : 'queue']);
      }
      ends.canceled += canceled.size;
      ends.claimed += claimed.size;
    }
    expect(ends.canceled).toBeGreaterThan(0);
    expect(ends.claimed).toBeGreaterThan(0);
  });
});
