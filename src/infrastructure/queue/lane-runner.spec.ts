import { jest } from '@jest/globals';
import pg from 'pg';
import { systemClock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { claimRequest } from '../../../test/support/claim-request.js';
import { grantLane, livingOwner } from '../../../test/support/grant-lane.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import type { ClaimRequest, LanePace, Claim } from './lane-grant.js';
import { LaneRepository } from './lane.repository.js';
import { LostClaimError } from './lost-claims.js';
import type { LaneOwner } from './lane-owner.js';
import { claimEach, type QueueKind } from './queue-kind.js';
import { LaneRunner, type LaneRunnerOptions } from './lane-runner.js';
import { gate } from '../../../test/support/gate.js';

let opened: OpenTestDatabase;
let lanes: LaneRepository;
const loops: LaneRunner<number>[] = [];

beforeAll(async () => {
  opened = await openTestDatabase();
  lanes = new LaneRepository(opened.database);
});
afterEach(() => Promise.all(loops.splice(0).map((loop) => loop.stop(5_000))));
afterAll(() => opened.close());

const OUT_OF_TIME = Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });

/** Rows in memory; the lane itself is a real row. */
class ListKind implements QueueKind<number> {
  readonly name = 'list';
  maxPerLane = 100;
  readonly rows = new Map<string, number[]>();
  readonly done: number[] = [];
  readonly doneOf = new Map<string, number>();
  lanePace: LanePace | null = { ratePerSecond: 1_000_000, burstSeconds: 1 };
  /** The lanes of each claim. */
  readonly claims: string[][] = [];
  failing = false;
  /** Claims of these lanes run out of time, once `slowGate` resolves. */
  readonly slow = new Set<string>();
  slowGate: Promise<void> | null = null;
  onSlow = (): unknown => undefined;
  /** Claims of these lanes take long, and succeed. */
  readonly late = new Set<string>();
  onLate = (): unknown => undefined;
  inFlight = 0;
  most = 0;
  /** Work goes on until it resolves. */
  gate: Promise<void> | null = null;
  /** Claims go on until it resolves. */
  claimGate: Promise<void> | null = null;
  stopped = false;
  /** The next claim fails with it. */
  lost: LostClaimError | null = null;
  /** Until it resolves what was lost is not released. */
  backGate: Promise<void> | null = null;
  readonly releasedLost: [LostClaimError, readonly string[]][] = [];

  window?: (laneKey: string) => number;

  /** Their next question for a pace fails. */
  readonly withoutPace = new Set<string>();

  pace(laneKey: string): Promise<LanePace | null> {
    if (this.withoutPace.delete(laneKey)) return Promise.reject(new Error('its pace cannot be read'));
    return Promise.resolve(this.lanePace);
  }

  async claim(requests: readonly ClaimRequest[]): Promise<(Claim<number> | Error)[]> {
    this.claims.push(requests.map(({ laneKey }) => laneKey));
    await this.claimGate;
    if (this.failing) throw new Error('the database is away');
    const { lost } = this;
    this.lost = null;
    if (lost !== null) throw lost;
    if (requests.some(({ laneKey }) => this.slow.has(laneKey))) {
      this.onSlow();
      await this.slowGate;
      throw OUT_OF_TIME;
    }
    if (requests.some(({ laneKey }) => this.late.has(laneKey))) this.onLate();
    return claimEach(requests, async (request) => {
      const grant = await grantLane(opened.database, request);
      return { grant, items: (this.rows.get(request.laneKey) ?? []).splice(0, grant?.slots ?? 0) };
    });
  }

  async work(item: number): Promise<null> {
    this.inFlight++;
    this.most = Math.max(this.most, this.inFlight);
    if (item < 0) throw new Error('outside its own handling');
    await this.gate;
    this.inFlight--;
    this.done.push(item);
    return null;
  }

  async releaseLost(lost: LostClaimError, laneKeys: readonly string[]): Promise<void> {
    await this.backGate;
    this.releasedLost.push([lost, laneKeys]);
  }

  stop(): void {
    this.stopped = true;
  }

  fill(lane: string, count: number): void {
    this.rows.set(
      lane,
      Array.from({ length: count }, (_unused, index) => index),
    );
  }
}

/** In turn the first, second … process of a test. */
let owners: LaneOwner[];
beforeAll(async () => {
  owners = await Promise.all([1, 2, 3].map(() => livingOwner(opened.database)));
});

function loopFor(kind: ListKind, change: Partial<LaneRunnerOptions<number>> = {}) {
  const errors: string[] = [];
  const handedOver: string[] = [];
  const loop = new LaneRunner({
    kind,
    lanes,
    owner: owners[loops.length]?.id ?? '',
    maxInFlight: 256,
    hasOthers: () => true,
    announce: (laneKey) => void handedOver.push(laneKey),
    onError: (message) => errors.push(message),
    ...change,
  });
  loops.push(loop);
  return { loop, errors, handedOver };
}

