import { factsOf } from '../../../../test/support/facts.js';
import { jest } from '@jest/globals';
import { acceptedOutcome } from '../../../../test/support/accepted-outcome.js';
import { claimLane, claimRequest } from '../../../../test/support/claim-request.js';
import { grantLane, livingOwner } from '../../../../test/support/grant-lane.js';
import {
  OWNER,
  LIMITS,
  opened,
  sends,
  lanes,
  outcomes,
  queue,
  newConnection,
  claim,
} from '../../../../test/support/fixtures/claim.js';
import { newId } from '../../../common/ids.js';
import { attemptRows } from '../../../../test/messages/attempt-row.js';
import { CLAIM, ClaimRepository } from './claim.repository.js';
import { SendingSweepsRepository } from '../sweeps/sending-sweeps.repository.js';

let sweeps: SendingSweepsRepository;

beforeAll(() => {
  sweeps = new SendingSweepsRepository(opened.database, factsOf(opened.database));
});

/** All lanes with due messages, looked for in pages. */
async function dueKeys(pageSize: number): Promise<string[]> {
  const keys: string[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await sends.dueConnections(pageSize, after ?? null);
    keys.push(...page.lanes);
    after = page.next;
  }
  return keys;
}

/** Accepted so many hours earlier. */
async function age(id: string, hours: number): Promise<void> {
  const earlier = (column: string) => `${column} = ${column} - make_interval(hours => $2)`;
  await opened.database.execute(`update message set ${earlier('created_at')} where id = $1`, [id, hours]);
  await opened.database.execute(
    `update message_queue set ${earlier('created_at')}, ${earlier('queued_at')}, ${earlier('due_at')},
       ${earlier('expires_at')} where message_id = $1`,
    [id, hours],
  );
}

const otherOwner = async () => (await livingOwner(opened.database)).id;

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const rows = await opened.database.query('select * from message_view where id = $1', [id]);
  return rows[0] ?? {};
}

async function attemptsOf(id: string): Promise<Record<string, unknown>[]> {
  return attemptRows(opened.database, id);
}

