import { factsOf, cancelMessage } from '../../../../test/support/facts.js';
import type pg from 'pg';
import { acceptedOutcome } from '../../../../test/support/accepted-outcome.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { beginTransaction } from '../../../../test/support/open-transaction.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { waitFor } from '../../../../test/support/wait-for.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository } from '../../../infrastructure/queue/lane.repository.js';
import { OutcomeRepository } from '../outcome/outcome.repository.js';
import { ClaimRepository } from './claim.repository.js';

const TO = '4915100';

let opened: OpenTestDatabase;
let factories: Factories;
let connection: ConnectionRow;
let other: pg.Client;

beforeAll(async () => {
  opened = await openTestDatabase(6);
  factories = new Factories(opened.database);
});
afterAll(() => opened.close());

beforeEach(async () => {
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await new LaneRepository(opened.database).ensure(connection.id);
  other = await beginTransaction(opened.url);
});
afterEach(() => other.end());

/** Three messages to one recipient, of which the first two are due: the second one too early. */
async function three(): Promise<[string, string, string]> {
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.push((await factories.message({ connection, recipient: TO })).id);
  await opened.database.execute(
    'update message_queue set due_at = case when message_id <> $2 then now() end where connection_id = $1',
    [connection.id, ids[2]],
  );
  return ids as [string, string, string];
}

const remove = (id: string) => other.query('delete from message_queue where message_id = $1', [id]);

const cancel = (id: string) => cancelMessage(opened.database, connection.organizationId, id);

/** Runs beside the other transaction, which is committed once it waits for that, or is over. */
async function beside(statement: Promise<unknown>): Promise<void> {
  let isOver = false;
  const over = statement.finally(() => (isOver = true));
  await waitFor(async () => {
    const waits = await opened.database.count(
      `select count(*)::integer as count from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return isOver || waits > 0;
  });
  await other.query('commit');
  await over;
}

async function due(): Promise<string[]> {
  const rows = await opened.database.query<{ id: string }>(
    'select message_id as id from message_queue where connection_id = $1 and due_at is not null order by seq',
    [connection.id],
  );
  return rows.map(({ id }) => id);
}

describe('where a message is due too early', () => {
  it('the one behind it is eligible, though it is removed beside the outcome of the message in flight', async () => {
    const [first, second, third] = await three();
    const { items } = await claimLane(new ClaimRepository(opened.database), claimRequest(connection.id, newId(), 9), {
      leaseMs: 3_600_000,
    });
    expect(items.map(({ id }) => id)).toEqual([first]);
    await remove(second);
    const outcomes = new OutcomeRepository(opened.database, factsOf(opened.database));
    await beside(Promise.all(items.map((item) => outcomes.record(acceptedOutcome(item)))));
    expect(await due()).toEqual([third]);
  });

  it('the one behind it is eligible, though both before it are removed at once, the first one first', async () => {
    const [first, second, third] = await three();
    await remove(first);
    await beside(cancel(second));
    expect(await due()).toEqual([third]);
  });

  it('the one behind it is eligible, though both before it are removed at once, the second one first', async () => {
    const [first, second, third] = await three();
    await remove(second);
    await beside(cancel(first));
    expect(await due()).toEqual([third]);
  });
});
