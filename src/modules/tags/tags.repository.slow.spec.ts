import { factsOf } from '../../../test/support/facts.js';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { seedQueued } from '../../../test/support/rig/seed-messages.js';
import { rowsRead } from '../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { anyHas } from '../../infrastructure/queue/turns.js';
import { ClaimRepository, type ClaimedMessage } from '../sending/claim/claim.repository.js';
import { SendingSweepsRepository } from '../sending/sweeps/sending-sweeps.repository.js';
import { TagsRepository, WORK_ROWS } from './tags.repository.js';
import type { TagAction, TagStatus } from './tags.types.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };
const TAG = 'sale';
const MANY = 3_000;

let opened: OpenTestDatabase;
let tags: TagsRepository;
let sends: ClaimRepository;
let sweeps: SendingSweepsRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(8);
  tags = new TagsRepository(opened.database, factsOf(opened.database));
  sweeps = new SendingSweepsRepository(opened.database, factsOf(opened.database));
});
afterAll(() => opened.close());

beforeEach(async () => {
  sends = new ClaimRepository(opened.database);
  const factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await new LaneRepository(opened.database).ensure(connection.id);
});
afterEach(async () => {
  // The triggers leave no recipient without a turn, whatever was paused and resumed.
  expect(await sweeps.repairTurns(new AbortController().signal)).toBe(0);
  for (const table of ['message_queue', 'message_tag', 'message_tag_count'])
    await opened.database.execute(`delete from ${table}`);
});

const keyOf = () => ({ organizationId: connection.organizationId, tag: TAG });

async function claim(limit = 64): Promise<ClaimedMessage[]> {
  return (await claimLane(sends, claimRequest(connection.id, OWNER, limit), LIMITS)).items;
}

/** As the sweep does: steps until none has work. Returns the tag's state. */
async function act(action: TagAction): Promise<TagStatus> {
  await tags.act(keyOf(), action, null);
  return settle();
}

const statusOf = async (): Promise<TagStatus> => (await tags.find(keyOf()))?.status ?? 'active';

async function settle(): Promise<TagStatus> {
  for (let rounds = 0; rounds < 20; rounds++) {
    const [work] = await tags.work(connection.organizationId, '');
    if (work === undefined) return statusOf();
    if (work.isCanceling) await tags.cancel(work);
    else if (work.isHeld) await tags.hold(work);
    else await tags.resume(work);
  }
  throw new Error('the sweep finds work again and again');
}

describe('a pause', () => {
  it('costs nothing while it lasts: no look and no claim reads what it holds', async () => {
    const others = await new Factories(opened.database).connection({ organizationId: connection.organizationId });
    const waiting = { count: MANY, tries: 1 };
    await seedQueued(opened.database, connection, { ...waiting, tag: TAG });
    await seedQueued(opened.database, others, { ...waiting, recipients: MANY / 4, tag: TAG });
    expect(await act('pause')).toBe('paused');
    await opened.database.execute('vacuum analyze message_queue');
    const work: Record<string, () => Promise<unknown>> = {
      claim: () => claim(),
      'due lanes': () => sends.dueConnections(2_000, null),
      marks: () => sends.dueConnections.moveMarks(),
      'what is to be paused': () => opened.database.query(`select ${anyHas(WORK_ROWS)}`),
      pause: () => tags.hold(keyOf()),
    };
    const read: Record<string, number> = {};
    for (const [name, run] of Object.entries(work)) read[name] = await rowsRead(opened.database, 'message_queue', run);
    expect(Object.entries(read).filter(([, rows]) => rows > 20)).toEqual([]);
    expect(await act('cancel')).toBe('active');
  });
});
