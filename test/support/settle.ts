import type { Database } from '../../src/infrastructure/database/database.js';

/** Gives a message that is in flight its outcome. */
export async function settle(database: Pick<Database, 'execute'>, id: string): Promise<void> {
  await database.execute(SETTLE, [id]);
}

const SETTLE = `
with gone as (delete from message_queue where message_id = $1 returning *), answered as (
  insert into message_attempt (message_id, id, organization_id, number, started_at, answer, answered_at, http_status)
  select message_id, attempt_id, organization_id, attempt_number, claimed_at, 'accepted', clock_timestamp(), 200 from gone
  where attempt_id is not null
)
update message_state s set status = 'accepted', processing_at = gone.claimed_at, attempt_id = gone.attempt_id,
  attempt_number = gone.attempt_number, attempt_count = gone.attempt_number
from gone where s.message_id = gone.message_id`;
