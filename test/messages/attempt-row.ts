import type { Database } from '../../src/infrastructure/database/database.js';

/** An attempt by its id, wherever it stands: under way, with the message's outcome, or replaced. */
export async function attemptRow(database: Pick<Database, 'query'>, id: string): Promise<Record<string, unknown>> {
  const rows = await database.query<Record<string, unknown>>(ATTEMPT, [id]);
  return rows[0] ?? {};
}

const ATTEMPT = `
select 1 as place, message_id, attempt_number as number, coalesce(attempt_status, 'started') as status,
  processing_at as started_at, attempt_finished_at as finished_at, http_status, platform_code, platform_message,
  attempt_category as failure_category, meta_message_id, trace_id
from message_state where attempt_id = $1
union all
select 2, message_id, attempt_number, 'started', claimed_at, null, null, null, null, null, null, null
from message_queue where attempt_id = $1
union all
select 3, message_id, number, status, started_at, finished_at, http_status, platform_code, platform_message,
  failure_category, meta_message_id, trace_id
from message_attempt where id = $1
order by place limit 1`;

/** All attempts of a message, the first one first. What stands with the message itself counts. */
export function attemptRows(database: Pick<Database, 'query'>, messageId: string): Promise<Record<string, unknown>[]> {
  return database.query<Record<string, unknown>>(ATTEMPTS, [messageId]);
}

const ATTEMPTS = `
with own as (
  select attempt_id as id, attempt_number as number, coalesce(attempt_status, 'started') as status,
    processing_at as started_at, attempt_finished_at as finished_at, http_status, platform_code, platform_message,
    attempt_category as failure_category, meta_message_id, trace_id
  from message_state where message_id = $1 and attempt_id is not null
  union all
  select attempt_id, attempt_number, 'started', claimed_at, null, null, null, null, null, null, null
  from message_queue where message_id = $1 and attempt_id is not null
)
select * from own
union all
select id, number, status, started_at, finished_at, http_status, platform_code, platform_message, failure_category,
  meta_message_id, trace_id
from message_attempt where message_id = $1 and id not in (select id from own)
order by number`;
