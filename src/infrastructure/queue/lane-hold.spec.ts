import pg from 'pg';
import { claimRequest } from '../../../test/support/claim-request.js';
import { holdLane } from '../../../test/support/hold-lane.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { newId } from '../../common/ids.js';
import {
  HOLD_COLUMNS,
  holdOf,
  holdParams,
  holdParamsOfMany,
  laneHold,
  type HoldRow,
  type HoldRequest,
} from './lane-hold.js';
import { LaneRepository } from './lane.repository.js';

let opened: OpenTestDatabase;
let lanes: LaneRepository;

beforeAll(async () => {
  opened = await openTestDatabase();
  lanes = new LaneRepository(opened.database);
});

afterAll(() => opened.close());

const PACE = { ratePerSecond: 10, burstSeconds: 1 };
/** As many at once, and next to nothing more however long a test takes. */
const SLOW = { ratePerSecond: 0.01, burstSeconds: 1_000 };

function request(laneKey: string, owner: string, change: Partial<HoldRequest> = {}): HoldRequest {
  return { ...claimRequest(laneKey, owner, 4), pace: PACE, unusedRows: null, ...change };
}

const hold = (asked: HoldRequest) => holdLane(opened.database, asked);

const set = (key: string, assignments: string) =>
  opened.database.execute(`update lane set ${assignments} where key = $1`, [key]);

it('a lane that is taken gives what its pace has, no more than is wanted', async () => {
  const key = newId();
  expect(await hold(request(key, newId()))).toEqual({
    slots: 4,
    paused: false,
    newUnusedRows: 10,
    pausedMs: null,
  });
  const other = newId();
  expect(await hold(request(other, newId(), { limit: 64 }))).toMatchObject({ slots: 10, newUnusedRows: 10 });
});

it('another process does not get it', async () => {
  const key = newId();
  await hold(request(key, newId()));
  expect(await hold(request(key, newId()))).toBeNull();
});

it('who holds it goes on with the pace that it has in hand, and the row is written once in a while only', async () => {
  const [key, owner] = [newId(), newId()];
  await hold(request(key, owner));
  const version = () => opened.database.query('select ctid, owner_until from lane where key = $1', [key]);
  const before = await version();
  const goingOn = request(key, owner, { unusedRows: 1, limit: 1 });
  expect(await hold(goingOn)).toMatchObject({ slots: 1, paused: false, newUnusedRows: null });
  expect(await version()).toEqual(before);
  await set(key, `owner_until = clock_timestamp() + interval '1 second'`);
  expect(await hold(goingOn)).toMatchObject({ slots: 1, newUnusedRows: null, pausedMs: null });
  // Also where the hold has expired meanwhile, and no process took it.
  await set(key, `owner_until = clock_timestamp() - interval '1 second'`);
  expect(await hold(goingOn)).toMatchObject({ slots: 1, newUnusedRows: null });
});

it('who does not know what it used gets nothing of the time that it held the lane', async () => {
  const [key, owner] = [newId(), newId()];
  await hold(request(key, owner, { limit: 1 }));
  expect(await hold(request(key, owner))).toMatchObject({ slots: 0, newUnusedRows: 0 });
});

it('who takes over a hold that was not let go counts the pace as used up to its end', async () => {
  const key = newId();
  await hold(request(key, newId(), { limit: 1, pace: SLOW }));
  await set(key, `owner_until = clock_timestamp()`);
  expect((await hold(request(key, newId(), { pace: SLOW })))?.newUnusedRows).toBeLessThan(5);
  await set(key, `owner_until = clock_timestamp() - interval '1 minute', next_slot_at = '-infinity'`);
  expect(await hold(request(key, newId()))).toMatchObject({ slots: 4, newUnusedRows: 10 });
});

it('who asks for a lane that another process held and released meanwhile is told the unused pace of the lane', async () => {
  const [key, first, second] = [newId(), newId(), newId()];
  await hold(request(key, first, { pace: SLOW }));
  await set(key, `owner_until = clock_timestamp() - interval '1 second', next_slot_at = '-infinity'`);
  await hold(request(key, second, { pace: SLOW }));
  await lanes.release(second, [{ laneKey: key, pace: SLOW, unusedRows: 3.5 }]);
  const taken = await hold(request(key, first, { pace: SLOW, unusedRows: 10, limit: 10 }));
  expect(taken).toMatchObject({ slots: 3, newUnusedRows: expect.closeTo(3.5, 0) as number });
});

it('what is let go with its unused pace gives that to the next', async () => {
  const [key, owner] = [newId(), newId()];
  await hold(request(key, owner, { pace: SLOW }));
  await lanes.release(newId(), [{ laneKey: key, pace: SLOW, unusedRows: 10 }]);
  expect(await hold(request(key, newId(), { pace: SLOW }))).toBeNull();
  await lanes.release(owner, [{ laneKey: key, pace: SLOW, unusedRows: 3.5 }]);
  const taken = await hold(request(key, newId(), { limit: 64, pace: SLOW }));
  expect(taken?.slots).toBe(3);
  expect(taken?.newUnusedRows).toBeCloseTo(3.5, 0);
});

it('a lane that rests is not taken, and one that is held gives nothing', async () => {
  const [key, owner] = [newId(), newId()];
  await lanes.pause(key, 'rate_limited', { leastMs: 60_000 });
  const rests = { slots: 0, paused: true, newUnusedRows: null, pausedMs: expect.closeTo(60_000, -4) as number };
  expect(await hold(request(key, owner))).toEqual(rests);
  const [row] = await opened.database.query<{ owner: unknown }>('select owner from lane where key = $1', [key]);
  expect(row?.owner).toBeNull();
  const held = newId();
  await hold(request(held, owner));
  await lanes.pause(held, 'rate_limited', { leastMs: 60_000 });
  expect(await hold(request(held, owner, { unusedRows: 10 }))).toEqual(rests);
});

