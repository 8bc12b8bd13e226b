import pg from 'pg';
import { beside } from '../../../test/support/beside.js';
import { claimRequest } from '../../../test/support/claim-request.js';
import { grantLane, livingOwner } from '../../../test/support/grant-lane.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import { beginTransaction } from '../../../test/support/open-transaction.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { GRANT_COLUMNS, grantParams, laneGrants, ONE_CLAIM, type ClaimRequest, type GrantRow } from './lane-grant.js';
import { LaneRepository } from './lane.repository.js';
import { claimsEnded } from './lost-claims.js';

let opened: OpenTestDatabase;
let lanes: LaneRepository;
/** Two processes that work. */
let own: string;
let other: string;

beforeAll(async () => {
  opened = await openTestDatabase();
  lanes = new LaneRepository(opened.database);
  own = (await livingOwner(opened.database)).id;
  other = (await livingOwner(opened.database)).id;
});

afterAll(() => opened.close());

const PACE = { ratePerSecond: 10, burstSeconds: 1 };
/** As many at once, and next to nothing more however long a test takes. */
const SLOW = { ratePerSecond: 0.01, burstSeconds: 1_000 };

function request(laneKey: string, owner: string, change: Partial<ClaimRequest> = {}): ClaimRequest {
  return { ...claimRequest(laneKey, owner, 4), pace: PACE, knowsPace: false, ...change };
}

const grant = (asked: ClaimRequest) => grantLane(opened.database, asked);

const set = (key: string, assignments: string) =>
  opened.database.execute(`update lane set ${assignments} where key = $1`, [key]);

const ownerOf = (key: string) =>
  opened.database.row<{ owner: string | null; ctid: string }>('select owner, ctid::text from lane where key = $1', [
    key,
  ]);

it('a lane that is taken gives what its pace has, no more than is wanted', async () => {
  const key = newId();
  expect(await grant(request(key, own))).toEqual({ slots: 4, paused: false, unusedRows: 10, pausedMs: null });
  expect(await grant(request(newId(), own, { limit: 64 }))).toMatchObject({ slots: 10, unusedRows: 10 });
  expect(await grant(request(key, other))).toBeNull();
});

it('what is released with its unused pace gives that to the next', async () => {
  const key = newId();
  await grant(request(key, own, { pace: SLOW }));
  await lanes.release(other, [{ laneKey: key, pace: SLOW, unusedRows: 10 }]);
  expect(await grant(request(key, other, { pace: SLOW }))).toBeNull();
  await lanes.release(own, [{ laneKey: key, pace: SLOW, unusedRows: 3.5 }]);
  const taken = await grant(request(key, other, { limit: 64, pace: SLOW }));
  expect(taken?.slots).toBe(3);
  expect(taken?.unusedRows).toBeCloseTo(3.5, 0);
});

it('who asks for a lane that another process owned and released meanwhile is told its unused pace', async () => {
  const key = newId();
  await grant(request(key, own, { pace: SLOW }));
  await set(key, `owner = '${other}'`);
  await lanes.release(other, [{ laneKey: key, pace: SLOW, unusedRows: 3.5 }]);
  const taken = await grant(request(key, own, { pace: SLOW, knowsPace: true, limit: 10 }));
  expect(taken).toMatchObject({ slots: 3, unusedRows: expect.closeTo(3.5, 0) as number });
});

it('a paused lane is not taken, and one that is owned gives nothing', async () => {
  const [key, owned] = [newId(), newId()];
  await lanes.pause(key, 'rate_limited', { leastMs: 60_000 });
  const paused = { slots: 0, paused: true, unusedRows: null, pausedMs: expect.closeTo(60_000, -4) as number };
  expect(await grant(request(key, own))).toEqual(paused);
  expect((await ownerOf(key)).owner).toBeNull();
  await grant(request(owned, own));
  await lanes.pause(owned, 'rate_limited', { leastMs: 60_000 });
  expect(await grant(request(owned, own, { knowsPace: true }))).toEqual(paused);
});

it('of many that ask at once one gets it', async () => {
  const key = newId();
  await lanes.ensure(key);
  const owners = await Promise.all(Array.from({ length: 8 }, () => livingOwner(opened.database)));
  const grants = await Promise.all(owners.map(({ id }) => grant(request(key, id))));
  expect(grants.filter((each) => each !== null)).toHaveLength(1);
});