/** Changes with each write of the lane's row. */
async function versionOf(lane: string): Promise<unknown> {
  return (await opened.database.query('select xmin, ctid from lane where key = $1', [lane]))[0];
}

const isFree = (lane: string): Promise<boolean> =>
  opened.database.query('select from lane where key = $1 and owner is null', [lane]).then((rows) => rows.length === 1);

describe('a lane that was woken', () => {
  it('is worked off, and kept by this process until it stops', async () => {
    const kind = new ListKind();
    const lane = newId();
    kind.fill(lane, 500);
    const { loop, errors } = loopFor(kind);
    loop.wake(lane);
    await waitFor(() => kind.done.length === 500);
    expect([errors, await isFree(lane)]).toEqual([[], false]);
    const other = new ListKind();
    other.fill(lane, 1);
    const { loop: second } = loopFor(other);
    second.wake(lane);
    await waitFor(() => other.claims.length > 0);
    expect(other.done).toEqual([]);
    await loop.stop(5_000);
    // The other one keeps asking.
    second.wake(lane);
    await waitFor(() => other.done.length === 1);
  });

  it('shares the claim with all others that were woken meanwhile', async () => {
    const kind = new ListKind();
    const { opened: mayAnswer, open } = gate();
    kind.claimGate = mayAnswer;
    const { loop } = loopFor(kind);
    loop.wake(newId());
    await waitFor(() => kind.claims.length === 1);
    const rest = [newId(), newId(), newId()];
    // A lane that has no row yet waits for it first.
    for (const lane of rest) await lanes.ensure(lane);
    for (const lane of rest) loop.wake(lane);
    // Each has asked for its pace and its row, and waits for the claim.
    await new Promise(setImmediate);
    open();
    await waitFor(() => kind.claims.length >= 2);
    expect(kind.claims[1]).toEqual(expect.arrayContaining(rest));
  });

  it('is looked at again for rows that came while the claim was under way', async () => {
    const kind = new ListKind();
    const { opened: mayAnswer, open } = gate();
    kind.claimGate = mayAnswer;
    const lane = newId();
    const { loop } = loopFor(kind);
    loop.wake(lane);
    await waitFor(() => kind.claims.length === 1);
    loop.wake(lane);
    open();
    await waitFor(() => kind.claims.length === 2);
    kind.fill(lane, 1);
    await waitFor(() => kind.done.length === 1);
    expect(kind.claims.slice(0, 2)).toEqual([[lane], [lane]]);
  });

  it('is found again without a wake as long as it is warm, and writes nothing about the lane', async () => {
    const kind = new ListKind();
    const lane = newId();
    const { loop } = loopFor(kind, { warmMs: 60_000 });
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => kind.done.length === 1);
    const version = await versionOf(lane);
    kind.fill(lane, 1);
    await waitFor(() => kind.done.length === 2);
    expect(await versionOf(lane)).toEqual(version);
  });

  it('is found again by a poll beside a row that takes long', async () => {
    const kind = new ListKind();
    const lane = newId();
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    const { loop } = loopFor(kind, { warmMs: 1, busyPollMs: 100 });
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => kind.inFlight === 1);
    const before = kind.claims.length;
    await waitFor(() => kind.claims.length > before + 1);
    // No wake says so here: another process accepted it.
    kind.fill(lane, 1);
    await waitFor(() => kind.inFlight === 2);
    expect(kind.done).toEqual([]);
    open();
  });

  it.each(['a claim has failed', 'a release has failed'])('is released in the end where %s', async (what) => {
    const kind = new ListKind();
    const lane = newId();
    let fails = false;
    const { loop } = loopFor(kind, {
      warmMs: 1,
      failedMs: 100,
      lanes: {
        ensure: (key) => lanes.ensure(key),
        missed: (key) => lanes.missed(key),
        release: (owner, released) =>
          fails ? Promise.reject(new Error('the database is away')) : lanes.release(owner, released),
      },
    });
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => kind.inFlight === 1);
    if (what === 'a claim has failed') kind.failing = true;
    else fails = true;
    const before = kind.claims.length;
    open();
    await waitFor(() => kind.claims.length > before);
    fails = false;
    await waitFor(() => isFree(lane));
    expect(kind.done).toEqual([0]);
  });

  it('by another process is not asked for again where it has no rows, or another owner', async () => {
    const kind = new ListKind();
    const [empty, owned] = [newId(), newId()];
    await grantLane(opened.database, claimRequest(owned, (await livingOwner(opened.database)).id, 1));
    const { loop } = loopFor(kind, { warmMs: 60_000 });
    kind.fill(owned, 1);
    await Promise.all([loop.wokenByOther(empty), loop.wokenByOther(owned)]);
    expect([kind.claims.flat().sort(), await isFree(empty)]).toEqual([[empty, owned].sort(), true]);
  });

  it('is let go after a while without rows', async () => {
    const kind = new ListKind();
    const lane = newId();
    const { loop } = loopFor(kind, { warmMs: 1 });
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => kind.done.length === 1);
    await waitFor(() => isFree(lane));
    expect(kind.done).toEqual([0]);
  });

  it('whose row has gone, as after a restore, gets one again', async () => {
    const kind = new ListKind();
    const lane = newId();
    const { loop } = loopFor(kind);
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => kind.done.length === 1);
    await opened.database.execute('delete from lane where key = $1', [lane]);
    kind.fill(lane, 1);
    await waitFor(() => {
      loop.wake(lane);
      return kind.done.length === 2;
    });
    expect(await isFree(lane)).toBe(false);
  });

  it('that rests is left alone, and one without a pace', async () => {
    const kind = new ListKind();
    const [paused, unpaced] = [newId(), newId()];
    const { loop, errors } = loopFor(kind);
    await lanes.pause(paused, 'rate_limited', { leastMs: 60_000 });
    kind.fill(paused, 1);
    loop.wake(paused);
    await waitFor(() => kind.claims.length === 1);
    kind.lanePace = null;
    kind.fill(unpaced, 1);
    loop.wake(unpaced);
    kind.lanePace = null;
    await loop.stop(5_000);
    expect([kind.done, kind.claims, errors]).toEqual([[], [[paused]], []]);
  });

  it('that is held as its rest begins is let go, for the worker that finds it due afterwards', async () => {
    const kind = new ListKind();
    const lane = newId();
    const { loop } = loopFor(kind, { warmMs: 60_000 });
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => kind.done.length === 1);
    await lanes.pause(lane, 'rate_limited', { leastMs: 60_000 });
    await waitFor(() => isFree(lane));
    expect(kind.done).toEqual([0]);
  });

  it('whose row another transaction has locked is asked for again without a wake', async () => {
    const kind = new ListKind();
    const lane = newId();
    await lanes.ensure(lane);
    kind.fill(lane, 1);
    const other = new pg.Client({ connectionString: opened.url });
    await other.connect();
    try {
      await other.query('begin');
      await other.query('select from lane where key = $1 for update', [lane]);
      const { loop, errors } = loopFor(kind, { warmMs: 60_000 });
      loop.wake(lane);
      await waitFor(() => kind.claims.length >= 2);
      await other.query('commit');
      await waitFor(() => kind.done.length === 1);
      expect(errors).toEqual([]);
    } finally {
      await other.end();
    }
  });

  it.each(['the life of its owner', 'the use of its pace'])(
    'of which %s is of a clock that has stepped back since is worked off',
    async (which) => {
      const kind = new ListKind();
      const [lane, owner] = [newId(), newId()];
      await lanes.ensure(lane);
      if (which === 'the life of its owner') {
        await opened.database.execute(`insert into worker values ($1, clock_timestamp() + interval '1 hour')`, [owner]);
        await opened.database.execute('update lane set owner = $2 where key = $1', [lane, owner]);
      } else {
        await opened.database.execute(
          `update lane set next_slot_at = clock_timestamp() + interval '1 hour' where key = $1`,
          [lane],
        );
      }
      kind.fill(lane, 1);
      const { loop } = loopFor(kind);
      loop.wake(lane);
      await waitFor(() => kind.done.length === 1);
      expect(await isFree(lane)).toBe(false);
    },
  );
});