describe('claiming', () => {
  it('takes the oldest message of each recipient, and the next one only after its outcome', async () => {
    const lane = newId();
    const [a1, a2, b1] = await queue(lane, '111', '111', '222');
    const first = await claim(lane);
    expect(new Set(first.map((row) => row.id))).toEqual(new Set([a1, b1]));
    expect(await claim(lane)).toEqual([]);
    for (const row of first) expect(await outcomes.record(acceptedOutcome(row))).toBe('recorded');
    expect((await claim(lane)).map((row) => row.id)).toEqual([a2]);
  });

  it('opens an attempt, a lease and the state processing', async () => {
    const lane = newId();
    const [id = ''] = await queue(lane, '111');
    const [claimed] = await claim(lane);
    const row = await rowOf(id);
    expect(row).toMatchObject({ status: 'processing', attempt_count: 1, current_attempt_id: claimed?.attemptId });
    expect((row.lease_until as Date).getTime()).toBeGreaterThan(Date.now() + LIMITS.leaseMs / 2);
    expect(await attemptsOf(id)).toMatchObject([{ id: claimed?.attemptId, number: 1, status: 'started' }]);
  });

  it('stops where another process holds the lane', async () => {
    const lane = newId();
    await queue(lane, '111');
    await grantLane(opened.database, claimRequest(lane, await otherOwner(), 1));
    expect(await grantLane(opened.database, claimRequest(lane, OWNER, 1))).toBeNull();
    expect(await claim(lane, 5)).toEqual([]);
  });

  it('stops where the lane was paused after it was held', async () => {
    const lane = newId();
    await queue(lane, '111');
    await grantLane(opened.database, claimRequest(lane, OWNER, 1));
    await lanes.pause(lane, 'rate_limited', { leastMs: 60_000 });
    expect(await claim(lane, 5)).toEqual([]);
  });

  it('never hands one message to two claimers at once', async () => {
    const lane = newId();
    await queue(lane, ...Array.from({ length: 40 }, (_unused, index) => `9${String(index).padStart(3, '0')}`));
    await grantLane(opened.database, claimRequest(lane, OWNER, 1));
    const rounds = await Promise.all(
      Array.from({ length: 8 }, () =>
        claimLane(new ClaimRepository(opened.database), claimRequest(lane, OWNER, 10), LIMITS),
      ),
    );
    const ids = rounds.flatMap(({ items }) => items).map((row) => row.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('takes each of many recipients once, over several claims', async () => {
    const lane = newId();
    const recipients = Array.from({ length: 25 }, (_unused, index) => `7${String(index).padStart(3, '0')}`);
    await queue(lane, ...recipients);
    const seen: string[] = [];
    for (let round = 0; round < 5; round++) {
      const rows = await claim(lane, 10);
      seen.push(...rows.map((row) => row.recipient));
    }
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
  });

  it('passes over a recipient whose head is not due yet', async () => {
    const lane = newId();
    await queue(lane, '111', '111', '222');
    const rows = await claim(lane);
    const [a] = rows.filter((row) => row.recipient === '111');
    if (a === undefined) throw new Error('nothing was claimed');
    await outcomes.record(acceptedOutcome(a, { status: 'queued', delayMs: 60_000, tries: 1 }));
    expect(await claim(lane)).toEqual([]);
    expect(await rowOf(a.id)).toMatchObject({ status: 'queued', tries: 1 });
  });

  it('leaves what is too old to the expiry, which fails it', async () => {
    const lane = await newConnection('disconnected');
    const [id = ''] = await queue(lane, '111');
    await age(id, 25);
    expect(await claim(lane)).toEqual([]);
    expect(await sweeps.expireQueued(100)).toEqual([{ organizationId: lane, connectionId: lane }]);
    expect(await rowOf(id)).toMatchObject({ status: 'failed', failure_category: 'expired' });
  });

  it('neither claims nor fails anything on another database than the confirmed one', async () => {
    const lane = await newConnection('connected');
    const [old = '', fresh = ''] = await queue(lane, '111', '222');
    await age(old, 25);
    const identity = (sql: string) => opened.database.execute(`update database_identity set identity = ${sql}`);
    await identity(`'1/00000001/1'`);
    try {
      expect(await claim(lane)).toEqual([]);
      expect(await sweeps.expireQueued(100)).toEqual([]);
    } finally {
      await identity('identity_of_database()');
    }
    expect((await claim(lane)).map(({ id }) => id)).toEqual([fresh]);
    expect(await new SendingSweepsRepository(opened.database, factsOf(opened.database)).expireQueued(100)).toHaveLength(
      1,
    );
  });

  it('finds what is due behind what is expired or deferred', async () => {
    const lane = await newConnection('connected');
    const [expired = '', deferred = ''] = await queue(lane, '111', '222', '333');
    await age(expired, 25);
    await opened.database.execute(
      `update message_queue set due_at = clock_timestamp() + interval '1 hour' where message_id = $1`,
      [deferred],
    );
    expect((await claim(lane, 1)).map(({ recipient }) => recipient)).toEqual(['333']);
  });
});

describe('claims that share a statement', () => {
  it('bring each lane its own messages, as many as it asked for, and say who does not hold its lane', async () => {
    const [first, second, held, empty] = [newId(), newId(), newId(), newId()];
    await queue(first, '111', '222', '333');
    await queue(second, '111');
    await queue(held, '111');
    await claim(held, 1, await otherOwner());
    const all = [first, second, held, empty];
    await Promise.all(all.map((lane) => lanes.ensure(lane)));
    const used = jest.spyOn(opened.database, 'query');
    const answers = await sends.claim(
      all.map((lane) => claimRequest(lane, OWNER, 2)),
      LIMITS,
    );
    expect(used.mock.calls.map(([statement]) => statement)).toEqual([CLAIM]);
    used.mockRestore();
    expect(answers.map(({ items }) => items.map((row) => row.recipient).sort())).toEqual([
      ['111', '222'],
      ['111'],
      [],
      [],
    ]);
    expect(answers.map(({ items }) => items.every((row) => row.attemptNumber === 1))).toEqual([true, true, true, true]);
    expect(answers.map(({ grant }) => grant?.slots)).toEqual([2, 2, undefined, 2]);
    const ids = answers.flatMap(({ items }) => items.map((row) => row.attemptId));
    expect(new Set(ids).size).toBe(3);
  });

  it('on one lane give no message twice', async () => {
    const lane = newId();
    await queue(lane, ...Array.from({ length: 12 }, (_, n) => `11${n}`));
    const claims = await Promise.all(Array.from({ length: 4 }, () => claim(lane, 4)));
    // On a slow machine the pace may leave some of them to a later claim.
    const ids = [...claims.flat(), ...(await claim(lane, 12))].map((row) => row.id);
    expect(ids).toHaveLength(12);
    expect(new Set(ids).size).toBe(12);
  });
});

describe('claiming behind recipients that are not to be served', () => {
  it('serves one recipient after the other in turns, however much waits for the first', async () => {
    const lane = newId();
    await queue(lane, ...Array.from({ length: 8 }, () => ['111', '222', '333']).flat());
    const turns: string[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const [row] = await claim(lane, 1);
      if (row === undefined) throw new Error('nothing was claimed');
      turns.push(row.recipient);
      await outcomes.record(acceptedOutcome(row));
    }
    expect(turns).toEqual(['111', '222', '333', '111', '222', '333']);
  });
});

describe('due connections', () => {
  it('are found by skipping, only those with due messages', async () => {
    const [due, later] = [await newConnection('connected'), await newConnection('connected')];
    await queue(due, '111', '222');
    const [id = ''] = await queue(later, '111');
    await opened.database.execute(
      `update message_queue set due_at = clock_timestamp() + interval '1 hour' where message_id = $1`,
      [id],
    );
    const keys = await dueKeys(1_000);
    expect(keys).toContain(due);
    expect(keys).not.toContain(later);
  });

  it('are found page by page, those that cannot send left out', async () => {
    const able = await Promise.all((['connected', 'restricted'] as const).map(newConnection));
    const unable = await Promise.all((['disconnected', 'pending'] as const).map(newConnection));
    for (const connection of [...able, ...unable]) await queue(connection, '111');
    const keys = await dueKeys(1);
    expect(keys).toEqual(await dueKeys(1_000));
    expect(keys).toEqual(expect.arrayContaining(able));
    for (const connection of unable) expect(keys).not.toContain(connection);
  });
});
