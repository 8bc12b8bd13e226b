import type { Pool } from 'pg';
import { ownUserIdOf } from '../../../simulator/src/people.js';
import { recipientNumber, recipientSql } from './recipients.js';
import type { SeededConnection } from './workspace.js';

/** A UUID of version 7 for row `n`, so that rows lie in the indexes as the service's own do. */
export const ROW_ID = `(lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7'
  || substr(md5(random()::text), 1, 3) || 'a' || substr(md5(random()::text), 1, 15))::uuid`;

/** SQL: the keys of messages in the relation `made`. */
export const KEYED = `keyed as (
       insert into idempotency_key (organization_id, key, message_id) select organization_id, gen_random_uuid(), id from made
     )`;

/** SQL: tags of the relation `made`, and their counts, as the service writes them. */
const countedAs = (status: string, category: string): string => `tagged as (
       insert into message_tag (organization_id, tag) select distinct organization_id, tag from made where tag is not null
       on conflict do nothing
     ), counted as (
       insert into message_tag_count (organization_id, tag, connection_id, status, failure_category, messages, first_at, last_at)
       select organization_id, tag, connection_id, '${status}', ${category}, count(*), min(created_at), max(created_at) from made
       where tag is not null group by 1, 2, 3
     )`;

const TEXT = 'Hello, your order 4711 is on its way.';

/**
 * Opens the service window with `count` recipients of a connection, from `first` on, under the names that the simulator
 * would have sent when they wrote.
 */
export async function seedConversations(
  pool: Pool,
  connection: SeededConnection,
  count: number,
  first = 0,
): Promise<void> {
  const phones = Array.from({ length: count }, (_, n) => recipientNumber(first + n));
  await pool.query(
    `insert into conversation (id, organization_id, connection_id, phone, wa_id, user_id, last_inbound_at)
     select ${ROW_ID}, $1, $2, phone, phone, user_id, now() from unnest($3::text[], $4::text[]) as r (phone, user_id)`,
    [connection.organizationId, connection.id, phones, phones.map((phone) => ownUserIdOf(phone))],
  );
}

/**
 * Queues `count` text messages of one connection, as POST /messages writes them.
 *
 * @param recipients how many different recipients take turns, from `first` on
 * @param tries how often each was sent and deferred before
 */
export async function seedQueued(
  pool: { query(sql: string, params: unknown[]): Promise<unknown> },
  connection: Pick<SeededConnection, 'id' | 'organizationId' | 'phoneNumber'>,
  {
    count,
    recipients = count,
    first = 0,
    tag = null,
    tries = 0,
  }: { count: number; recipients?: number; first?: number; tag?: string | null; tries?: number },
): Promise<void> {
  await pool.query(
    `with made as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, sender,
         fingerprint, tag, created_at)
       select ${ROW_ID}, $1, $2, 'outbound', 'text', ${recipientSql('$7::integer + n % $4::integer')}, $5,
         sha256(n::text::bytea), $8, date_trunc('milliseconds', clock_timestamp())
       from generate_series(0, $3::integer - 1) as n
       returning *
     ), ${KEYED}, contents as (
       insert into message_content (message_id, body, content) select id, $6, jsonb_build_object('body', $6::text) from made
     ), stated as (
       insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
       select id, organization_id, connection_id, created_at, created_at from made
     ), ${countedAs('queued', 'null')}
     insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at, tag,
       expires_at, attempt_number, tries)
     select connection_id, created_at, id, organization_id, recipient, clock_timestamp(), tag,
       clock_timestamp() + interval '1 day', $9, $9 from made`,
    [connection.organizationId, connection.id, count, recipients, connection.phoneNumber, TEXT, first, tag, tries],
  );
}

/** Schedules `count` text messages of one connection, one for each second from an hour ahead on. */
export async function seedScheduled(
  pool: { query(sql: string, params: unknown[]): Promise<unknown> },
  connection: Pick<SeededConnection, 'id' | 'organizationId' | 'phoneNumber'>,
  { count, recipients = count }: { count: number; recipients?: number },
): Promise<void> {
  await pool.query(
    `with made as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, sender,
         fingerprint, send_at, created_at)
       select ${ROW_ID}, $1, $2, 'outbound', 'text', ${recipientSql('n % $4::integer')}, $5,
         sha256(n::text::bytea), clock_timestamp() + interval '1 hour' + n * interval '1 second',
         date_trunc('milliseconds', clock_timestamp())
       from generate_series(0, $3::integer - 1) as n
       returning *
     ), ${KEYED}, contents as (
       insert into message_content (message_id, body, content) select id, $6, jsonb_build_object('body', $6::text) from made
     ), stated as (
       insert into message_state (message_id, organization_id, connection_id, created_at, queued_at)
       select id, organization_id, connection_id, created_at, created_at from made
     )
     insert into message_queue (connection_id, created_at, message_id, organization_id, recipient, queued_at,
       scheduled_for, held_until, expires_at)
     select connection_id, created_at, id, organization_id, recipient, created_at, send_at, send_at,
       send_at + interval '1 day' from made`,
    [connection.organizationId, connection.id, count, recipients, connection.phoneNumber, TEXT],
  );
}

/**
 * Writes `count` text messages of one connection that have failed before anything was sent.
 *
 * @param tags how many tags take turns: `tag` with a number behind it; default: `tag` alone
 */
export async function seedFailed(
  pool: { query(sql: string, params: unknown[]): Promise<unknown> },
  connection: Pick<SeededConnection, 'id' | 'organizationId' | 'phoneNumber'>,
  { count, recipients = count, tag, tags = 0 }: { count: number; recipients?: number; tag: string; tags?: number },
): Promise<void> {
  await pool.query(
    `with made as (
       insert into message (id, organization_id, connection_id, direction, type, recipient, sender,
         fingerprint, tag, created_at)
       select ${ROW_ID}, $1, $2, 'outbound', 'text', ${recipientSql('n % $4::integer')}, $5,
         sha256(n::text::bytea), $7 || coalesce((n % nullif($8::integer, 0))::text, ''),
         date_trunc('milliseconds', clock_timestamp())
       from generate_series(0, $3::integer - 1) as n
       returning *
     ), ${KEYED}, contents as (
       insert into message_content (message_id, body, content) select id, $6, jsonb_build_object('body', $6::text) from made
     ), ${countedAs('failed', "'expired'")}
     insert into message_state (message_id, organization_id, connection_id, created_at, status, event_count, queued_at,
       failed_at, failure_category, error_code, error_message, attempt_number)
     select id, organization_id, connection_id, created_at, 'failed', 1, created_at, created_at, 'expired', 'EXPIRED',
       'The message stayed in the queue for too long.', 0 from made`,
    [connection.organizationId, connection.id, count, recipients, connection.phoneNumber, TEXT, tag, tags],
  );
}