it('a lane that must not run is asked for its pace four times a second at most, however often it is woken', async () => {
  jest.useFakeTimers();
  const kind = new ListKind();
  let asked = 0;
  kind.pace = () => Promise.resolve((asked++, null));
  const { loop } = loopFor(kind);
  const lane = newId();
  for (let n = 0; n < 100; n++) {
    loop.wake(lane);
    await jest.advanceTimersByTimeAsync(10);
  }
  jest.useRealTimers();
  expect(asked).toBeGreaterThan(1);
  expect(asked).toBeLessThanOrEqual(5);
});

describe('what is due later', () => {
  /** The answers of claims, in turn, and the times (ms) of the claims; nothing asks a database. */
  function timed(answers: Claim<number | null>[], pace: LanePace = { ratePerSecond: 1_000, burstSeconds: 1 }) {
    const startedAt = performance.now();
    const claimedAt: number[] = [];
    const released: string[] = [];
    const kind: QueueKind<number | null> = {
      name: 'timed',
      maxPerLane: 10,
      pace: () => Promise.resolve(pace),
      claim(requests) {
        claimedAt.push(Math.round(performance.now() - startedAt));
        return Promise.resolve(requests.map(() => answers.shift() ?? { grant: held(1_000), items: [] }));
      },
      work: (item) => Promise.resolve(item),
      stop: () => undefined,
    };
    const loop = new LaneRunner({
      kind,
      lanes: {
        ensure: () => Promise.resolve(),
        missed: () => undefined,
        release: (_owner, each) => {
          released.push(...each.map(({ laneKey }) => laneKey));
          return Promise.resolve([]);
        },
      },
      owner: newId(),
      maxInFlight: 10,
      hasOthers: () => false,
      announce: () => undefined,
      onError: (message, error) => {
        throw new Error(message, { cause: error });
      },
    });
    return { loop, claimedAt, released };
  }

  const held = (unusedRows: number) => ({
    slots: Math.min(10, unusedRows),
    paused: false,
    unusedRows,
    pausedMs: null,
  });
  const rests = (pausedMs: number | null) => ({
    grant: { slots: 0, paused: true, unusedRows: null, pausedMs },
    items: [],
  });

  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('is claimed at its time, long after the lane was let go', async () => {
    const { loop, claimedAt, released } = timed([{ grant: held(1_000), items: [60_000, null, 900_000] }]);
    loop.wake('lane');
    await jest.advanceTimersByTimeAsync(59_900);
    expect([released, claimedAt.filter((at) => at > 5_000)]).toEqual([['lane'], []]);
    await jest.advanceTimersByTimeAsync(200);
    expect(claimedAt.at(-1)).toBeGreaterThanOrEqual(60_000);
    await jest.advanceTimersByTimeAsync(839_800);
    expect(claimedAt.filter((at) => at > 65_000)).toEqual([]);
    await jest.advanceTimersByTimeAsync(200);
    expect(claimedAt.at(-1)).toBeGreaterThanOrEqual(900_000);
  });

  it('is one wake where many rows of a lane are due at about the same time', async () => {
    const rows = Array.from({ length: 10 }, (_unused, index) => 60_000 + index);
    const { loop } = timed([{ grant: held(1_000), items: rows }]);
    loop.wake('lane');
    await jest.advanceTimersByTimeAsync(30_000);
    expect(jest.getTimerCount()).toBeLessThanOrEqual(2);
    await loop.stop(0);
  });

  it('is asked for when the pause of the lane is over, and not before', async () => {
    const { loop, claimedAt } = timed([rests(16_000), { grant: held(1_000), items: [null] }]);
    loop.wake('lane');
    await jest.advanceTimersByTimeAsync(15_900);
    expect(claimedAt).toEqual([0]);
    await jest.advanceTimersByTimeAsync(200);
    expect(claimedAt[1]).toBeGreaterThanOrEqual(16_000);
  });

  it('is asked for four times a second at most where a paused lane keeps getting rows', async () => {
    const { loop, claimedAt } = timed(Array.from({ length: 100 }, () => rests(60_000)));
    for (let n = 0; n < 100; n++) {
      loop.wake('lane');
      await jest.advanceTimersByTimeAsync(10);
    }
    expect(claimedAt.every((at, n) => at - (claimedAt[n - 1] ?? -Infinity) >= 250)).toBe(true);
    expect(claimedAt.length).toBeGreaterThan(1);
    await loop.stop(0);
  });

  it('is left to the sweep where the end of the rest is not known', async () => {
    const { loop, claimedAt } = timed([rests(null)]);
    loop.wake('lane');
    await jest.advanceTimersByTimeAsync(600_000);
    expect(claimedAt).toEqual([0]);
  });

  it('is claimed when the pace gives the next row, also after longer than a lane stays warm', async () => {
    const slow = { ratePerSecond: 0.1, burstSeconds: 10 };
    const { loop, claimedAt } = timed([{ grant: held(1), items: [null] }], slow);
    loop.wake('lane');
    await jest.advanceTimersByTimeAsync(9_900);
    expect(claimedAt).toEqual([0]);
    await jest.advanceTimersByTimeAsync(200);
    expect(claimedAt[1]).toBeGreaterThanOrEqual(10_000);
    await loop.stop(0);
  });

  it('wakes nothing after a stop', async () => {
    const { loop, claimedAt } = timed([{ grant: held(1_000), items: [60_000] }]);
    loop.wake('lane');
    await jest.advanceTimersByTimeAsync(1_000);
    await loop.stop(0);
    const before = claimedAt.length;
    await jest.advanceTimersByTimeAsync(100_000);
    expect(claimedAt).toHaveLength(before);
  });
});

