import { factsFor, idsOf, messageIn, pairsOf, PLACES, type Place } from '../../../test/messages/fact-table.js';
import {
  differences,
  ExpectedMessage,
  readStored,
  seqsOf,
  SHOWN,
  storeMessages,
  type StoredMessage,
} from '../../../test/messages/stored-cases.js';
import { beside } from '../../../test/support/beside.js';
import { claimLane, claimRequest } from '../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../test/support/factories.js';
import { factsOf } from '../../../test/support/facts.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { listenFor } from '../../../test/support/webhook-events.js';
import { newId } from '../../common/ids.js';
import { BY_INDEX } from '../../infrastructure/database/database.js';
import { LaneRepository } from '../../infrastructure/queue/lane.repository.js';
import { ScheduleRepository } from '../messages/schedule/schedule.repository.js';
import { ClaimRepository } from '../sending/claim/claim.repository.js';
import type { Applied, Fact, LockedMessage } from './facts.types.js';
import type { Among } from './facts.repository.js';

// Every pair of facts, in each order, of a message in each place: what is stored must be what `MessageCase` makes of them, whose own
// table is message-case.spec.ts. All pairs of a place are applied together, each to a message of its own.

let opened: OpenTestDatabase;
let connection: ConnectionRow;
beforeAll(async () => {
  opened = await openTestDatabase(4);
});
afterAll(() => opened.close());
beforeEach(async () => {
  const factories = new Factories(opened.database);
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await listenFor(opened.database, connection.organizationId);
});

const apply = (facts: readonly Fact[], among?: Among): Promise<Applied[]> =>
  opened.database.transaction(() => factsOf(opened.database).apply(facts, opened.database, among), BY_INDEX);

/** A message, the facts that were applied to it, and what each transaction said of them. */
interface Case {
  name: string;
  message: LockedMessage;
  facts: readonly Fact[];
  transactions: readonly (readonly (Applied | undefined)[])[];
  /** Where a statement wrote its row of the queue before: when its turn is. */
  turn?: { dueAt: number | null; notBefore: number | null };
}

/** Compares what is stored with the table. `seqs`: the places in the queue at the beginning. */
async function expectStored(cases: readonly Case[], seqs: ReadonlyMap<string, number>): Promise<void> {
  const ids = cases.map(({ message }) => message.id);
  const stored = await readStored(opened.database, ids, seqs);
  const wrong = cases.flatMap(({ name, message, facts, transactions, turn }) => {
    const expected = new ExpectedMessage(message, turn);
    let next = 0;
    for (const applied of transactions) {
      expected.apply(facts.slice(next, next + applied.length), applied[0]?.message?.now ?? NaN);
      next += applied.length;
    }
    const results = transactions.flat().map((applied) => ({ result: applied?.result, moved: applied?.moved }));
    const found = { results, ...stored.get(message.id) };
    const all = differences({ results: expected.results, ...expected.stored }, found);
    return all.map((difference) => `${name}: ${difference}`);
  });
  expect({ wrong: wrong.length, first: wrong.slice(0, 20) }).toEqual({ wrong: 0, first: [] });
}

/** How the two facts of all pairs are applied: for each pair what its transactions did. */
const WAYS = {
  'in one transaction': async (first: Fact[], second: Fact[]) => {
    const applied = await apply([...first, ...second]);
    return first.map((_, n) => {
      const [one, two] = [applied[n], applied[first.length + n]];
      // Where it is read and written twice.
      return one?.message === two?.message ? [[one, two]] : [[one], [two]];
    });
  },
  'in two transactions': async (first: Fact[], second: Fact[]) => {
    const [one, two] = [await apply(first), await apply(second)];
    return first.map((_, n) => [[one[n]], [two[n]]]);
  },
  'at once, the second waits for the row of the first': async (first: Fact[], second: Fact[]) => {
    let one: Applied[] = [];
    const two = await beside(
      opened.database,
      async () => {
        one = await apply(first);
      },
      () => apply(second),
    );
    return first.map((_, n) => [[one[n]], [two[n]]]);
  },
  'at once, the second passes over what the first has locked': async (first: Fact[], second: Fact[]) => {
    const one = await opened.database.transaction(async () => {
      const applied = await apply(first);
      const passed = await opened.database.detached(() => apply(second, { skipLocked: true }));
      expect(new Set(passed.map(({ result }) => result))).toEqual(new Set(['not_found']));
      return applied;
    });
    const two = await apply(second, { skipLocked: true });
    return first.map((_, n) => [[one[n]], [two[n]]]);
  },
};
type Way = keyof typeof WAYS;

