import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { withHostClock } from '../../../test/support/host-clock.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { ClockWatch, WRONG_CLOCKS, type WrongClock } from './clock-watch.js';

const DAY_S = 86_400;

describe('the watch of the clock', () => {
  let test: OpenTestDatabase;
  beforeAll(async () => {
    test = await openTestDatabase();
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => test?.close());

  const reports = async () =>
    (await test.database.query<WrongClock>(WRONG_CLOCKS)).map(({ aheadSeconds }) => Math.round(aheadSeconds));

  it.each([
    ['ahead', 400 * DAY_S, /is 34560000 s ahead of the database's/],
    ['behind', -20, /is 20 s behind the database's/],
  ])('says once that the host is %s, and once that it is right again', async (_name, seconds, says) => {
    const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    const said = jest.spyOn(Logger.prototype, 'log').mockReturnValue(undefined);
    const watch = new ClockWatch(test.database);
    await watch.look();
    expect(warned).not.toHaveBeenCalled();
    await withHostClock(seconds * 1_000, async () => {
      for (let look = 0; look < 3; look++) await watch.look();
    });
    expect(warned.mock.calls).toEqual([[expect.stringMatching(says)]]);
    expect(await reports()).toEqual([seconds]);
    // Between the two bounds nothing is said.
    await withHostClock(1_500 * Math.sign(seconds), () => watch.look());
    expect(said).not.toHaveBeenCalled();
    await watch.look();
    await watch.look();
    expect(said).toHaveBeenCalledTimes(1);
    expect(warned).toHaveBeenCalledTimes(1);
    await test.database.execute(
      `update heartbeat set beat_at = beat_at - interval '3 minutes' where name like 'clock:%'`,
    );
    expect(await reports()).toEqual([]);
  });

  it('asks for the time only where nothing else has brought it lately', async () => {
    const watch = new ClockWatch(test.database);
    const query = jest.spyOn(test.database, 'query');
    const age = jest.spyOn(databaseClock, 'ageMs', 'get').mockReturnValue(1_000);
    await watch.look();
    expect(query).not.toHaveBeenCalled();
    age.mockReturnValue(2_000);
    await watch.look();
    expect(query).toHaveBeenCalledTimes(1);
  });

  it('keeps the last distance while the database does not answer', async () => {
    const watch = new ClockWatch(test.database);
    await watch.look();
    const before = databaseClock.hostAheadMs;
    jest.spyOn(databaseClock, 'ageMs', 'get').mockReturnValue(5_000);
    jest.spyOn(test.database, 'query').mockRejectedValue(new Error('away'));
    await expect(watch.look()).rejects.toThrow('away');
    expect(databaseClock.hostAheadMs).toBeCloseTo(before, -2);
  });
});