describe('the places', () => {
  it('of the process and of the lane are never passed', async () => {
    const kind = new ListKind();
    kind.maxPerLane = 5;
    const { loop } = loopFor(kind, { maxInFlight: 12 });
    const all = Array.from({ length: 6 }, () => newId());
    for (const lane of all) kind.fill(lane, 20);
    for (const lane of all) loop.wake(lane);
    await waitFor(() => kind.done.length === 120);
    expect(kind.most).toBeLessThanOrEqual(12);
    const one = new ListKind();
    one.maxPerLane = 5;
    const { loop: second } = loopFor(one);
    const lane = newId();
    one.fill(lane, 40);
    second.wake(lane);
    await waitFor(() => one.done.length === 40);
    expect(one.most).toBe(5);
  });

  it('of a lane are as many as its window has, which may grow and shrink', async () => {
    const kind = new ListKind();
    const sizes = new Map<string, number>();
    kind.window = (laneKey) => sizes.get(laneKey) ?? 0;
    const { loop } = loopFor(kind);
    const [first, second] = [newId(), newId()];
    const opening = gate();
    kind.gate = opening.opened;
    for (const lane of [first, second]) {
      kind.fill(lane, 20);
      sizes.set(lane, 3);
      loop.wake(lane);
    }
    await waitFor(() => kind.inFlight === 6);
    sizes.set(first, 1);
    sizes.set(second, 9);
    loop.wake(second);
    await waitFor(() => kind.inFlight === 12);
    kind.most = 0;
    opening.open();
    await waitFor(() => kind.done.length === 40);
    expect(kind.most).toBeLessThanOrEqual(12);
  });

  it('are shared: a quiet lane is served beside busy ones that have more than there are places', async () => {
    const kind = new ListKind();
    const { loop } = loopFor(kind, { maxInFlight: 8 });
    const busy = Array.from({ length: 20 }, () => newId());
    for (const lane of busy) kind.fill(lane, 1_000);
    for (const lane of busy) loop.wake(lane);
    await waitFor(() => kind.done.length > 50);
    const quiet = newId();
    kind.rows.set(quiet, [123_456]);
    loop.wake(quiet);
    await waitFor(() => kind.done.includes(123_456));
    expect(busy.some((lane) => (kind.rows.get(lane)?.length ?? 0) > 500)).toBe(true);
  });

  it('are shared: a busy lane is served beside more quiet ones than one claim asks for', async () => {
    const kind = new ListKind();
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    const busy = newId();
    // On a busy machine a claim may take long, and its lanes would be claimed alone.
    const clock = { ...systemClock, monotonic: () => 0 };
    const { loop } = loopFor(kind, { clock });
    kind.fill(busy, 1);
    loop.wake(busy);
    await waitFor(() => kind.inFlight === 1);
    const quiet = Array.from({ length: 150 }, () => newId());
    await Promise.all(quiet.map((lane) => lanes.ensure(lane)));
    const before = kind.claims.length;
    kind.fill(busy, 5);
    for (const lane of [...quiet, busy]) loop.wake(lane);
    await waitFor(() =>
      kind.claims
        .slice(before)
        .flat()
        .includes(quiet[0] ?? ''),
    );
    expect(kind.claims[before]).toContain(busy);
    expect(kind.claims[before]).toHaveLength(100);
    open();
  });

  it('that become free go to a lane that waits for them, where that of the rows that ended may not be asked yet', async () => {
    const kind = new ListKind();
    const [first, second] = [newId(), newId()];
    const { loop } = loopFor(kind, { maxInFlight: 4 });
    const [early, late] = [gate(), gate()];
    kind.gate = early.opened;
    kind.fill(first, 2);
    loop.wake(first);
    await waitFor(() => kind.inFlight === 2);
    kind.gate = late.opened;
    kind.fill(first, 2);
    kind.fill(second, 4);
    // The lane is asked for again in a second, and ignores wakes until then.
    kind.withoutPace.add(first);
    loop.wake(first);
    loop.wake(second);
    await waitFor(() => kind.inFlight === 4);
    const claims = kind.claims.length;
    early.open();
    await waitFor(() => kind.inFlight === 4 && kind.done.length === 2);
    expect(new Set(kind.claims.slice(claims).flat())).toEqual(new Set([second]));
    late.open();
  });

  it('that are all taken leave the process idle while lanes wait', async () => {
    jest.useFakeTimers();
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const loop = new LaneRunner<number>({
      kind: {
        name: 'hanging',
        maxPerLane: 10,
        pace: () => Promise.resolve({ ratePerSecond: 1_000, burstSeconds: 1 }),
        claim: (requests) =>
          Promise.resolve(
            requests.map(({ limit }) => ({
              grant: { slots: limit, paused: false, unusedRows: 1_000, pausedMs: null },
              items: Array.from({ length: limit }, (_, n) => n),
            })),
          ),
        work: () => new Promise(() => undefined),
        stop: () => undefined,
      },
      lanes: { ensure: () => Promise.resolve(), missed: () => undefined, release: () => Promise.resolve([]) },
      owner: newId(),
      maxInFlight: 4,
      hasOthers: () => true,
      giveBackAfterMs: () => 600_000,
      announce: () => undefined,
      onError: () => undefined,
    });
    for (const lane of ['first', 'second', 'third']) loop.wake(lane);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(loop.isSaturated).toBe(true);
    timers.mockClear();
    await jest.advanceTimersByTimeAsync(10_000);
    // It looks ten times a second for a lane to give back.
    expect(timers.mock.calls.length).toBeLessThanOrEqual(101);
    timers.mockRestore();
    await loop.stop(0);
    jest.useRealTimers();
  });

  it('that are all taken make the process give lanes to others after a while', async () => {
    const kind = new ListKind();
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    const { loop, handedOver } = loopFor(kind, { maxInFlight: 2, giveBackAfterMs: () => 0 });
    const [first, second] = [newId(), newId()];
    for (const lane of [first, second]) kind.fill(lane, 10);
    loop.wake(first);
    await waitFor(() => kind.inFlight === 2);
    loop.wake(first);
    await waitFor(() => handedOver.length > 0);
    expect(handedOver).toEqual([first]);
    await waitFor(() => isFree(first));
    open();
  });

  it('that are all taken make it give lanes to others too that are claimed alone', async () => {
    const kind = new ListKind();
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const { loop, handedOver } = loopFor(kind, { clock, maxInFlight: 2, warmMs: 600_000, giveBackAfterMs: () => 0 });
    const [slow, busy] = [newId(), newId()];
    kind.onLate = () => (aheadMs += 2_000);
    kind.late.add(slow);
    loop.wake(slow);
    await waitFor(() => kind.claims.length > 1);
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    // Its only lane beside the slow one waits for slots of its own.
    kind.maxPerLane = 2;
    kind.fill(busy, 10);
    loop.wake(busy);
    await waitFor(() => kind.inFlight === 2);
    await waitFor(() => handedOver.length > 0);
    expect(handedOver).toEqual([slow]);
    open();
  });

  it('that each claim takes, and rows that end soon free again, make it give lanes to others too', async () => {
    const [busy, idle] = [new ListKind(), new ListKind()];
    const both = [newId(), newId()];
    for (const lane of both) {
      busy.fill(lane, 100_000);
      idle.fill(lane, 10);
    }
    // Of each lane some row is always under way, and its end wakes the lane.
    busy.work = async () => {
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      return null;
    };
    const { loop: second } = loopFor(idle);
    const { loop: first, errors } = loopFor(busy, {
      maxInFlight: 8,
      giveBackAfterMs: () => 0,
      announce: (laneKey) => second.wake(laneKey),
    });
    for (const lane of both) first.wake(lane);
    await waitFor(() => idle.done.length >= 10);
    expect(errors).toEqual([]);
  });
});

