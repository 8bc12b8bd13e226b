import { LIMITED } from '../../../../test/support/limits.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { DataSource } from 'typeorm';
import { Scope } from '../../../../test/support/rig/scope.js';
import { TcpProxy } from '../../../../test/support/rig/tcp-proxy.js';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import { Factories, testPhone } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { dataSourceOptions } from '../../../infrastructure/database/data-source.js';
import { Database } from '../../../infrastructure/database/database.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { LostClaimError, takeBack } from '../../../infrastructure/queue/lost-claims.js';
import { putBack, OutcomeRepository } from '../outcome/outcome.repository.js';
import { ClaimRepository } from './claim.repository.js';
import { SendingSweepsRepository } from '../sweeps/sending-sweeps.repository.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };
const FOR_MS = 20_000;

let scope: Scope;
let opened: OpenTestDatabase;
let source: DataSource;
let proxy: TcpProxy;
let sends: ClaimRepository;
let sweeps: SendingSweepsRepository;
let outcomes: OutcomeRepository;

beforeAll(async () => {
  scope = new Scope();
  opened = await openTestDatabase(4);
  proxy = await TcpProxy.before(scope, opened.url);
  source = new DataSource(dataSourceOptions({ url: proxy.through(opened.url), poolSize: 2, queryTimeoutMs: 10_000 }));
  await source.initialize();
  sends = new ClaimRepository(new Database(source));
  sweeps = new SendingSweepsRepository(new Database(source));
  outcomes = new OutcomeRepository(opened.database, LIMITED);
});

afterAll(async () => {
  await source.destroy();
  await scope.close();
  await opened.close();
});

/** The error of a claim whose connection is cut before or after its commit, and the messages that it is about. */
async function lose(how: 'cut' | 'lose_answer') {
  const factories = new Factories(opened.database);
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  for (let n = 0; n < 3; n++) await factories.message({ connection, recipient: testPhone() });
  await new LaneRepository(opened.database).ensure(connection.id);
  // The claim is a transaction: its commit is what may have happened or not.
  const last = how === 'cut' ? 'message_claim' : 'COMMIT';
  proxy.inspect = (bytes) => (bytes.includes(last) ? how : 'pass');
  const request = claimRequest(connection.id, OWNER, 10);
  const error = await claimLane(sends, request, LIMITS).catch((thrown: unknown) => thrown);
  proxy.inspect = null;
  const states = async (): Promise<unknown[]> => {
    const rows = await opened.database.query<{ id: string; status: string }>(
      'select id, status from message_view where connection_id = $1',
      [connection.id],
    );
    return Promise.all(
      rows.map(async ({ id, status }) => [
        status,
        ...(await attemptRows(opened.database, id)).map((attempt) => attempt.status),
      ]),
    );
  };
  return { connectionId: connection.id, error, states };
}

const putBackFor = (connectionId: string, forMs: number) => ({
  find: (ids: readonly string[]) => sends.findAttempts([connectionId], ids),
  putBack: (attempt: { id: string; attemptId: string }) => outcomes.record(putBack(attempt)),
  forMs,
});

it('a claim that was committed and whose answer was lost is taken back by the ids of its attempts', async () => {
  const { connectionId, error, states } = await lose('lose_answer');
  expect(error).toBeInstanceOf(LostClaimError);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['processing', 'started']));
  const lost = error as LostClaimError;
  expect(await takeBack(lost, putBackFor(connectionId, FOR_MS))).toBe(3);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['queued', 'deferred']));
});

it('a claim that was never committed changes nothing', async () => {
  const { connectionId, error, states } = await lose('cut');
  expect(error).toBeInstanceOf(LostClaimError);
  expect(await takeBack(error as LostClaimError, putBackFor(connectionId, 0))).toBe(0);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['queued']));
});

it('is taken back although its lease was over meanwhile, and although the database is away at first', async () => {
  const { connectionId, error, states } = await lose('lose_answer');
  await opened.database.execute(
    `update message_queue set lease_until = now(), tries = 7 where lease_until is not null`,
  );
  await sweeps.expireLeases(10);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['outcome_unknown', 'unknown']));
  proxy.set({ kind: 'refuse' });
  proxy.cut();
  const taking = takeBack(error as LostClaimError, putBackFor(connectionId, FOR_MS));
  proxy.heal();
  expect(await taking).toBe(3);
  expect(await states()).toEqual(Array.from({ length: 3 }, () => ['queued', 'deferred']));
  // What was deferred before is not forgotten.
  const tries = await opened.database.query('select tries from message_queue where connection_id = $1', [connectionId]);
  expect(tries).toEqual(Array.from({ length: 3 }, () => ({ tries: 7 })));
});
