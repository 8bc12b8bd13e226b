import pg from 'pg';
import type { TestApp } from '../test-app.js';

/** Sweeps read, too: the cheapest of several tries is what a request costs. */
const TRIES = 3;

/** What PostgreSQL reads, or writes, as SQL. */
const READ = {
  /** Rows of tables and entries of indexes. */
  rows: `select (select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0) from pg_stat_user_tables)
    + (select coalesce(sum(idx_tup_read), 0) from pg_stat_user_indexes) as read`,
  /** Bytes of the write-ahead log, of all databases of the server: it is no read, and counted alike. */
  wal: `select pg_current_wal_insert_lsn() - '0/0' as read`,
  /** Pages of tables and indexes, in memory or not. */
  pages: `select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)
    + coalesce(toast_blks_read + toast_blks_hit + tidx_blks_read + tidx_blks_hit, 0)) as read from pg_statio_user_tables`,
} as const;

/** Counts what PostgreSQL reads, or writes, for requests. */
export class ReadMeter {
  private readonly observer: pg.Pool;

  constructor(
    private readonly test: Pick<TestApp, 'database' | 'databaseUrl'>,
    private readonly what: keyof typeof READ,
  ) {
    this.observer = new pg.Pool({ connectionString: test.databaseUrl, max: 1 });
    this.observer.on('error', () => undefined);
  }

  /** @returns what `request` reads, which is made again where it is more than `most`. */
  async measure(most: number, request: () => Promise<unknown>): Promise<number> {
    let least = Infinity;
    for (let tries = 0; tries < TRIES && (tries === 0 || least > most); tries++) {
      const before = await this.soFar();
      await request();
      least = Math.min(least, (await this.soFar()) - before);
    }
    return least;
  }

  close(): Promise<void> {
    return this.observer.end();
  }

  private async soFar(): Promise<number> {
    // Each session reports what it has counted when its statement ends.
    const { pool } = this.test.database;
    const sessions = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
    await Promise.all(sessions.map((session) => session.query('select pg_stat_force_next_flush()')));
    for (const session of sessions) session.release();
    const { rows } = await this.observer.query<{ read: string }>(READ[this.what]);
    return Number(rows[0]?.read);
  }
}