describe('a release', () => {
  it('is written of the lanes that this process may own only', async () => {
    const released: string[] = [];
    const release: LaneRepository['release'] = async (owner, each) => {
      released.push(...each.map(({ laneKey }) => laneKey));
      return lanes.release(owner, each);
    };
    const own = { ensure: (key: string) => lanes.ensure(key), missed: () => undefined, release };
    const kind = new ListKind();
    const [ofOther, paused, mine] = [newId(), newId(), newId()];
    const otherKind = new ListKind();
    otherKind.fill(ofOther, 1);
    const { loop: other } = loopFor(otherKind, { warmMs: 600_000 });
    other.wake(ofOther);
    await waitFor(() => otherKind.done.length === 1);
    await lanes.pause(paused, 'refused');
    const { loop } = loopFor(kind, { lanes: own, warmMs: 1 });
    for (const lane of [ofOther, paused, mine]) loop.wake(lane);
    await waitFor(() => released.includes(mine));
    await loop.stop(5_000);
    expect(released).toEqual([mine]);
  });
});

describe('the pace', () => {
  it('holds over several claims and processes', async () => {
    const kind = new ListKind();
    kind.lanePace = { ratePerSecond: 50, burstSeconds: 0.1 };
    const lane = newId();
    kind.fill(lane, 40);
    const startedAt = await opened.database.row<{ now: Date }>('select clock_timestamp() as now');
    const { loop } = loopFor(kind);
    loop.wake(lane);
    await waitFor(() => kind.done.length >= 20);
    await loop.stop(5_000);
    const { loop: other } = loopFor(kind);
    other.wake(lane);
    await waitFor(() => kind.done.length === 40);
    const { seconds } = await opened.database.row<{ seconds: number }>(
      'select extract(epoch from clock_timestamp() - $1::timestamptz)::float8 as seconds',
      [startedAt.now],
    );
    // 40 at 50 a second, less what may be caught up at once, and what a process holds as it begins.
    expect(seconds).toBeGreaterThan((40 - 2 * 5) / 50 - 0.05);
  });
});

