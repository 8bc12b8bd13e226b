import { newId } from '../../common/ids.js';
import { Slots } from '../../common/slots.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { claimRequest } from '../../../test/support/claim-request.js';
import { holdLane } from '../../../test/support/hold-lane.js';
import { type Claim, type LaneHandler, LaneRunner, type LaneRunnerOptions } from './lane-runner.js';
import type { HoldRequest, LanePace } from './lane-hold.js';
import { LaneRepository } from './lane.repository.js';

let opened: OpenTestDatabase;
let lanes: LaneRepository;

beforeAll(async () => {
  opened = await openTestDatabase();
  lanes = new LaneRepository(opened.database);
});

afterAll(() => opened.close());

/** Rows in memory; the lane itself is a real row. */
class ListHandler implements LaneHandler<number> {
  readonly name = 'list';
  maxInFlightPerLane = 100;
  /** Whether a row may let another one go. */
  chained = true;
  readonly rows = new Map<string, number[]>();
  readonly done: number[] = [];
  /** Drains of these lanes wait before they begin. */
  readonly paceGates = new Map<string, Promise<void>>();
  lanePace: LanePace | null = { ratePerSecond: 1_000_000, burstSeconds: 1 };
  claims = 0;
  /** Claims that had the hold. */
  holds = 0;
  inFlight = 0;
  most = 0;
  /** Work goes on until it resolves. */
  gate: Promise<void> | null = null;
  hang: Promise<void> | null = null;

  async pace(laneKey: string): Promise<LanePace | null> {
    await this.paceGates.get(laneKey);
    return this.lanePace;
  }

  async claim(request: HoldRequest): Promise<Claim<number>> {
    this.claims++;
    if (this.hang !== null) await this.hang;
    const hold = await holdLane(opened.database, request);
    if (hold !== null && !hold.paused) this.holds++;
    return { hold, items: (this.rows.get(request.laneKey) ?? []).splice(0, hold?.slots ?? 0) };
  }

  async work(item: number): Promise<boolean> {
    this.inFlight++;
    this.most = Math.max(this.most, this.inFlight);
    if (this.gate !== null) await this.gate;
    this.inFlight--;
    this.done.push(item);
    return this.chained;
  }

  stop(): void {
    // Nothing is on its way to a wire.
  }

  fill(lane: string, count: number): void {
    this.rows.set(
      lane,
      Array.from({ length: count }, (_unused, index) => index),
    );
  }
}

