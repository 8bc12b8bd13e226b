import fc from 'fast-check';
import pg from 'pg';
import { runs } from '../../../../test/support/runs.js';
import { claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { rowsRead } from '../../../../test/support/rows-read.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import type { Prepared } from '../../../infrastructure/database/prepared.js';
import { LaneRepository, NO_MARK } from '../../../infrastructure/lanes/lane.repository.js';
import { INSERT_MESSAGES } from '../accept/accept.repository.js';
import { CHECK_MARKS, CLAIM, DUE } from './claim-sql.js';
import { MessagesRepository } from '../messages.repository.js';
import { RECORD } from './outcome.repository.js';
import { claimParams, EXPIRE_LEASES, EXPIRE_QUEUED, SendRepository } from './send.repository.js';
import { LOCK } from '../reports/status-reports.repository.js';

const OWNER = newId();
// The dead rows of the test lie on thousands, and each that is read by an index touches one.
const FEW_PAGES = 1_000;
const LIMITS = { ttlHours: 24, leaseMs: 3_600_000 };

let opened: OpenTestDatabase;
let factories: Factories;
let sends: SendRepository;
let connection: ConnectionRow;

async function openDatabase(): Promise<void> {
  opened = await openTestDatabase(4);
  factories = new Factories(opened.database);
}

beforeAll(openDatabase);
afterAll(() => opened.close());

async function newLane(): Promise<void> {
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await new LaneRepository(opened.database).ensure(connection.id);
  // One that has checked no marks yet.
  sends = new SendRepository(opened.database);
}

function checkMarks(): Promise<number> {
  return opened.database.execute(CHECK_MARKS);
}

async function claim(limit = 64) {
  return (await sends.claim(claimRequest(connection.id, OWNER, limit), LIMITS)).items;
}

/** Lets so many seconds pass for all that is in the database: it is as much older. */
async function pass(seconds: number): Promise<void> {
  await opened.database.execute(
    `update lane set low_at = low_at - make_interval(secs => $1), seen_at = seen_at - make_interval(secs => $1),
       next_slot_at = next_slot_at - make_interval(secs => $1), owner = null, owner_until = null`,
    [seconds],
  );
  await opened.database.execute(OLDER, [connection.id, seconds, null]);
}

const OLDER = `
with older as (
  update message_queue set created_at = created_at - make_interval(secs => $2),
    queued_at = queued_at - make_interval(secs => $2) 
  where connection_id = $1 and message_id = coalesce($3, message_id) returning message_id, created_at
)
update message m set created_at = older.created_at from older where m.id = older.message_id`;

/** Messages that no claim would find. */
async function hidden(): Promise<unknown[]> {
  return opened.database.query(
    `select q.message_id, q.created_at < l.low_at as "byTime", q.seq < l.low_seq as "bySeq"
     from message_queue q join lane l on l.key = q.connection_id::text
     where q.attempt_id is null and q.next_attempt_at is null and (q.created_at < l.low_at or q.seq < l.low_seq)`,
  );
}

describe('a mark', () => {
  beforeEach(newLane);

  const newMessage = (id: string) => ({
    id,
    organizationId: connection.organizationId,
    connectionId: connection.id,
    conversationId: null,
    type: 'text',
    recipient: `1555${Math.floor(Math.random() * 5)}`,
    sender: '15550000000',
    body: 'hello',
    content: { body: 'hello' },
    idempotencyKey: newId(),
    fingerprint: '00'.repeat(32),
  });
  const insert = async (rows: { query: (sql: string, params: unknown[]) => Promise<unknown> }): Promise<string> => {
    const id = newId();
    await rows.query(INSERT_MESSAGES.text, [JSON.stringify([newMessage(id)])]);
    return id;
  };

  it('moves once what it passes is gone, in time and in the order, and costs no write where nothing happens', async () => {
    await insert(opened.database);
    const [message] = await claim();
    expect(message).toBeDefined();
    await pass(30);
    expect(await sends.moveMarks()).toBe(1);
    await pass(30);
    await insert(opened.database);
    await claim();
    expect(await sends.moveMarks()).toBe(1);
    const [lane] = await opened.database.query('select low_seq::integer from lane where key = $1', [connection.id]);
    expect(lane?.low_seq).toBeGreaterThan(0);
    await pass(60);
    await sends.moveMarks();
    await pass(60);
    expect(await sends.moveMarks()).toBe(0);
  });

  it('stays before what waits, however long, and behind what was put off', async () => {
    await factories.message({ connection, recipient: '111', nextAttemptAt: new Date(Date.now() + 3_600_000) });
    await insert(opened.database);
    await claim(0);
    for (let n = 0; n < 4; n++) {
      await pass(30);
      await claim(0);
      await sends.moveMarks();
      expect(await hidden()).toEqual([]);
    }
    expect(await claim()).toHaveLength(1);
  });

  it('is taken back by the check where something came to be before it', async () => {
    await claim(0);
    await pass(30);
    await sends.moveMarks();
    await factories.message({ connection, recipient: '111', createdAt: new Date(Date.now() - 60_000) });
    expect(await claim()).toEqual([]);
    expect(await checkMarks()).toBe(1);
    expect(await claim()).toHaveLength(1);
  });

  it('lets a deferred message that is due have its turn, although others come without end', async () => {
    const deferred = await factories.message({
      connection,
      recipient: '500',
      nextAttemptAt: new Date(Date.now() + 1e6),
    });
    await insert(opened.database);
    await claim();
    for (let n = 0; n < 3; n++) {
      await claim(0);
      await pass(30);
      await sends.moveMarks();
    }
    await opened.database.execute(
      `update message_queue set next_attempt_at = now() - interval '2 minutes' where message_id = $1`,
      [deferred.id],
    );
    const accept = (recipients: string[]): Promise<unknown> =>
      opened.database.query(INSERT_MESSAGES.text, [
        JSON.stringify(recipients.map((recipient) => ({ ...newMessage(newId()), recipient }))),
      ]);
    await accept(Array.from({ length: 200 }, (_none, n) => `${400 + n}0`));
    await checkMarks();
    let served = false;
    for (let round = 0; round < 50 && !served; round++) {
      const claimed = await claim(10);
      served = claimed.some(({ id }) => id === deferred.id);
      await opened.database.execute('delete from message_queue where attempt_id is not null');
      await accept(claimed.map(({ recipient }) => recipient));
      await sends.moveMarks();
    }
    expect(served).toBe(true);
    await opened.database.execute('delete from message_queue');
  });

  type Step = { do: 'accept' | 'begin' | 'commit' | 'send' | 'move' } | { do: 'pass'; seconds: number };

  it('never hides a message, however transactions overlap; after a step of the clock the check finds what it hides', async () => {
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom('accept', 'begin', 'commit', 'send').map((kind) => ({ do: kind })),
      },
      { weight: 3, arbitrary: fc.constant({ do: 'move' } as const) },
      {
        weight: 3,
        arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 40 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: -40, max: -2 }) }),
      },
    );
    let moved = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 30 }), async (steps) => {
        await newLane();
        // Inserts under way, and how long each has been so: by the statement's own time, and as the test lets it pass.
        const under: { client: pg.Client; id: string; since: number; passed: number }[] = [];
        let stepped = false;
        const expectNoneHidden = async (): Promise<void> => {
          if (stepped) await checkMarks();
          expect(await hidden()).toEqual([]);
        };
        const commit = async (): Promise<void> => {
          const [first] = under.splice(0, 1);
          if (first === undefined) return;
          await first.client.query(OLDER, [connection.id, first.passed, first.id]);
          await first.client.query('commit');
          await first.client.end();
        };
        try {
          for (const now of steps) {
            switch (now.do) {
              case 'accept':
                await insert(opened.database);
                break;
              case 'begin': {
                const client = new pg.Client({ connectionString: opened.url });
                await client.connect();
                await client.query('begin');
                const id = await insert(client);
                under.push({ client, id, since: performance.now(), passed: 0 });
                break;
              }
              case 'commit':
                await commit();
                break;
              case 'send':
                for (const { id } of await claim()) {
                  await opened.database.execute('delete from message_queue where message_id = $1', [id]);
                }
                break;
              case 'move':
                await claim(0);
                moved += await sends.moveMarks();
                break;
              case 'pass':
                // A statement that lasts too long is ended by its time limit.
                while (under.some((one) => one.passed + now.seconds + (performance.now() - one.since) / 1_000 > 10)) {
                  await commit();
                }
                await pass(now.seconds);
                for (const one of under) one.passed += now.seconds;
                stepped ||= now.seconds < 0;
                if (now.seconds < 0) await opened.database.execute(`update lane set ${NO_MARK}`);
                break;
            }
            await expectNoneHidden();
          }
          while (under.length > 0) await commit();
          await expectNoneHidden();
        } finally {
          await Promise.all(under.map(({ client }) => client.end()));
          await opened.database.execute('delete from message_queue');
        }
      }),
      { numRuns: runs(20) },
    );
    expect(moved).toBeGreaterThan(0);
  }, 120_000);
});

