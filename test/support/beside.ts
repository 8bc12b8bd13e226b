import type { Database } from '../../src/infrastructure/database/database.js';
import { gate } from './gate.js';
import { waitFor } from './wait-for.js';

/**
 * Begins `work` while the transaction of `first` is open, and commits that once a statement waits for a lock. Resolves with what `work`
 * brings.
 */
export async function beside<T>(database: Database, first: () => Promise<unknown>, work: () => Promise<T>): Promise<T> {
  const [written, over] = [gate(), gate()];
  const holder = database.transaction(async () => {
    await first();
    written.open();
    await over.opened;
  });
  // Where `first` fails it never waits.
  await Promise.race([written.opened, holder]);
  const later = work();
  try {
    await waitFor(
      () =>
        database.count(
          `select count(*)::integer as count from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      { what: 'a statement that waits for the lock' },
    );
  } finally {
    over.open();
    await holder;
  }
  return later;
}
