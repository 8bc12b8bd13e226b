import type { Pool } from 'pg';
import { recipientSql } from './recipients.js';
import { ROW_ID } from './seed-messages.js';
import type { SeededConnection } from './workspace.js';

export interface AcceptedMessage {
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
  const { rows } = await pool.query<{ attempt_id: string; meta: string; recipient: string }>(
    `with made as materialized (
       select ${ROW_ID} as id, ${ROW_ID} as attempt_id, 'wamid.bench' || n as meta, ${recipientSql('n')} as recipient,
         clock_timestamp() - interval '1 minute' as at
       from generate_series(0, $3::integer - 1) as n
     ), messages as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, sender, body, content,
         idempotency_key, status, meta_message_id, attempt_count, current_attempt_id, created_at, queued_at,
         processing_at, accepted_at)
       select id, $1, $2, 'outbound', 'text', recipient, $4, 'Hello', '{"body": "Hello"}', gen_random_uuid(), 'accepted',
         meta, 1, attempt_id, date_trunc('milliseconds', at), at, at, at from made
     ), attempts as (
       insert into message_attempt (id, organization_id, message_id, number, status, started_at, finished_at,
         http_status, meta_message_id)
       select attempt_id, $1, id, 1, 'accepted', at, at, 200, meta from made
     )
     select attempt_id, meta, recipient from made`,
    [connection.organizationId, connection.id, count, connection.phoneNumber],
  );
  await pool.query('analyze');
  return rows.map((row) => ({ attemptId: row.attempt_id, metaMessageId: row.meta, recipient: row.recipient }));
}