it('of many that ask at once one gets it', async () => {
  const key = newId();
  await lanes.ensure(key);
  const holds = await Promise.all(Array.from({ length: 8 }, () => hold(request(key, newId()))));
  expect(holds.filter((each) => each !== null)).toHaveLength(1);
});

it('a claim may read columns of its own with it', async () => {
  const [key, owner] = [newId(), newId()];
  await lanes.ensure(key);
  await set(key, `pause_reason = 'seen'`);
  const sql = `with ${laneHold({ returning: ', l.pause_reason' })} select ${HOLD_COLUMNS}, hold.pause_reason as reason from hold`;
  const reasons: (string | null)[] = [];
  for (const unusedRows of [null, 10]) {
    const rows = await opened.database.query<HoldRow & { reason: string | null }>(
      sql,
      holdParams(request(key, owner, { unusedRows })),
    );
    expect(holdOf(rows[0])?.slots).toBe(4);
    reasons.push(rows[0]?.reason ?? null);
  }
  expect(reasons).toEqual(['seen', 'seen']);
});

describe('a lane whose row another transaction may have locked', () => {
  let other: pg.Client;
  beforeAll(async () => {
    other = new pg.Client({ connectionString: opened.url });
    await other.connect();
  });
  afterAll(() => other?.end());
  afterEach(() => other.query('rollback'));

  const lock = async (key: string) => {
    await lanes.ensure(key);
    await other.query('begin');
    await other.query('select from lane where key = $1 for update', [key]);
  };

  // The rows of the table at `laneHold`. "known": this process has counted the pace; its claim asks for one row.
  it.each<{
    row: string;
    owner: 'this' | 'other' | null;
    known?: boolean;
    lasts: string;
    locked?: boolean;
    gives: string;
  }>([
    { row: '1', owner: 'this', known: true, lasts: '4 s', gives: 'goes on' },
    { row: '1', owner: 'this', known: true, lasts: '4 s', locked: true, gives: 'goes on' },
    { row: '2', owner: 'this', known: true, lasts: '2 s', gives: 'renewed' },
    { row: '2', owner: 'this', known: true, lasts: '-1 s', gives: 'renewed' },
    { row: '3', owner: 'this', known: true, lasts: '2 s', locked: true, gives: 'goes on' },
    { row: '4', owner: 'this', known: true, lasts: '-1 s', locked: true, gives: 'nothing' },
    { row: '5a', owner: null, lasts: '0 s', gives: 'taken' },
    { row: '5b', owner: 'this', lasts: '4 s', gives: 'taken' },
    { row: '5c', owner: 'other', known: true, lasts: '-1 s', gives: 'taken' },
    { row: '6', owner: null, lasts: '0 s', locked: true, gives: 'nothing' },
    { row: '6', owner: 'this', lasts: '4 s', locked: true, gives: 'nothing' },
    { row: '6', owner: 'other', known: true, lasts: '-1 s', locked: true, gives: 'nothing' },
    { row: '7', owner: 'other', known: true, lasts: '4 s', gives: 'nothing' },
    { row: '7', owner: 'other', known: true, lasts: '4 s', locked: true, gives: 'nothing' },
  ])('is row $row of the table: owner $owner, known $known, lasts $lasts, locked $locked', async (each) => {
    const { owner, known = false, lasts, locked = false, gives } = each;
    const [key, own] = [newId(), newId()];
    await lanes.ensure(key);
    const ownerId = owner === 'this' ? own : newId();
    const until = owner === null ? 'null' : `clock_timestamp() + interval '${lasts}'`;
    await set(key, `owner = ${owner === null ? 'null' : `'${ownerId}'`}, owner_until = ${until}`);
    const version = () => opened.database.row<{ ctid: string }>('select ctid::text from lane where key = $1', [key]);
    const before = await version();
    if (locked) await lock(key);
    const found = await hold(request(key, own, { limit: 1, unusedRows: known ? 1 : null }));
    const isWritten = (await version()).ctid !== before.ctid;
    const told = found === null ? 'nothing' : isWritten ? 'renewed' : 'goes on';
    expect(found?.newUnusedRows !== null && found !== null ? 'taken' : told).toBe(gives);
    expect(isWritten).toBe(gives === 'taken' || gives === 'renewed');
  });

  it('counts where it is locked as held by another process, and keeps no other lane of the statement', async () => {
    const [locked, free, owner] = [newId(), newId(), newId()];
    await lock(locked);
    await lanes.ensure(free);
    const found = await opened.database.query<HoldRow & { key: string }>(
      `with ${laneHold({ many: true })} select ${HOLD_COLUMNS}, hold.key from hold`,
      holdParamsOfMany([request(locked, owner), request(free, owner)]),
    );
    expect(found.map(({ key, hold_slots: slots }) => ({ key, slots }))).toEqual([{ key: free, slots: 4 }]);
  });

  it('goes on where this process holds it and it is locked, and is written by a later claim', async () => {
    const [key, owner] = [newId(), newId()];
    await hold(request(key, owner));
    const ends = `owner_until = clock_timestamp() + interval '2 seconds'`;
    await set(key, ends);
    await lock(key);
    const goingOn = request(key, owner, { unusedRows: 1, limit: 1 });
    expect(await hold(goingOn)).toEqual({ slots: 1, paused: false, newUnusedRows: null, pausedMs: null });
    await other.query('rollback');
    await hold(goingOn);
    const { renewed } = await opened.database.row<{ renewed: boolean }>(
      `select owner_until > clock_timestamp() + interval '2 seconds' as renewed from lane where key = $1`,
      [key],
    );
    expect(renewed).toBe(true);
  });
});
