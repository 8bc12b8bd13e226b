import { deferred } from './deferred.js';
import type { TestApp } from './test-app.js';

/** Connections for statements that are none of this process's, whose whole pool is asked for its own. */
export async function connectionsOfWorkers(api: TestApp): Promise<number> {
  const all = deferred();
  const { poolSize } = api.config.database;
  let held = 0;
  const own = await Promise.all(
    Array.from({ length: poolSize }, () =>
      api.database.transaction(async () => {
        const rows = await api.database.query<{ pid: number }>('select pg_backend_pid() as pid');
        if (++held === poolSize) all.resolve();
        await all.promise;
        return rows;
      }),
    ),
  );
  const rows = await api.database.query(
    `select 1 from pg_stat_activity
     where datname = current_database() and application_name = 'herald' and pid <> all($1::integer[])`,
    [own.flatMap(([row]) => row?.pid ?? [])],
  );
  return rows.length;
}
