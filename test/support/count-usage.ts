import { Sweeps } from '../../src/infrastructure/queue/sweeps.js';
import { slotOf } from '../../src/modules/usage/usage.types.js';
import type { TestApp } from './test-app.js';

/** Everything is counted as it is now, also what was inserted with an id of an earlier time. */
export async function countUsage({ app, database }: Pick<TestApp, 'app' | 'database'>): Promise<void> {
  await database.transaction(async () => {
    // A count under way would write when the slot is due next over this.
    await database.execute(`select pg_advisory_xact_lock(hashtextextended('usage', 0))`);
    await database.execute('delete from usage_due where at <= clock_timestamp() or at is null');
    await database.execute('update usage_due set at = clock_timestamp() where true');
    await database.execute(
      `insert into usage_due (start, at)
       select distinct ${slotOf('id')}, clock_timestamp() from (select id from message union all select id from otp_challenge) as m
       where not exists (select from usage_due where start = ${slotOf('m.id')})`,
    );
  });
  await app.get(Sweeps, { strict: false }).runNow('usage');
}