describe('a lane whose row another transaction may have locked', () => {
  let client: pg.Client;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: opened.url });
    await client.connect();
  });
  afterAll(() => client?.end());
  afterEach(() => client.query('rollback'));

  // The rows of the table at `laneGrants`. Its claim asks for one row; "used": of a burst of ten rows none is left.
  it.each<{
    owner: 'this' | 'other' | 'dead' | null;
    knows?: boolean;
    locked?: boolean;
    gives: string;
    slots?: number;
  }>([
    { owner: 'this', knows: true, gives: 'goes on', slots: 1 },
    { owner: 'this', knows: true, locked: true, gives: 'goes on', slots: 1 },
    { owner: null, gives: 'taken', slots: 1 },
    { owner: null, knows: true, gives: 'taken', slots: 1 },
    { owner: null, locked: true, gives: 'nothing' },
    { owner: 'dead', gives: 'taken', slots: 0 },
    { owner: 'dead', knows: true, gives: 'taken', slots: 0 },
    { owner: 'dead', locked: true, gives: 'nothing' },
    { owner: 'this', gives: 'taken', slots: 0 },
    { owner: 'this', locked: true, gives: 'nothing' },
    { owner: 'other', gives: 'nothing' },
    { owner: 'other', knows: true, gives: 'nothing' },
    { owner: 'other', locked: true, gives: 'nothing' },
  ])('owner $owner, knows its pace $knows, locked $locked: $gives', async ({ owner, knows, locked, gives, slots }) => {
    const key = newId();
    await lanes.ensure(key);
    const id = { this: own, other, dead: newId(), none: null }[owner ?? 'none'];
    await set(key, `owner = ${id === null ? 'null' : `'${id}'`}, next_slot_at = '-infinity'`);
    const before = await ownerOf(key);
    if (locked === true) {
      await client.query('begin');
      await client.query('select from lane where key = $1 for update', [key]);
    }
    const found = await grant(request(key, own, { limit: 1, knowsPace: knows === true }));
    const after = await ownerOf(key);
    const isTold = found !== null && found.unusedRows !== null;
    expect(found === null ? 'nothing' : isTold ? 'taken' : 'goes on').toBe(gives);
    expect([found?.slots, after.ctid !== before.ctid]).toEqual([slots, gives === 'taken']);
    if (gives !== 'nothing') expect(after.owner).toBe(own);
  });

  it('keeps no other lane of the statement', async () => {
    const [locked, free] = [newId(), newId()];
    for (const key of [locked, free]) await lanes.ensure(key);
    await client.query('begin');
    await client.query('select from lane where key = $1 for update', [locked]);
    const found = await opened.database.query<GrantRow & { key: string }>(
      `with ${laneGrants()} select ${GRANT_COLUMNS}, lane_grant.key from lane_grant`,
      grantParams([request(locked, own), request(free, own)]),
    );
    expect(found.map(({ key, grant_slots: slots }) => ({ key, slots }))).toEqual([{ key: free, slots: 4 }]);
  });

  it('has one claim at a time, also where the process that claims has another owner after it', async () => {
    const key = newId();
    await grant(request(key, other));
    await client.query('begin');
    const [params, sql] = [
      grantParams([request(key, other, { knowsPace: true })]),
      `with ${laneGrants()} select * from lane_grant`,
    ];
    expect((await client.query(sql, params)).rowCount).toBe(1);
    // The owner died while its claim is under way.
    const dead = newId();
    await set(key, `owner = '${dead}'`);
    expect(await grant(request(key, own))).toBeNull();
    expect((await ownerOf(key)).owner).toBe(dead);
    await client.query('commit');
    // What the dead one used is not known.
    expect(await grant(request(key, own))).toMatchObject({ slots: 0, unusedRows: 0 });
  });
});

describe('a claim that hangs in its commit, as where a synchronous standby is away, and was given up', () => {
  const claim = (key: string, change: Partial<ClaimRequest> = {}) => {
    const params = grantParams([request(key, own, change)]);
    return opened.database.query(`with ${laneGrants()} select * from lane_grant`, params);
  };

  it.each([
    { before: 'no process owned', owner: null },
    { before: 'a process that died owned', owner: newId() },
  ])('the lane that $before is released after it', async ({ owner }) => {
    const key = newId();
    await lanes.ensure(key);
    await set(key, `owner = ${owner === null ? 'null' : `'${owner}'`}`);
    const free = newId();
    await lanes.ensure(free);
    await set(free, `owner = '${own}'`);
    const all = [key, free].map((laneKey) => ({ laneKey, pace: PACE, unusedRows: 0 }));
    await opened.database.transaction(async () => {
      expect(await claim(key)).toHaveLength(1);
      // It is told that this one is still to be released; another one is not kept waiting.
      expect(await opened.database.detached(() => lanes.release(own, all))).toEqual([key]);
      expect((await opened.database.detached(() => ownerOf(free))).owner).toBeNull();
    });
    expect(await lanes.release(own, all)).toEqual([]);
    expect((await ownerOf(key)).owner).toBeNull();
  });

  it('is waited for, also where it has not written the lane', async () => {
    const key = newId();
    await grant(request(key, own));
    await claimsEnded(opened.database, [key, newId()]);
    const hangs = async () => expect(await claim(key, { knowsPace: true })).toHaveLength(1);
    await beside(opened.database, hangs, () => claimsEnded(opened.database, [newId(), key]));
    // What waits for one lane keeps no other one from its claims.
    const others = Array.from({ length: 8 }, () => newId());
    for (const each of others) await lanes.ensure(each);
    const client = await beginTransaction(opened.url);
    try {
      await client.query('select pg_advisory_xact_lock($1, hashtext($2))', [ONE_CLAIM, key]);
      const ended = claimsEnded(opened.database, [...others, key]);
      await waitFor(() =>
        opened.database.count(
          `select count(*)::integer as count from pg_locks where locktype = 'advisory' and not granted`,
        ),
      );
      for (const each of others) expect(await grant(request(each, own))).not.toBeNull();
      await client.query('commit');
      await ended;
    } finally {
      await client.end();
    }
  });
});
