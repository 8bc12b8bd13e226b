import type { Database } from '../../src/infrastructure/database/database.js';

/** The lease of the message's claim, if it is claimed, is over: the next sweep of the leases finds it. */
export function runOutLease(database: Pick<Database, 'execute'>, messageId: string): Promise<unknown> {
  return database.execute(
    `update message_queue set lease_until = clock_timestamp() - interval '1 s'
     where message_id = $1 and lease_until is not null`,
    [messageId],
  );
}