function rowsOf(repository: LaneRepository) {
  return { ensure: repository.ensure.bind(repository), missed: repository.missed.bind(repository) };
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

function runnerFor(handler: ListHandler, change: Partial<LaneRunnerOptions<number>> = {}) {
  const errors: string[] = [];
  const woken: string[] = [];
  const runner = new LaneRunner({
    handler,
    lanes,
    slots: new Slots(256),
    owner: newId(),
    wake: (laneKey) => woken.push(laneKey),
    onError: (message) => errors.push(message),
    // On a slow machine no drain comes to its end by this.
    quantumMs: 30_000,
    ...change,
  });
  return { runner, errors, woken };
}

/** Changes with each write of the lane's row. */
async function versionOf(lane: string): Promise<unknown> {
  return (await opened.database.query('select xmin, ctid from lane where key = $1', [lane]))[0];
}

describe('a drain', () => {
  it('works off all rows, and keeps the lane until it stops', async () => {
    const handler = new ListHandler();
    const lane = newId();
    handler.fill(lane, 500);
    const { runner, errors } = runnerFor(handler);
    expect(await runner.drain(lane)).toBe('idle');
    await waitFor(() => handler.done.length === 500);
    expect(errors).toEqual([]);
    const other = runnerFor(handler).runner;
    handler.fill(lane, 1);
    expect(await other.drain(lane)).toBe('held');
    await runner.stop(5_000);
    expect(await other.drain(lane)).toBe('idle');
  });

  it('leaves its work behind; the next one claims at once and writes nothing about the lane', async () => {
    const handler = new ListHandler();
    const { opened: mayEnd, open } = gate();
    handler.gate = mayEnd;
    const lane = newId();
    handler.fill(lane, 3);
    const { runner } = runnerFor(handler);
    expect(await runner.drain(lane)).toBe('idle');
    expect([handler.done.length, runner.touch(lane), runner.holds(lane)]).toEqual([0, false, true]);
    const version = await versionOf(lane);
    const claims = handler.claims;
    handler.fill(lane, 1);
    expect(await runner.drain(lane)).toBe('idle');
    expect([handler.inFlight, handler.claims]).toEqual([4, claims + 1]);
    expect(await versionOf(lane)).toEqual(version);
    open();
    expect(await runner.stop(5_000)).toBe(0);
  });

  it('that found no more lets go of its lane after a while, and not before the next one has ended', async () => {
    const handler = new ListHandler();
    const lane = newId();
    const time = { ms: 0 };
    const { runner } = runnerFor(handler, { lingerMs: 300, clock: { monotonic: () => time.ms } });
    handler.fill(lane, 1);
    expect(await runner.drain(lane)).toBe('idle');
    expect(runner.holds(lane)).toBe(true);
    time.ms = 300;
    await waitFor(() => !runner.holds(lane), { what: 'the lane to be let go' });
    const other = runnerFor(handler).runner;
    await waitFor(async () => (await other.drain(lane)) === 'idle');
    await other.stop(5_000);

    handler.maxInFlightPerLane = 1;
    const { opened: mayEnd, open } = gate();
    handler.gate = mayEnd;
    handler.fill(lane, 2);
    const drain = runner.drain(lane);
    await waitFor(() => handler.inFlight === 1);
    // Another lane, which has no drain any more, is let go when it is looked after both.
    const without = newId();
    expect(await runner.drain(without)).toBe('idle');
    time.ms = 1_000;
    await waitFor(() => !runner.holds(without), { what: 'the lane without a drain to be let go' });
    expect(await other.drain(lane)).toBe('more');
    expect(await runnerFor(handler).runner.drain(lane)).toBe('held');
    open();
    expect(await drain).toBe('idle');
    await runner.stop(5_000);
  });

  it('is requested where the outcome of a row may make another one claimable', async () => {
    const handler = new ListHandler();
    const lane = newId();
    const { runner, woken } = runnerFor(handler);
    handler.chained = false;
    handler.fill(lane, 2);
    await runner.drain(lane);
    await waitFor(() => handler.done.length === 2);
    expect(woken).toEqual([]);
    handler.chained = true;
    // A drain that still runs would look again by itself.
    const { opened: ended, open: end } = gate();
    handler.gate = ended;
    handler.fill(lane, 2);
    await runner.drain(lane);
    end();
    await waitFor(() => woken.length > 0 && handler.done.length === 4);
    await runner.stop(5_000);
  });

  it('is one at a time in this process, and in the fleet', async () => {
    const handler = new ListHandler();
    const { opened: mayEnd, open } = gate();
    handler.gate = mayEnd;
    handler.maxInFlightPerLane = 3;
    const lane = newId();
    handler.fill(lane, 4);
    const { runner } = runnerFor(handler);
    const first = runner.drain(lane);
    expect(await runner.drain(lane)).toBe('joined');
    await waitFor(() => handler.inFlight === 3);
    expect(await runnerFor(handler).runner.drain(lane)).toBe('held');
    open();
    expect(await first).toBe('idle');
    await runner.stop(5_000);
  });

  it('looks again where rows came while it claimed', async () => {
    const handler = new ListHandler();
    const lane = newId();
    const { opened: released, open: release } = gate();
    handler.hang = released;
    const { runner } = runnerFor(handler);
    const drain = runner.drain(lane);
    await waitFor(() => handler.claims === 1);
    expect(await runner.drain(lane)).toBe('joined');
    release();
    expect(await drain).toBe('idle');
    expect(handler.claims).toBe(2);
    await runner.stop(5_000);
  });

  it('keeps to the places of the process and of the lane', async () => {
    const handler = new ListHandler();
    const work = handler.work.bind(handler);
    handler.work = (item) => {
      // As long as it takes all that may begin to have begun.
      handler.gate = new Promise((resolve) => setImmediate(resolve));
      return work(item);
    };
    handler.maxInFlightPerLane = 7;
    const lane = newId();
    handler.fill(lane, 60);
    const { runner } = runnerFor(handler, { slots: new Slots(100) });
    await runner.drain(lane);
    expect(await runner.stop(5_000)).toBe(0);
    expect(handler.most).toBe(7);

    handler.maxInFlightPerLane = 100;
    handler.most = 0;
    handler.fill(lane, 60);
    const slots = new Slots(4);
    const { runner: crowded } = runnerFor(handler, { slots });
    await crowded.drain(lane);
    expect(await crowded.stop(5_000)).toBe(0);
    expect(handler.most).toBe(4);
    expect(slots.taken).toBe(0);
  });

  it('keeps the pace over several drains and processes', async () => {
    const handler = new ListHandler();
    handler.lanePace = { ratePerSecond: 40, burstSeconds: 0.1 };
    const lane = newId();
    handler.fill(lane, 1_000);
    const runners = Array.from({ length: 2 }, () => runnerFor(handler, { quantumMs: 1_000 }).runner);
    const start = performance.now();
    while (handler.done.length < 100) await Promise.all(runners.map((runner) => runner.drain(lane)));
    expect(handler.done.length).toBeLessThanOrEqual(40 * ((performance.now() - start) / 1_000 + 0.1) + 1);
  });

  it.each<[string, crowdedFrom: number, endsAt: number]>([
    ['while drains wait, after its first quantum', 0, 200],
    ['once drains wait, after its quantum', 500, 600],
    ['for others that would hold the lane', Infinity, 1_000],
  ])('ends with rows left %s', async (_, crowdedFrom, endsAt) => {
    const handler = new ListHandler();
    const [lane, other] = [newId(), newId()];
    const { opened: mayEnd, open } = gate();
    handler.paceGates.set(other, mayEnd);
    const time = { ms: 0 };
    const others: Promise<unknown>[] = [];
    const work = handler.work.bind(handler);
    handler.work = (item) => {
      time.ms += 20;
      if (time.ms >= crowdedFrom && others.length === 0) others.push(runner.drain(other));
      return work(item);
    };
    handler.maxInFlightPerLane = 1;
    handler.fill(lane, 1_000);
    const clock = { monotonic: () => time.ms };
    const { runner } = runnerFor(handler, { quantumMs: 200, longestMs: () => 1_000, mostDrains: 2, clock });
    expect(await runner.drain(lane)).toBe('more');
    open();
    await Promise.all(others);
    // All of its rows would take twenty seconds.
    expect(time.ms).toBe(endsAt);
    expect(handler.done).toHaveLength(endsAt / 20);
  });

  it('takes a length of its own, so that lanes which began together do not end together', async () => {
    const handler = new ListHandler();
    const time = { ms: 0 };
    const work = handler.work.bind(handler);
    handler.work = (item) => {
      time.ms += 20;
      return work(item);
    };
    handler.maxInFlightPerLane = 1;
    const lane = newId();
    handler.fill(lane, 1_000);
    const lengths = [1_000, 600];
    const { runner } = runnerFor(handler, {
      quantumMs: 200,
      longestMs: () => lengths.shift() ?? 0,
      mostDrains: 2,
      clock: { monotonic: () => time.ms },
    });
    expect(await runner.drain(lane)).toBe('more');
    expect(time.ms).toBe(1_000);
    expect(await runner.drain(lane)).toBe('more');
    expect(time.ms).toBe(1_600);
  });

  it('keeps to a pace that changed, and ends where the lane must not run any more, after a quantum', async () => {
    const handler = new ListHandler();
    const time = { ms: 0 };
    const work = handler.work.bind(handler);
    handler.work = (item) => {
      time.ms += 20;
      if (time.ms === 100) handler.lanePace = null;
      return work(item);
    };
    handler.maxInFlightPerLane = 1;
    const lane = newId();
    handler.fill(lane, 1_000);
    const clock = { monotonic: () => time.ms };
    const { runner } = runnerFor(handler, { quantumMs: 200, longestMs: () => 1_000, mostDrains: 2, clock });
    expect(await runner.drain(lane)).toBe('paused');
    expect([time.ms, handler.done.length, runner.holds(lane)]).toEqual([200, 10, false]);
  });

  it('that is touched until its quantum is over, and finds no more, keeps the lane and asks for another', async () => {
    const handler = new ListHandler();
    const time = { ms: 0 };
    const lane = newId();
    const claim = handler.claim.bind(handler);
    handler.claim = (request) => {
      time.ms += 300;
      runner.touch(lane);
      return claim(request);
    };
    const clock = { monotonic: () => time.ms };
    const { runner, woken } = runnerFor(handler, { quantumMs: 200, clock });
    expect(await runner.drain(lane)).toBe('idle');
    expect([woken, runner.holds(lane)]).toEqual([[lane], true]);
    await runner.stop(5_000);
  });

  it('that hangs is given up, and the lane goes on', async () => {
    const handler = new ListHandler();
    const lane = newId();
    const { opened: released, open: release } = gate();
    handler.hang = released;
    const slots = new Slots(200);
    const { runner, errors } = runnerFor(handler, { hardDeadlineMs: 100, slots });
    expect(await runner.drain(lane)).toBe('more');
    expect(errors).toEqual([expect.stringContaining('hung')]);
    handler.hang = null;
    handler.fill(lane, 5);
    // Not at the first try where the machine takes more than 100 ms for these.
    await waitFor(async () => (await runner.drain(lane)) === 'idle', { what: 'the lane to go on' });
    await waitFor(() => handler.done.length === 5);
    release();
    await waitFor(() => slots.taken === 0, { what: 'all places to be free' });
  });

  it('reports a claim that fails, frees its places and does not reject', async () => {
    const handler = new ListHandler();
    handler.claim = () => Promise.reject(new Error('the database is away'));
    const slots = new Slots(10);
    const { runner, errors } = runnerFor(handler, { slots });
    const lane = newId();
    expect(await runner.drain(lane)).toBe('paused');
    expect(errors).toHaveLength(1);
    expect(slots.taken).toBe(0);
  });

  it('reports a row whose work throws at once, and works on the others', async () => {
    const handler = new ListHandler();
    const work = handler.work.bind(handler);
    handler.work = (item) => {
      if (item === 0) throw new Error('a row that cannot be worked on');
      return work(item);
    };
    const lane = newId();
    handler.fill(lane, 3);
    const slots = new Slots(10);
    const { runner, errors } = runnerFor(handler, { slots });
    await runner.drain(lane);
    await waitFor(() => handler.done.length === 2, { what: 'the rows behind it' });
    expect(errors).toEqual(['a row of a lane failed outside its own handling']);
    expect(await runner.stop(5_000)).toBe(0);
    expect(slots.taken).toBe(0);
  });

  it('leaves a paused lane alone, and one without a pace', async () => {
    const handler = new ListHandler();
    const lane = newId();
    handler.fill(lane, 1);
    await lanes.pause(lane, 'rate_limited', 60_000);
    expect(await runnerFor(handler).runner.drain(lane)).toBe('paused');
    await lanes.resume(lane);
    handler.lanePace = null;
    expect(await runnerFor(handler).runner.drain(lane)).toBe('paused');
    expect(handler.holds).toBe(0);
    expect(handler.rows.get(lane)).toHaveLength(1);
  });
});

describe('the row of a lane', () => {
  it('that has gone, as after a restore, is made again at the next try', async () => {
    const handler = new ListHandler();
    const lane = newId();
    handler.fill(lane, 1);
    const { runner } = runnerFor(handler);
    expect(await runner.drain(lane)).toBe('idle');
    await opened.database.execute('delete from lane where key = $1', [lane]);
    handler.fill(lane, 2);
    await runner.drain(lane);
    expect(await runner.drain(lane)).toBe('idle');
    expect(await runner.stop(5_000)).toBe(0);
    expect(handler.done).toHaveLength(3);
  });

  it('that has gone is made again by a pause', async () => {
    const lane = newId();
    await lanes.pause(lane, 'rate_limited');
    await lanes.resume(lane);
    await opened.database.execute('delete from lane where key = $1', [lane]);
    await lanes.pause(lane, 'rate_limited', 60_000);
    expect(await runnerFor(new ListHandler()).runner.drain(lane)).toBe('paused');
  });

  it.each(['owner_until', 'next_slot_at'])(
    'whose %s is of a clock that has stepped back since does not keep the lane',
    async (column) => {
      const handler = new ListHandler();
      const lane = newId();
      await holdLane(opened.database, claimRequest(lane, newId(), 1));
      await lanes.release(newId(), new Map([[lane, 0]]));
      await opened.database.execute(
        `update lane set ${column} = clock_timestamp() + interval '1 hour',
           owner = case when $2 = 'owner_until' then owner end
         where key = $1`,
        [lane, column],
      );
      handler.fill(lane, 1);
      const { runner } = runnerFor(handler);
      expect(await runner.drain(lane)).toBe('idle');
      expect(await runner.stop(5_000)).toBe(0);
      expect(handler.done).toHaveLength(1);
    },
  );
});

describe('pauses', () => {
  it('grow 1, 4, 16, 60 seconds, and ten answers at once count as one', async () => {
    const secondsOf = async (what: string, key: string): Promise<number> => {
      const [row] = await opened.database.query<{ seconds: number }>(
        `select extract(epoch from ${what})::double precision as seconds from lane where key = $1`,
        [key],
      );
      return row?.seconds ?? 0;
    };
    /** How long the pause that so many answers make is at least and at most, by the database's clock. */
    const pauseOf = async (key: string, answers = 10): Promise<{ least: number; most: number }> => {
      const before = await secondsOf('clock_timestamp()', key);
      await Promise.all(Array.from({ length: answers }, () => lanes.pause(key, 'rate_limited')));
      const after = await secondsOf('clock_timestamp()', key);
      const until = await secondsOf('paused_until', key);
      return { least: until - after - 0.001, most: until - before + 0.001 };
    };
    const newLane = async (): Promise<string> => {
      const key = newId();
      await opened.database.execute('insert into lane (key) values ($1)', [key]);
      return key;
    };
    let lane = await newLane();
    let pause = await pauseOf(lane);
    // Ten that take longer than the first pause, on a machine that stood still, were not at once.
    for (let tries = 0; pause.most - pause.least > 0.9 && tries < 20; tries++) {
      lane = await newLane();
      pause = await pauseOf(lane);
    }
    for (const seconds of [1, 4, 16, 60, 60]) {
      expect(pause.least).toBeLessThanOrEqual(seconds);
      expect(pause.most).toBeGreaterThanOrEqual(seconds);
      await opened.database.execute(`update lane set paused_until = clock_timestamp() where key = $1`, [lane]);
      pause = await pauseOf(lane);
    }
    await lanes.resume(lane);
    pause = await pauseOf(lane, 1);
    expect(pause.least).toBeLessThanOrEqual(1);
    expect(pause.most).toBeGreaterThanOrEqual(1);
  });

  it('are lifted by the success of work that was claimed after them, whichever process paused, and by no other', async () => {
    const other = new LaneRepository(opened.database);
    const lane = newId();
    const counted = async (): Promise<number | undefined> =>
      (await opened.database.query<{ n: number }>('select pause_count as n from lane where key = $1', [lane]))[0]?.n;
    const end = () =>
      opened.database.execute(`update lane set paused_until = clock_timestamp() where key = $1`, [lane]);

    const before = performance.now();
    await lanes.pause(lane, 'rate_limited');
    await lanes.succeeded(lane, before);
    expect(await counted()).toBe(1);
    await end();
    const between = performance.now();
    await other.pause(lane, 'rate_limited');
    await lanes.succeeded(lane, between);
    expect(await counted()).toBe(2);
    await end();
    await lanes.succeeded(lane, between);
    await other.succeeded(lane, between);
    expect(await counted()).toBe(2);
    await other.succeeded(lane, performance.now());
    expect(await counted()).toBe(0);
  });
});

describe('stopping', () => {
  it('claims no more and waits for what is in flight', async () => {
    const handler = new ListHandler();
    const { opened: mayEnd, open } = gate();
    handler.gate = mayEnd;
    handler.maxInFlightPerLane = 5;
    const lane = newId();
    handler.fill(lane, 1_000);
    const { runner } = runnerFor(handler);
    const drain = runner.drain(lane);
    await waitFor(() => handler.inFlight === 5);
    const stop = runner.stop(30_000);
    await drain;
    expect(handler.done).toEqual([]);
    open();
    expect(await stop).toBe(0);
    expect(handler.done).toHaveLength(5);
    const claims = handler.claims;
    expect(await runner.drain(lane)).toBe('more');
    expect(handler.claims).toBe(claims);
    expect(runner.touch(lane)).toBe(false);
  });

  it('reports how much is left when the time is up', async () => {
    const handler = new ListHandler();
    const { opened: mayEnd, open } = gate();
    handler.gate = mayEnd;
    const lane = newId();
    handler.fill(lane, 3);
    const { runner } = runnerFor(handler);
    const drain = runner.drain(lane);
    await waitFor(() => handler.inFlight === 3);
    expect(await runner.stop(50)).toBe(3);
    open();
    await drain;
    expect(await runner.stop(5_000)).toBe(0);
  });
});

describe('a claim', () => {
  it('does not happen after the stop, although its drain began before it', async () => {
    const handler = new ListHandler();
    const { opened: answered, open: answer } = gate();
    const lane = newId();
    handler.fill(lane, 1);
    let asked = false;
    const ensure = async (key: string): Promise<void> => {
      await lanes.ensure(key);
      asked = true;
      await answered;
    };
    const release = lanes.release.bind(lanes);
    const { runner } = runnerFor(handler, { lanes: { ...rowsOf(lanes), ensure, release } });
    const drain = runner.drain(lane);
    await waitFor(() => asked);
    const stop = runner.stop(10_000);
    answer();
    expect(await stop).toBe(0);
    await drain;
    expect(handler.claims).toBe(0);
    // Its lane is free for other processes.
    expect(await runnerFor(handler).runner.drain(lane)).toBe('idle');
  });

  it('that is under way is waited for by the stop, with what it brings', async () => {
    const handler = new ListHandler();
    const { opened: answered, open: answer } = gate();
    handler.hang = answered;
    const lane = newId();
    handler.fill(lane, 1);
    const { runner } = runnerFor(handler);
    void runner.drain(lane);
    await waitFor(() => handler.claims > 0);
    const stop = runner.stop(10_000);
    answer();
    expect(await stop).toBe(0);
    expect(handler.done).toHaveLength(1);
  });

  it('of a drain that was given up does not cost the drain after it its hold', async () => {
    const handler = new ListHandler();
    const { opened: released, open: release } = gate();
    handler.hang = released;
    const lane = newId();
    handler.fill(lane, 1);
    const { runner } = runnerFor(handler, { hardDeadlineMs: 500 });
    expect(await runner.drain(lane)).toBe('more');
    const { opened: mayEnd, open: end } = gate();
    handler.hang = null;
    handler.gate = mayEnd;
    expect(await runner.drain(lane)).toBe('idle');
    release();
    // What the hung claim still does, it does within the hold of the drain after it.
    await waitFor(async () => (await runner.drain(lane)) === 'idle');
    handler.fill(lane, 1);
    await waitFor(async () => (await runner.drain(lane)) === 'idle' && handler.inFlight === 2);
    expect(await runnerFor(handler).runner.drain(lane)).toBe('held');
    end();
    expect(await runner.stop(10_000)).toBe(0);
  });
});

describe('fairness', () => {
  it('serves a quiet lane at once beside a hundred busy ones', async () => {
    const handler = new ListHandler();
    const { opened: allBusy, open: areBusy } = gate();
    const work = handler.work.bind(handler);
    handler.work = async (item) => {
      await new Promise(setImmediate);
      if (handler.done.length >= 500) areBusy();
      return work(item);
    };
    const busy = Array.from({ length: 100 }, () => newId());
    for (const lane of busy) handler.fill(lane, 200);
    const { runner } = runnerFor(handler, { slots: new Slots(64), quantumMs: 500 });
    let over = false;
    const drains = busy.map(async (lane) => {
      while (!over && (await runner.drain(lane)) === 'more');
    });
    await allBusy;
    const quiet = newId();
    handler.fill(quiet, 1);
    const before = handler.rows.get(quiet)?.length;
    const waiting = () => busy.reduce((sum, key) => sum + (handler.rows.get(key)?.length ?? 0), 0);
    const waitingBefore = waiting();
    await runner.drain(quiet);
    const passed = waitingBefore - waiting();
    over = true;
    await Promise.all(drains);
    expect(before).toBe(1);
    expect(handler.rows.get(quiet)).toEqual([]);
    // It went ahead of nearly everything that was waiting before it.
    expect(waitingBefore).toBeGreaterThan(5_000);
    expect(passed).toBeLessThan(waitingBefore / 4);
  }, 60_000);
});