describe('beside a transaction that stays open, behind 100,000 messages that were sent', () => {
  let foreign: pg.Client;

  beforeAll(async () => {
    // Without the lanes of the tests above: beside any older transaction of the server their rows cannot be removed either.
    await opened.close();
    await openDatabase();
    await newLane();
    foreign = new pg.Client({ connectionString: opened.url });
    await foreign.connect();
    await foreign.query('begin isolation level repeatable read');
    await foreign.query('select count(*) from message');
    await send(100_000);
    for (let round = 0; round < 2; round++) {
      await claim(0);
      await pass(60);
      await sends.moveMarks();
    }
    // Nothing of it waits any more, and that is what the planner believes.
    await opened.database.execute('analyze message_queue');
  }, 60_000);
  afterAll(() => foreign.end());

  /** Leaves as many dead rows as messages leave that are accepted, claimed and sent. */
  async function send(count: number): Promise<void> {
    await opened.database.execute(
      `insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at)
       select $1, now() - interval '2 minutes', gen_random_uuid(), $1, '4' || (n % 20000), now()
       from generate_series(1, $2::integer) n`,
      [connection.id, count],
    );
    await opened.database.execute(
      `update message_queue set attempt_id = gen_random_uuid(), claimed_at = now(), lease_until = now() + interval '20 seconds'`,
    );
    await opened.database.execute('delete from message_queue');
  }

  /** Pages that a statement touches: of those that hold the dead rows there are thousands. */
  async function pages(statement: string | Prepared, params: readonly unknown[]): Promise<number> {
    const text = typeof statement === 'string' ? statement : statement.text;
    const undone = new Error('undone');
    let touched = Infinity;
    await opened.database
      .transaction(async () => {
        const [row] = await opened.database.query<{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }>(
          `explain (analyze, buffers, format json) ${text}`,
          params,
        );
        const plan = row?.['QUERY PLAN'][0].Plan ?? {};
        touched = (plan['Shared Hit Blocks'] ?? Infinity) + (plan['Shared Read Blocks'] ?? Infinity);
        throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    return touched;
  }

  const outcome = ({ id, attemptId }: { id: string; attemptId: string | null }) => [
    JSON.stringify([{ attemptId, messageId: id, status: 'accepted', attemptStatus: 'accepted' }]),
  ];

  it.each<[string, () => Promise<[string | Prepared, readonly unknown[]]>]>([
    ['the sweep for due lanes', async () => [DUE, [2_000, '00000000-0000-0000-0000-000000000000']]],
    [
      'a claim',
      async () => {
        const request = claimRequest(connection.id, OWNER, 64);
        return [CLAIM, claimParams([{ request, claimId: newId(), from: '', leaseMs: 20_000, ttlHours: 24 }])];
      },
    ],
    ['an outcome', async () => [RECORD, outcome(await factories.message({ connection, status: 'processing' }))]],
    ['a report', async () => [LOCK, [[(await factories.message({ connection, status: 'processing' })).id]]]],
    ['the sweep for leases', async () => [EXPIRE_LEASES, [1_000, new Date(Date.now() + 60_000)]]],
    ['the sweep for what waited too long', async () => [EXPIRE_QUEUED, [24, 1_000]]],
  ])('%s touches few pages, whatever the planner believes', async (_name, prepare) => {
    for (let n = 0; n < 20; n++) await factories.message({ connection, recipient: `15550${n}` });
    expect(await pages(...(await prepare()))).toBeLessThan(FEW_PAGES);
    // As autovacuum may do at any time: now the planner knows how many rows wait, and nothing of what is in them.
    await opened.database.execute('vacuum message_queue');
    expect(await pages(...(await prepare()))).toBeLessThan(FEW_PAGES);
  });

  it('counting what waits reads few rows', async () => {
    await factories.message({ connection, recipient: '155501' });
    const count = () => new MessagesRepository(opened.database).countQueued(connection.organizationId, 1_000);
    expect(await count()).toBeGreaterThan(0);
    expect(await rowsRead(opened.database, 'message_queue', count)).toBeLessThan(500);
  });
});
