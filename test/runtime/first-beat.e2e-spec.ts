import { jest } from '@jest/globals';
import { PgNotifier } from '../../src/infrastructure/database/pg-notifier.js';
import { isAlive } from '../../src/infrastructure/queue/lane-owner.js';
import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { startTestApp } from '../support/test-app.js';
import { openTestDatabase } from '../support/test-database.js';

afterEach(() => jest.restoreAllMocks());

/** How many workers another process sees before the app hears wakes, before its first sweep, and where it takes requests. */
async function seenOf(role: 'api' | 'worker'): Promise<number[]> {
  const stored = await openTestDatabase();
  const seen: Promise<number>[] = [];
  const look = (): void => {
    const workers = `select count(*)::integer as count from worker where ${isAlive('worker')}`;
    seen.push(stored.database.count(workers));
  };
  // Nothing that hears a wake, or sweeps, does so before these.
  jest.spyOn(PgNotifier.prototype, 'onApplicationBootstrap').mockImplementation(async () => {
    look();
    await seen[0];
  });
  jest.spyOn(Sweeps.prototype, 'start').mockImplementation(look);
  const database = { url: stored.url, drop: () => Promise.resolve() };
  const app = await startTestApp({ roles: [role, 'simulator'], database });
  look();
  try {
    return await Promise.all(seen);
  } finally {
    await app.stop();
    await stored.close();
  }
}

it('a worker is known before anything can wake it: no other process takes a lane that it claims', async () => {
  expect(await seenOf('worker')).toEqual([1, 1, 1]);
});

it('a process that is no worker owns no lanes', async () => {
  expect(await seenOf('api')).toEqual([0, 0, 0]);
});
