import { claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, testPhone, type ConnectionRow } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import type { QueueKind } from '../../../infrastructure/queue/queue-kind.js';
import { LaneRunner } from '../../../infrastructure/queue/lane-runner.js';
import { ClaimRepository, type ClaimedMessage } from './claim.repository.js';

const QUERY_TIMEOUT_MS = 1_500;
const OWNER = newId();

let opened: OpenTestDatabase;
let factories: Factories;

beforeAll(async () => {
  opened = await openTestDatabase(4, QUERY_TIMEOUT_MS);
  factories = new Factories(opened.database);
});
afterAll(() => opened.close());

async function connectionWithMessages(): Promise<ConnectionRow> {
  const connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  for (let n = 0; n < 3; n++) await factories.message({ connection, recipient: testPhone() });
  return connection;
}

it('a number whose claim takes too long keeps no other number waiting', async () => {
  const { database } = opened;
  const slow = await connectionWithMessages();
  const others = [await connectionWithMessages(), await connectionWithMessages(), await connectionWithMessages()];
  await database.execute(`create function slow_row() returns trigger language plpgsql as
    $$ begin perform pg_sleep(60); return new; end $$`);
  await database.execute(`create trigger slow_row before update on message_queue for each row
    when (new.connection_id = '${slow.id}') execute function slow_row()`);

  const repository = new ClaimRepository(database);
  const sent: string[] = [];
  const kind: QueueKind<ClaimedMessage> = {
    name: 'send',
    maxPerLane: 64,
    pace: (laneKey) => Promise.resolve(claimRequest(laneKey, OWNER, 64).pace),
    claim: (requests, withinMs) => repository.claim(requests, { leaseMs: 3_600_000, withinMs }),
    work: ({ connectionId }) => {
      sent.push(connectionId);
      return Promise.resolve(null);
    },
    stop: () => undefined,
  };
  const errors: string[] = [];
  const loop = new LaneRunner({
    kind,
    lanes: new LaneRepository(database),
    owner: OWNER,
    maxInFlight: 256,
    hasOthers: () => false,
    announce: () => undefined,
    onError: (message) => errors.push(message),
  });
  for (const { id } of [slow, ...others]) loop.wake(id);
  await waitFor(() => sent.length === 9);
  expect(new Set(sent)).toEqual(new Set(others.map(({ id }) => id)));
  await waitFor(() => errors.length > 0);
  expect(errors).toEqual([`lane ${slow.id}: a claim failed`]);
  await database.execute('drop trigger slow_row on message_queue');
  await waitFor(() => {
    loop.wake(slow.id);
    return sent.length === 12;
  });
  await loop.stop(5_000);
});
