import { factsOf } from '../../../../test/support/facts.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import { beside } from '../../../../test/support/beside.js';
import { Factories, testPhone } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openProxiedDatabase, type ProxiedDatabase } from '../../../../test/support/proxied-database.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { LostClaimError, releaseLost } from '../../../infrastructure/queue/lost-claims.js';
import { OutcomeRepository, released } from '../outcome/outcome.repository.js';
import { ClaimRepository } from './claim.repository.js';
import { SendingSweepsRepository } from '../sweeps/sending-sweeps.repository.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };
const FOR_MS = 20_000;

let database: ProxiedDatabase;
let sends: ClaimRepository;
let sweeps: SendingSweepsRepository;
let outcomes: OutcomeRepository;

beforeAll(async () => {
  database = await openProxiedDatabase();
  sends = new ClaimRepository(database.proxied);
  sweeps = new SendingSweepsRepository(database.proxied, factsOf(database.proxied));
  outcomes = new OutcomeRepository(database.direct, factsOf(database.direct));
});

afterAll(() => database.close());

/** The error of a claim whose connection is cut before or after its commit, and the messages that it is about. */
async function lose(how: 'cut' | 'lose_answer') {
  const factories = new Factories(database.direct);
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  for (let n = 0; n < 3; n++) await factories.message({ connection, recipient: testPhone() });
  await new LaneRepository(database.direct).ensure(connection.id);
  // The claim is a transaction: its commit is what may have happened or not.
  const last = how === 'cut' ? 'message_claim' : 'COMMIT';
  database.proxy.inspect = (bytes) => (bytes.includes(last) ? how : 'pass');
  const request = claimRequest(connection.id, OWNER, 10);
  const error = await claimLane(sends, request, LIMITS).catch((thrown: unknown) => thrown);
  database.proxy.inspect = null;
  const states = async (): Promise<unknown[]> => {
    const rows = await database.direct.query<{ id: string; status: string }>(
      'select id, status from message_view where connection_id = $1',
      [connection.id],
    );
    return Promise.all(
      rows.map(async ({ id, status }) => [
        status,
        ...(await attemptRows(database.direct, id)).map((attempt) => attempt.status),
      ]),
    );
  };
  return { connectionId: connection.id, error, states };
}

const releaseFor = (connectionId: string, forMs: number) => ({
  find: (ids: readonly string[]) => sends.findAttempts([connectionId], ids),
  release: (attempt: { id: string; attemptId: string }) => outcomes.record(released(attempt)),
  forMs,
});

it('a claim that was committed and whose answer was lost is released by the ids of its attempts', async () => {
  const { connectionId, error, states } = await lose('lose_answer');
  expect(error).toBeInstanceOf(LostClaimError);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['processing', 'started']));
  const lost = error as LostClaimError;
  expect(await releaseLost(lost, releaseFor(connectionId, FOR_MS))).toBe(3);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['queued', 'deferred']));
});

it('a claim that was never committed changes nothing', async () => {
  const { connectionId, error, states } = await lose('cut');
  expect(error).toBeInstanceOf(LostClaimError);
  expect(await releaseLost(error as LostClaimError, releaseFor(connectionId, 0))).toBe(0);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['queued']));
});

it('a claim that hangs in its commit for longer than its lease is released once it has ended', async () => {
  const factories = new Factories(database.direct);
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  const { id } = await factories.message({ connection });
  await new LaneRepository(database.direct).ensure(connection.id);
  let lost = new LostClaimError([], new Error('never claimed'));
  const hangs = async (): Promise<void> => {
    const request = claimRequest(connection.id, OWNER, 1);
    const { items } = await claimLane(new ClaimRepository(database.direct), request, LIMITS);
    lost = new LostClaimError(
      items.map(({ attemptId }) => attemptId),
      new Error('Query read timeout'),
    );
  };
  const released = await beside(database.direct, hangs, () => releaseLost(lost, releaseFor(connection.id, 0)));
  expect(released).toBe(1);
  expect(await attemptRows(database.direct, id)).toMatchObject([{ status: 'deferred' }]);
});

it('is released although its lease was over meanwhile, and although the database is away at first', async () => {
  const { connectionId, error, states } = await lose('lose_answer');
  await database.direct.execute(
    `update message_queue set lease_until = now(), tries = 7 where lease_until is not null`,
  );
  await sweeps.expireLeases(10);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['outcome_unknown', 'unknown']));
  database.proxy.set({ kind: 'refuse' });
  database.proxy.cut();
  const taking = releaseLost(error as LostClaimError, releaseFor(connectionId, FOR_MS));
  database.proxy.heal();
  expect(await taking).toBe(3);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['queued', 'deferred']));
  // What was deferred before is not forgotten.
  const tries = await database.direct.query('select tries from message_queue where connection_id = $1', [connectionId]);
  expect(tries).toEqual(Array.from({ length: 3 }, () => ({ tries: 7 })));
});

it('is looked for without a scan of the states, however many there are', async () => {
  const factories = new Factories(database.direct);
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await database.direct.execute(
    `insert into message_state (message_id, organization_id, connection_id, created_at, queued_at, status)
     select uuid_v7(), $1, $2, now(), now(), 'delivered' from generate_series(1, 5000)`,
    [connection.organizationId, connection.id],
  );
  await database.direct.execute('vacuum analyze message_state');
  const look = () => new ClaimRepository(database.direct).findAttempts([connection.id], [newId()]);
  expect(await rowsRead(database.direct, 'message_state', look)).toBeLessThan(50);
});
