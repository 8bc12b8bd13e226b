import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import type { TestApp } from './test-app.js';

/** Everything is counted as it is now; the present hour as a quarter of an hour later, which is when all of it is counted. */
export async function countUsage({ app, database }: Pick<TestApp, 'app' | 'database'>): Promise<void> {
  await database.transaction(async () => {
    // A count under way would write when the hour is due next over this.
    await database.execute('select from usage_lock for update');
    await database.execute(
      `update usage_hour set next_at = clock_timestamp(), counted_at = counted_at - interval '15 minutes' where true`,
    );
  });
  await app.get(Sweeps, { strict: false }).runNow('usage');
}
