import pg from 'pg';
import { waitFor } from './wait-for.js';

/**
 * Holds a row, starts `work`, and kills the connection that comes to wait for the row, as a crash at that very statement
 * would. Resolves with what `work` said of it; afterwards the row is free.
 *
 * @param lock a SELECT ... FOR UPDATE of exactly the row
 */
export async function killWaiting(
  databaseUrl: string,
  lock: { sql: string; params: readonly unknown[] },
  work: () => Promise<unknown>,
): Promise<Error> {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  try {
    await holder.query('begin');
    const { rowCount } = await holder.query(lock.sql, [...lock.params]);
    if (rowCount !== 1) throw new Error(`${rowCount} rows are held in place of one`);
    const ended = work().then(
      () => new Error('it ended well'),
      (error: Error) => error,
    );
    await waitFor(
      async () => {
        const { rows } = await holder.query<{ killed: boolean }>(
          `select pg_terminate_backend(pid) as killed from pg_stat_activity
           where datname = current_database() and pg_backend_pid() = any(pg_blocking_pids(pid))`,
        );
        return rows.some(({ killed }) => killed);
      },
      { what: 'a connection that waits for the row' },
    );
    const error = await ended;
    await holder.query('rollback');
    return error;
  } finally {
    await holder.end();
  }
}
