import type { Database } from '../../src/infrastructure/database/database.js';

/** As if WhatsApp had reported in the end that a message which it accepted was not delivered. */
export async function reportedFailed(database: Database, messageId: string): Promise<void> {
  await database.execute(
    'update message_attempt set failed_at = clock_timestamp(), failed_code = 131026 where message_id = $1',
    [messageId],
  );
  await database.execute(`update message_state set status = 'failed' where message_id = $1`, [messageId]);
}
