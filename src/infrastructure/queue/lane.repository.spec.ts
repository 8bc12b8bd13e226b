import { jest } from '@jest/globals';
import { newId } from '../../common/ids.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { LaneRepository } from './lane.repository.js';

let opened: OpenTestDatabase;
let lanes: LaneRepository;

beforeAll(async () => {
  opened = await openTestDatabase();
  lanes = new LaneRepository(opened.database);
});

afterAll(() => opened.close());

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

  it('are not longer by late refusals of work that was claimed before them, but as long as the platform asks', async () => {
    const lane = newId();
    const now = () =>
      opened.database.row<{ count: number; seconds: number }>(
        `select pause_count as count, ceil(extract(epoch from paused_until - clock_timestamp()))::integer as seconds
         from lane where key = $1`,
        [lane],
      );
    const end = () =>
      opened.database.execute(`update lane set paused_until = clock_timestamp() where key = $1`, [lane]);
    const claimedAt = performance.now() - 60_000;
    for (let answers = 0; answers < 3; answers++) {
      await lanes.pause(lane, 'rate_limited', { claimedAt });
      await end();
    }
    expect(await now()).toEqual({ count: 1, seconds: 0 });
    await lanes.pause(lane, 'rate_limited', { claimedAt, leastMs: 40_000 });
    expect(await now()).toEqual({ count: 1, seconds: expect.closeTo(40, -1) as number });
    await end();
    await lanes.pause(lane, 'rate_limited', { claimedAt: performance.now() });
    expect(await now()).toMatchObject({ count: 2 });
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

  it('are lifted also by the process that paused first, where another one paused after the claim', async () => {
    const other = new LaneRepository(opened.database);
    const lane = newId();
    await lanes.pause(lane, 'rate_limited');
    const end = () =>
      opened.database.execute(`update lane set paused_until = clock_timestamp() where key = $1`, [lane]);
    await end();
    const between = performance.now();
    await other.pause(lane, 'rate_limited');
    await lanes.succeeded(lane, between);
    await end();
    await lanes.succeeded(lane, performance.now());
    expect(await opened.database.row('select pause_count as n from lane where key = $1', [lane])).toEqual({ n: 0 });
    expect(lanes.succeeded(lane, performance.now())).toBeNull();
  });

  it('are lifted by a later success where the statement of the first fails', async () => {
    const lane = newId();
    await lanes.pause(lane, 'rate_limited');
    await opened.database.execute(`update lane set paused_until = clock_timestamp() where key = $1`, [lane]);
    const row = jest.spyOn(opened.database, 'row').mockRejectedValueOnce(new Error('away'));
    await expect(lanes.succeeded(lane, performance.now())).rejects.toThrow('away');
    row.mockRestore();
    await lanes.succeeded(lane, performance.now());
    expect(await opened.database.row('select pause_count as n from lane where key = $1', [lane])).toEqual({ n: 0 });
  });
});