describe('a failure', () => {
  it('of a claim is reported, and the lane is asked for again', async () => {
    const kind = new ListKind();
    kind.failing = true;
    const lane = newId();
    kind.fill(lane, 3);
    const { loop, errors } = loopFor(kind, { failedMs: 100 });
    loop.wake(lane);
    await waitFor(() => errors.length > 0);
    kind.failing = false;
    await waitFor(() => {
      loop.wake(lane);
      return kind.done.length === 3;
    });
    expect(errors[0]).toContain('a claim failed');
  });

  it('of a claim of many lanes is one report', async () => {
    const kind = new ListKind();
    kind.failing = true;
    const { loop, errors } = loopFor(kind);
    const all = Array.from({ length: 20 }, () => newId());
    await Promise.all(all.map((lane) => lanes.ensure(lane)));
    for (const lane of all) loop.wake(lane);
    await waitFor(() => kind.claims.length === 2);
    expect(errors.length).toBeLessThanOrEqual(2);
    expect(errors[0]).toContain('20 lanes');
  });

  it('of a claim because of one slow lane keeps that one from its rows, and no other', async () => {
    const kind = new ListKind();
    const { loop, errors } = loopFor(kind);
    const all = Array.from({ length: 20 }, () => newId());
    const [slow = ''] = all.splice(7, 1);
    kind.slow.add(slow);
    for (const lane of [...all, slow]) {
      kind.fill(lane, 2);
      loop.wake(lane);
    }
    await waitFor(() => kind.done.length === 2 * all.length);
    await waitFor(() => errors.length > 0);
    expect(errors).toEqual([`lane ${slow}: a claim failed`]);
    const found = kind.claims.length;
    // From now on it is asked for by itself, also after it was forgotten; the others, beside it.
    for (const lane of all) kind.fill(lane, 2);
    await waitFor(() => {
      for (const lane of [...all, slow]) loop.wake(lane);
      return kind.done.length === 4 * all.length && errors.length > 1;
    });
    expect(kind.claims.slice(found).filter((lanes) => lanes.includes(slow) && lanes.length > 1)).toEqual([]);
    kind.slow.clear();
    await waitFor(() => {
      loop.wake(slow);
      return kind.done.length === 4 * all.length + 2;
    });
    // It was quick, and is one of all again.
    await waitFor(() => {
      for (const lane of [...all, slow]) loop.wake(lane);
      return kind.claims.slice(found).some((lanes) => lanes.includes(slow) && lanes.length > 1);
    });
  });

  it('of a claim that succeeds late makes its lanes be claimed alone, until they are quick', async () => {
    const kind = new ListKind();
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const { loop, errors } = loopFor(kind, { clock, warmMs: 600_000 });
    const [slow, ...others] = [newId(), newId(), newId()];
    kind.onLate = () => (aheadMs += 2_000);
    kind.late.add(slow);
    const wakeUntil = (isSo: () => boolean) =>
      waitFor(() => {
        for (const lane of [slow, ...others]) loop.wake(lane);
        return isSo();
      });
    const isAlone = (claim: readonly string[]) => claim.length === 1 && claim[0] === slow;
    await wakeUntil(() => kind.claims.some(isAlone));
    const found = kind.claims.length;
    for (const lane of [slow, ...others]) kind.fill(lane, 20);
    await wakeUntil(() => kind.done.length === 60 && kind.claims.slice(found).some(isAlone));
    expect(kind.claims.slice(found).filter((claim) => claim.includes(slow) && !isAlone(claim))).toEqual([]);
    kind.late.clear();
    await wakeUntil(() => kind.claims.slice(found).some((claim) => claim.includes(slow) && !isAlone(claim)));
    expect(errors).toEqual([]);
  });

  it('of a slow lane is waited for by no other lane, and by the stop', async () => {
    const kind = new ListKind();
    // So few that it could take all of them.
    const { loop, errors } = loopFor(kind, { maxInFlight: 4, failedMs: 100 });
    const [slow, other] = [newId(), newId()];
    kind.slow.add(slow);
    loop.wake(slow);
    await waitFor(() => errors.length > 0);
    const { opened: mayEnd, open } = gate();
    kind.slowGate = mayEnd;
    const before = kind.claims.length;
    await waitFor(() => {
      loop.wake(slow);
      return kind.claims.length > before;
    });
    kind.fill(other, 3);
    loop.wake(other);
    await waitFor(() => kind.done.length === 3);
    let stopped = false;
    const stopping = loop.stop(60_000).then((left) => {
      stopped = true;
      return left;
    });
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    open();
    expect(await stopping).toBe(0);
  });

  it.each(['quiet', 'busy'])(
    'of several slow lanes keeps none of them from its turn, one of which is %s',
    async (which) => {
      const kind = new ListKind();
      let aheadMs = 0;
      const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
      const { loop } = loopFor(kind, { clock, warmMs: 600_000 });
      const all = [newId(), newId(), newId()];
      const work = gate();
      if (which === 'busy') {
        kind.gate = work.opened;
        kind.fill(all[2] ?? '', 1);
        loop.wake(all[2] ?? '');
        await waitFor(() => kind.claims.length > 0);
      }
      // Each of their claims takes longer than until a lane whose claim failed is asked for again.
      kind.onSlow = () => (aheadMs += 2_000);
      for (const lane of all) kind.slow.add(lane);
      const wakeUntil = (isSo: () => boolean) =>
        waitFor(() => {
          for (const lane of all) loop.wake(lane);
          return isSo();
        });
      const claimedAlone = (from: number) => new Set(kind.claims.slice(from).flatMap((each) => (each[1] ? [] : each)));
      await wakeUntil(() => claimedAlone(0).size === 3);
      const found = kind.claims.length;
      await wakeUntil(() => claimedAlone(found).size === 3);
      expect(kind.claims.slice(found).filter((each) => each.length > 1)).toEqual([]);
      work.open();
    },
  );

  it('of a row outside its own handling is reported, and frees its place', async () => {
    const kind = new ListKind();
    const lane = newId();
    kind.rows.set(lane, [-1, 1, 2]);
    const { loop, errors } = loopFor(kind, { maxInFlight: 1 });
    loop.wake(lane);
    await waitFor(() => kind.done.length === 2);
    expect(errors).toHaveLength(1);
  });
});

