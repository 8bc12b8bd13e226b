import fc from 'fast-check';
import pg from 'pg';
import { runs } from '../../../../test/support/runs.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { Factories, type ConnectionRow } from '../../../../test/support/factories.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../../test/support/test-database.js';
import { newId } from '../../../common/ids.js';
import { LaneRepository, NO_MARK } from '../../../infrastructure/queue/lane.repository.js';
import { INSERT_MESSAGES } from '../../messages/accept/accept.repository.js';
import { ClaimRepository } from './claim.repository.js';

const OWNER = newId();
const LIMITS = { leaseMs: 3_600_000 };

let opened: OpenTestDatabase;
let factories: Factories;
let sends: ClaimRepository;
let connection: ConnectionRow;

beforeAll(async () => {
  opened = await openTestDatabase(4);
  factories = new Factories(opened.database);
});
afterAll(() => opened.close());

async function newLane(): Promise<void> {
  connection = await factories.connection({ organizationId: (await factories.workspace()).id });
  await new LaneRepository(opened.database).ensure(connection.id);
  // One that has checked no marks yet.
  sends = new ClaimRepository(opened.database);
}

/** As once a minute: the first of a process. */
function checkMarks(): Promise<number> {
  return new ClaimRepository(opened.database).dueConnections.moveMarks();
}

async function claim(limit = 64) {
  return (await claimLane(sends, claimRequest(connection.id, OWNER, limit), LIMITS)).items;
}

/** Lets so many seconds pass for all that is in the database: it is as much older. */
async function pass(seconds: number): Promise<void> {
  await opened.database.execute(
    `update lane set low_at = low_at - make_interval(secs => $1),
       next_slot_at = next_slot_at - make_interval(secs => $1), owner = null`,
    [seconds],
  );
  await opened.database.execute(OLDER, [connection.id, seconds, null]);
}

const DELETE_UNLOCKED = `
delete from message_queue where ctid = any(array(
  select ctid from message_queue where message_id = $1 for update skip locked))`;

const OLDER = `
with older as (
  update message_queue set created_at = created_at - make_interval(secs => $2),
    queued_at = queued_at - make_interval(secs => $2), due_at = due_at - make_interval(secs => $2)
  where connection_id = $1 and message_id = coalesce($3, message_id) returning message_id, created_at
)
update message m set created_at = older.created_at from older where m.id = older.message_id`;

/** Messages that no claim would find. */
async function hidden(): Promise<unknown[]> {
  return opened.database.query(
    'select q.message_id from message_queue q join lane l on l.key = q.connection_id::text where q.due_at < l.low_at',
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
    await rows.query(INSERT_MESSAGES.text, [JSON.stringify([newMessage(id)]), 24]);
    return id;
  };

  it('moves once what it passes is gone, and costs no write where nothing happens', async () => {
    await insert(opened.database);
    const [message] = await claim();
    expect(message).toBeDefined();
    await pass(30);
    expect(await sends.dueConnections.moveMarks()).toBe(1);
    await pass(30);
    await insert(opened.database);
    await claim();
    expect(await sends.dueConnections.moveMarks()).toBe(1);
    await pass(60);
    await sends.dueConnections.moveMarks();
    await pass(60);
    expect(await sends.dueConnections.moveMarks()).toBe(0);
  });

  it('is not asked for while no lane is used, but for the check once a minute', async () => {
    // Lanes of the other tests: their marks are where they can be.
    await pass(60);
    await checkMarks();
    const { moveMarks } = sends.dueConnections;
    const hasWork = async () =>
      (await opened.database.row<{ work: boolean }>(`select ${moveMarks.hasWork()} as work`)).work;
    expect(moveMarks.hasWork()).toBe('true');
    await moveMarks();
    expect(await hasWork()).toBe(false);
    await insert(opened.database);
    await claim();
    await pass(30);
    expect(await hasWork()).toBe(true);
    await moveMarks();
    expect(await hasWork()).toBe(false);
  });

  it('stays before what waits, however long, and behind what was deferred', async () => {
    await factories.message({ connection, recipient: '111', nextAttemptAt: new Date(Date.now() + 3_600_000) });
    await insert(opened.database);
    await claim(0);
    for (let n = 0; n < 4; n++) {
      await pass(30);
      await claim(0);
      await sends.dueConnections.moveMarks();
      expect(await hidden()).toEqual([]);
    }
    expect(await claim()).toHaveLength(1);
  });

  it('is taken back by the check where something came to be before it', async () => {
    await claim(0);
    await pass(30);
    await sends.dueConnections.moveMarks();
    await factories.message({ connection, recipient: '111', createdAt: new Date(Date.now() - 60_000) });
    expect(await claim()).toEqual([]);
    expect(await checkMarks()).toBe(1);
    expect(await claim()).toHaveLength(1);
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
                  // What waits for an open INSERT stays in flight.
                  await opened.database.execute(DELETE_UNLOCKED, [id]);
                }
                break;
              case 'move':
                await claim(0);
                moved += await sends.dueConnections.moveMarks();
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
  });
});
