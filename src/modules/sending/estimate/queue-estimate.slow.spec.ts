import { factsOf } from '../../../../test/support/facts.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { MAX_AHEAD, type Waiting } from '../sending.types.js';
import { QueueEstimates } from './queue-estimate.js';
import { OutcomeRepository, released } from '../outcome/outcome.repository.js';
import type { OutcomeRecord } from '../../message-state/facts.types.js';
import { type ClaimedMessage, ClaimRepository } from '../claim/claim.repository.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };

let opened: OpenTestDatabase;
let sends: ClaimRepository;
let lanes: LaneRepository;
let outcomes: OutcomeRepository;
let estimates: QueueEstimates;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  lanes = new LaneRepository(opened.database);
  outcomes = new OutcomeRepository(opened.database, factsOf(opened.database));
});
afterAll(() => opened.close());

beforeEach(async () => {
  sends = new ClaimRepository(opened.database);
  estimates = new QueueEstimates(opened.database);
  connection = await newConnection();
});

async function newConnection(status?: 'pending' | 'restricted'): Promise<ConnectionRow> {
  const factories = new Factories(opened.database);
  const { id: organizationId } = await factories.workspace();
  const made = await factories.connection({ organizationId, throughputPerSecond: 10, ...(status && { status }) });
  await lanes.ensure(made.id);
  return made;
}

/** Messages to these recipients, in this order. */
async function queue(recipients: readonly string[], of = connection): Promise<string[]> {
  const ids = recipients.map(() => newId());
  await opened.database.execute(
    `with given as (select * from unnest($2::uuid[], $4::text[]) with ordinality as g (id, recipient, n)), made as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, created_at)
       select id, $3, $1, 'outbound', 'text', recipient, clock_timestamp() from given returning id), stated as (
       insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
       select id, $3, $1, clock_timestamp(), clock_timestamp() from given)
     insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at, expires_at)
     select $1, clock_timestamp(), given.id, $3, given.recipient, clock_timestamp(), clock_timestamp() + interval '1 day'
     from given order by n`,
    [of.id, ids, of.organizationId, recipients],
  );
  return ids;
}

async function waitingOf(id: string, of = connection): Promise<Waiting> {
  const waiting = await estimates.ofMessage({ id, organizationId: of.organizationId });
  if (waiting === null) throw new Error('it does not wait');
  return waiting;
}

const aheadOf = async (ids: readonly string[]): Promise<number[]> => {
  const ahead: number[] = [];
  for (const id of ids) ahead.push((await waitingOf(id)).ahead);
  return ahead;
};

async function claim(limit: number): Promise<ClaimedMessage[]> {
  return (await claimLane(sends, claimRequest(connection.id, OWNER, limit), LIMITS)).items;
}

const accepted = (claimed: ClaimedMessage): OutcomeRecord => ({
  ...released(claimed),
  status: 'accepted',
  metaMessageId: `wamid.${claimed.attemptId}`,
  httpStatus: 200,
});

/** Sends so many, each once the one before it has its outcome; returns them in the order in which they left. */
async function send(count: number): Promise<string[]> {
  const left: string[] = [];
  while (left.length < count) {
    const [claimed] = await claim(1);
    if (claimed === undefined) throw new Error('nothing to claim');
    await outcomes.record(accepted(claimed));
    left.push(claimed.id);
  }
  return left;
}

describe('the place in the queue', () => {
  // Some recipients have many messages, most have one; more than a claim looks at all at once.
  const crowd = (size: number): string[] =>
    Array.from({ length: size }, (_, n) => String(1_000 + ((n * 7_919) % (n % 3 === 0 ? 11 : size))));

  it('of each of 140 messages is the order in which they leave', async () => {
    const ids = await queue(crowd(140));
    const foretold = await aheadOf(ids);
    const left = await send(ids.length);
    expect(ids.map((id, index) => [left.indexOf(id), foretold[index]])).toEqual(
      ids.map((_id, index) => [foretold[index], foretold[index]]),
    );
  });

  it('is right in the midst of the walk too', async () => {
    const ids = await queue(crowd(140));
    const gone = await send(45);
    const rest = ids.filter((id) => !gone.includes(id));
    const foretold = await aheadOf(rest);
    const left = await send(rest.length);
    expect(foretold).toEqual(rest.map((id) => left.indexOf(id)));
  });

  it('is counted up to ten thousand, and reads no more than that of a longer queue', async () => {
    const ids = await queue(Array.from({ length: 3 * MAX_AHEAD }, (_, n) => String(100_000 + n)));
    await opened.database.execute('vacuum analyze message_queue');
    expect(await waitingOf(ids[MAX_AHEAD - 1] ?? '')).toMatchObject({ ahead: MAX_AHEAD - 1 });
    const last = ids.at(-1) ?? '';
    expect(await waitingOf(last)).toMatchObject({ reason: 'number_pace', ahead: MAX_AHEAD, estimatedSendAt: null });
    const read = await rowsRead(opened.database, 'message_queue', () => waitingOf(last));
    expect(read).toBeLessThan(2.5 * MAX_AHEAD);
  });

  it('passes over what is not due, however much it is', async () => {
    const ids = await queue(Array.from({ length: 2 * MAX_AHEAD }, (_, n) => String(100_000 + n)));
    const last = ids.at(-1) ?? '';
    await opened.database.execute(
      `update message_queue set due_at = clock_timestamp() + interval '1 day'
       where connection_id = $1 and message_id <> $2`,
      [connection.id, last],
    );
    await opened.database.execute('vacuum analyze message_queue');
    expect(await waitingOf(last)).toMatchObject({ ahead: 0, reason: 'due', estimatedSendAt: expect.any(Date) });
    const read = await rowsRead(opened.database, 'message_queue', () => waitingOf(last));
    expect(read).toBeLessThan(100);
  });
});
