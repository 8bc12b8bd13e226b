import { factsOf, cancelMessage } from '../../../../test/support/facts.js';
import { seedScheduled } from '../../../../test/support/rig/seed-messages.js';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { testPhone } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import {
  OWNER,
  opened,
  factories,
  schedule,
  sends,
  sweeps,
  connection,
  newConnection,
  due,
  queued,
  claim,
  findDue,
  placesOf,
} from '../../../../test/support/fixtures/schedule.js';
import { newId } from '../../../common/ids.js';
import { MessagesMaintenanceRepository } from '../maintenance/messages-maintenance.repository.js';
import { MessagesRepository } from '../messages.repository.js';
import { CLAIM, claimParams } from '../../sending/claim/claim.repository.js';
import { RELEASE_BATCH, scheduleLaneOf } from './schedule.repository.js';

const MANY = 20_000;

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
