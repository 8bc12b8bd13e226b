import type pg from 'pg';
import type { Database } from '../../src/infrastructure/database/database.js';
import { beginTransaction } from './open-transaction.js';
import { waitFor } from './wait-for.js';

const LOCK = 4_711;

/** Statements that insert into `message_queue` wait within the insert, with the snapshot that they began with, until `release`. */
export interface HeldInserts {
  /** Until so many transactions wait for another one. */
  waiting(count: number): Promise<void>;
  release(): Promise<void>;
}

export async function holdInserts(database: Database, databaseUrl: string): Promise<HeldInserts> {
  const holder: pg.Client = await beginTransaction(databaseUrl);
  await holder.query('select pg_advisory_xact_lock($1)', [LOCK]);
  await database.execute(`create or replace function hold_insert() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end $$`);
  await database.execute(`create trigger zz_hold_insert before insert on message_queue
    for each row execute function hold_insert()`);
  let isHeld = true;
  return {
    waiting: (count) =>
      waitFor(
        async () =>
          (await database.count(
            `select count(*)::integer as count from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'`,
          )) >= count,
        { what: `${count} transactions to wait` },
      ).then(() => undefined),
    async release() {
      if (!isHeld) return;
      isHeld = false;
      await holder.end();
      await database.execute('drop trigger zz_hold_insert on message_queue');
    },
  };
}