async function expectPairs(way: Way, place: Place, change: Partial<LockedMessage> = {}): Promise<void> {
  const { database } = opened;
  const pairs = pairsOf(place, connection, change);
  await storeMessages(
    database,
    pairs.map(({ message }) => message),
  );
  const seqs = await seqsOf(
    database,
    pairs.map(({ message }) => message.id),
  );
  const transactions = await WAYS[way](
    pairs.map(({ facts }) => facts[0]),
    pairs.map(({ facts }) => facts[1]),
  );
  await expectStored(
    pairs.map((pair, n) => ({ ...pair, transactions: transactions[n] ?? [] })),
    seqs,
  );
}

describe.each(Object.keys(WAYS) as Way[])('two facts %s', (way) => {
  it.each(PLACES)('of a message that %s leave what the table has for their order', (place) => expectPairs(way, place));
});

describe('two facts of a database that was restored', () => {
  beforeAll(() => opened.database.execute(`update database_identity set identity = 'another'`));
  afterAll(() => opened.database.execute('update database_identity set identity = identity_of_database()'));

  it.each(PLACES)('of a message that %s leave what the table has for their order', (place) =>
    expectPairs('in two transactions', place, { claimsBlocked: true }),
  );
});

/** Statements that write the row of the queue alone, and lock no state. They return the attempts that they made. */
const QUEUE_ONLY = {
  'is claimed': async (ids: readonly string[]) => {
    await new LaneRepository(opened.database).ensure(connection.id);
    const request = claimRequest(connection.id, newId(), ids.length);
    const { items } = await claimLane(new ClaimRepository(opened.database), request, { leaseMs: 3_600_000 });
    return new Map(items.map(({ id, attemptId }) => [id, attemptId]));
  },
  'is released': async (ids: readonly string[]) => {
    const schedule = new ScheduleRepository(opened.database, factsOf(opened.database));
    const released = await schedule.release(ids.map((messageId) => ({ messageId, refusal: null, body: SHOWN })));
    expect(released).toHaveLength(ids.length);
    return new Map<string, string>();
  },
};

describe.each([
  ['waits', 'is claimed', 0],
  ['is queued again', 'is claimed', 1],
  ['is held for a time', 'is released', 0],
] as const)('a message that %s and %s', (place, statement, number) => {
  it('while a fact of it waits for the row of the queue has what the fact makes of the new row', async () => {
    const { database } = opened;
    const given = Object.entries(factsFor('is in flight')).map(([name, make]) => {
      const ids = idsOf(connection);
      const start = messageIn(place, ids, statement === 'is released' ? name : '');
      return { name, make, ids, start };
    });
    const ids = given.map(({ start }) => start.id);
    await storeMessages(
      database,
      given.map(({ start }) => start),
    );
    let seqs = new Map<string, number>();
    let cases: Omit<Case, 'transactions'>[] = [];
    const applied = await beside(
      database,
      async () => {
        const attempts = await QUEUE_ONLY[statement](ids);
        seqs = await seqsOf(database, ids);
        const written = await readStored(database, ids, seqs);
        cases = given.map(({ name, make, ids, start }) => {
          const own = attempts.get(start.id) ?? ids.attempts[number];
          const facts = [make({ ...ids, attempts: number === 0 ? [own, ids.attempts[1]] : [ids.attempts[0], own] })];
          return { name, facts, ...asWritten(start, written.get(start.id)) };
        });
      },
      () => apply(cases.map(({ facts }) => facts[0]).filter((fact) => fact !== undefined)),
    );
    const expected =
      statement === 'is claimed' ? { attemptNumber: number + 1, attemptId: expect.any(String) } : { isHeld: false };
    for (const { message } of cases) expect(message.work).toMatchObject(expected);
    await expectStored(
      cases.map((each, n) => ({ ...each, transactions: [[applied[n]]] })),
      seqs,
    );
  });
});

/** The message with its row of the queue as it is now. */
function asWritten(message: LockedMessage, stored: StoredMessage | undefined): Pick<Case, 'message' | 'turn'> {
  const row = stored?.queue as Case['turn'] & Record<string, unknown>;
  const keys = Object.keys(message.work ?? {}).filter((key) => key !== 'newDueAt');
  const work = { ...message.work, ...Object.fromEntries(keys.map((key) => [key, row[key]])) } as LockedMessage['work'];
  return { message: { ...message, work }, turn: { dueAt: row.dueAt, notBefore: row.notBefore } };
}
