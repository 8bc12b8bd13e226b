import type { Database } from '../../src/infrastructure/database/database.js';

/** Gives a message that is on the wire its outcome. */
export async function settle(database: Pick<Database, 'execute'>, id: string): Promise<void> {
  await database.execute(SETTLE, [id]);
}

const SETTLE = `
with gone as (delete from message_queue where message_id = $1 returning *)
insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, status, event_count,
  queued_at, processing_at, attempt_id, attempt_number)
select message_id, organization_id, connection_id, conversation_id, created_at, 'accepted', event_count, queued_at,
  claimed_at, attempt_id, attempt_number
from gone`;