describe('a stop', () => {
  it.each(['fails', 'finds the lane locked'])('releases a lane although the first try %s', async (what) => {
    const lane = newId();
    let tries = 0;
    const release: LaneRepository['release'] = async (owner, each) => {
      if (tries++ > 0) return lanes.release(owner, each);
      if (what === 'fails') throw new Error('the database is away');
      return each.map(({ laneKey }) => laneKey);
    };
    const own = { ensure: (key: string) => lanes.ensure(key), missed: () => undefined, release };
    const kind = new ListKind();
    kind.fill(lane, 1);
    const { loop, handedOver } = loopFor(kind, { lanes: own });
    loop.wake(lane);
    await waitFor(() => kind.done.length === 1);
    await loop.stop(60_000);
    expect([tries, await isFree(lane), handedOver]).toEqual([2, true, [lane]]);
  });

  it('tells the other processes of its lanes as soon as they are released', async () => {
    const kind = new ListKind();
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    kind.maxPerLane = 2;
    const [lane, idle] = [newId(), newId()];
    kind.fill(lane, 3);
    const { loop, handedOver } = loopFor(kind);
    for (const each of [lane, idle]) loop.wake(each);
    await waitFor(() => kind.inFlight === 2);
    const stopping = loop.stop(60_000);
    await waitFor(() => handedOver.length === 2);
    expect(await isFree(lane)).toBe(true);
    open();
    await stopping;
    expect(handedOver.sort()).toEqual([lane, idle].sort());
  });

  it('waits for what is in flight, claims no more and lets the lanes go', async () => {
    const kind = new ListKind();
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    const lane = newId();
    kind.fill(lane, 3);
    const { loop } = loopFor(kind);
    loop.wake(lane);
    await waitFor(() => kind.inFlight === 3);
    const stopping = loop.stop(60_000);
    kind.fill(lane, 1);
    loop.wake(lane);
    await waitFor(() => isFree(lane));
    open();
    expect([await stopping, kind.done.length, kind.stopped]).toEqual([0, 3, true]);
  });

  it('says how much is left when its time is over', async () => {
    const kind = new ListKind();
    const { opened: mayEnd, open } = gate();
    kind.gate = mayEnd;
    const lane = newId();
    kind.fill(lane, 3);
    const { loop } = loopFor(kind);
    loop.wake(lane);
    await waitFor(() => kind.inFlight === 3);
    expect(await loop.stop(1)).toBe(3);
    open();
  });

  it('waits for the claim that is under way, with what it brings', async () => {
    const kind = new ListKind();
    const { opened: mayAnswer, open } = gate();
    kind.claimGate = mayAnswer;
    const lane = newId();
    kind.fill(lane, 2);
    const { loop } = loopFor(kind);
    loop.wake(lane);
    await waitFor(() => kind.claims.length === 1);
    const stopping = loop.stop(60_000);
    open();
    expect(await stopping).toBe(0);
    expect(kind.done).toHaveLength(2);
    expect(await isFree(lane)).toBe(true);
  });

  it('waits for what a lost claim took to be released, also where it was lost after the stop began', async () => {
    const kind = new ListKind();
    const { opened: mayAnswer, open: answer } = gate();
    const { opened: mayRelease, open: release } = gate();
    [kind.claimGate, kind.backGate] = [mayAnswer, mayRelease];
    const lost = new LostClaimError(['an attempt'], new Error('Connection terminated'));
    kind.lost = lost;
    const both = [newId(), newId()];
    await Promise.all(both.map((lane) => lanes.ensure(lane)));
    const { loop, errors } = loopFor(kind);
    for (const lane of both) loop.wake(lane);
    await waitFor(() => kind.claims.length === 1);
    let stopped = false;
    const stopping = loop.stop(60_000).finally(() => (stopped = true));
    answer();
    await waitFor(() => errors.length === 1);
    expect(stopped).toBe(false);
    release();
    expect(await stopping).toBe(0);
    expect(kind.releasedLost).toEqual([[lost, expect.arrayContaining(both)]]);
  });

  it('ends in its time where what a lost claim took cannot be released', async () => {
    const kind = new ListKind();
    const { opened: mayRelease, open: release } = gate();
    kind.backGate = mayRelease;
    kind.lost = new LostClaimError(['an attempt'], new Error('Connection terminated'));
    const { loop, errors } = loopFor(kind);
    loop.wake(newId());
    await waitFor(() => errors.length === 1);
    expect(await loop.stop(100)).toBe(0);
    expect(kind.releasedLost).toEqual([]);
    release();
  });
});
