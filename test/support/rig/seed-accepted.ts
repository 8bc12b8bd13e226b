import type { Pool } from 'pg';
import { recipientSql } from './recipients.js';
import { ROW_ID } from './seed-messages.js';
import type { SeededConnection } from './workspace.js';

export interface AcceptedMessage {
  id: string;
  attemptId: string;
  metaMessageId: string;
  recipient: string;
}

/** Writes messages that the platform has accepted, each with its attempt, as after a send. */
export async function seedAccepted(
  pool: Pool,
  connection: SeededConnection,
  count: number,
): Promise<AcceptedMessage[]> {
  const { rows } = await pool.query<{ id: string; attempt_id: string; meta: string; recipient: string }>(
    `with made as materialized (
       select ${ROW_ID} as id, ${ROW_ID} as attempt_id, 'wamid.bench' || n as meta, ${recipientSql('n')} as recipient,
         clock_timestamp() - interval '1 minute' as at
       from generate_series(0, $3::integer - 1) as n
     ), messages as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, sender, created_at)
       select id, $1, $2, 'outbound', 'text', recipient, $4, date_trunc('milliseconds', at) from made
     ), keyed as (
       insert into idempotency_key (organization_id, key, message_id) select $1, gen_random_uuid(), id from made
     ), contents as (
       insert into message_content (message_id, body, content) select id, 'Hello', '{"body": "Hello"}' from made
     ), states as (
       insert into message_state (message_id, organization_id, connection_id, created_at, status, event_count, queued_at,
         changed_at, processing_at, accepted_at, meta_message_id, attempt_id, attempt_number, attempt_count)
       select id, $1, $2, date_trunc('milliseconds', at), 'accepted', 1, at, at, at, at, meta, attempt_id, 1, 1 from made
     ), attempts as (
       insert into message_attempt (message_id, id, organization_id, number, started_at, answer, answered_at, http_status,
         meta_message_id)
       select id, attempt_id, $1, 1, at, 'accepted', at, 200, meta from made
     )
     select id, attempt_id, meta, recipient from made`,
    [connection.organizationId, connection.id, count, connection.phoneNumber],
  );
  await pool.query('analyze');
  return rows.map(({ id, attempt_id: attemptId, meta: metaMessageId, recipient }) => ({
    id,
    attemptId,
    metaMessageId,
    recipient,
  }));
}
