import type { Pool } from 'pg';
import { recipientSql } from './recipients.js';
import type { SeededWorkspace } from './workspace.js';

/** Messages to each recipient, and of each `client_message_id`: the same in a short and in a long journal. */
export const MESSAGES_EACH = 100;
/** The rarest state: so many in all, evenly strewn. Together with the rest every filter fills a page in any journal. */
const RAREST = 60;
/** In flight at once, in any journal. */
const PROCESSING = 50;

/** The conversation with the nth recipient: it has all messages to and from that number, whatever our number. */
export function conversationId(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

/** The user id of the nth recipient. */
export function userId(n: number): string {
  return `DE.${n}`;
}

const conversationSql = (n: string): string => `('00000000-0000-7000-8000-' || lpad((${n})::text, 12, '0'))::uuid`;

/** Of one statement: what it makes is held in memory or on the disk until it ends. */
const SLICE = 500_000;

export interface Strewn {
  /** Of one message in eight, which have the file too. */
  tag: string;
  file: string;
}

/**
 * Fills a workspace's journal with `count` messages, one a second up to now or as seldom as is said. Indexes are taken away
 * and made again, which takes a fifth of the time.
 *
 * @param strewn then an eighth each has a tag and a file, comes from the app, comes from its history, has failed, and has an unknown
 *   outcome: by the last digit of its id
 */
export async function seedJournal(
  pool: Pool,
  connections: SeededWorkspace['connections'],
  count: number,
  everySeconds = 1,
  strewn: Strewn | null = null,
): Promise<void> {
  const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid in ('message'::regclass, 'message_content'::regclass, 'message_state'::regclass, 'message_attempt'::regclass) and not indisprimary`,
  );
  for (const { name } of indexes) await pool.query(`drop index ${name}`);
  await pool.query(
    `insert into conversation (id, organization_id, connection_id, phone, user_id)
     select ${conversationSql('n')}, $1, $2, ${recipientSql('n')}, 'DE.' || n from generate_series(0, $3::integer - 1) as n`,
    [connections[0].organizationId, connections[0].id, count / MESSAGES_EACH],
  );
  const { rows: clock } = await pool.query<{ now: Date }>('select now()');
  for (let first = 1; first <= count; first += SLICE) {
    await pool.query(MESSAGES, [
      connections[0].organizationId,
      connections.map((connection) => connection.id),
      count,
      count / MESSAGES_EACH,
      connections.map((connection) => connection.phoneNumber),
      everySeconds,
      clock[0]?.now,
      first,
      Math.min(first + SLICE - 1, count),
      strewn?.tag ?? null,
      strewn?.file ?? null,
    ]);
  }
  // Of a partitioned table it names the table only.
  for (const { definition } of indexes) await pool.query(definition.replace(' ON ONLY ', ' ON '));
  await pool.query(
    'vacuum analyze message, idempotency_key, platform_message, message_content, message_queue, message_state, message_attempt, conversation',
  );
}

/** SQL: the last digit of the id of message `n` is one of these. */
const endsIn = (...digits: number[]): string => `n % 16 in (${digits.join(', ')})`;

const MESSAGES = `
with made as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient, sender,
    client_message_id, fingerprint, meta_message_id, created_at, tag, media_object_id, source)
  select (lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0')
      || 'a' || lpad(to_hex(n), 15, '0'))::uuid,
    $1, ($2::uuid[])[1 + (n / 100 + n / 1000) % cardinality($2::uuid[])], ${conversationSql('n % $4')},
    case when n % 20 = 3 then 'inbound' else 'outbound' end, 'text',
    case when n % 20 = 3 then ($5::text[])[1 + (n / 100 + n / 1000) % cardinality($5::text[])] else ${recipientSql('n % $4')} end,
    case when n % 20 = 3 then ${recipientSql('n % $4')}
      else ($5::text[])[1 + (n / 100 + n / 1000) % cardinality($5::text[])] end,
    'order-' || n % $4, sha256(n::text::bytea), case when n % 20 = 3 then 'wamid.bench' || n end, at,
    case when ${endsIn(4, 5)} then $10::text end, case when ${endsIn(4, 5)} then $11::uuid end,
    case when $10 is not null then case when ${endsIn(6, 7)} then 'app' when ${endsIn(8, 9)} then 'history' end end
  from generate_series($8::integer, $9::integer) as n
  cross join lateral (select date_trunc('milliseconds', $7::timestamptz - ($3::integer - n) * make_interval(secs => $6)) as at) as t
  returning *, ('x' || right(replace(id::text, '-', ''), 15))::bit(60)::bigint as n
), keyed as (
  insert into idempotency_key (organization_id, key, message_id)
  select organization_id, gen_random_uuid(), id from made where direction = 'outbound'
), named as (
  insert into platform_message (connection_id, meta_message_id, message_id)
  select connection_id, meta_message_id, id from made where direction = 'inbound'
), content as (
  insert into message_content (message_id, body, content)
  select id, 'Hello, your order ' || n || ' is on its way.',
    jsonb_build_object('body', 'Hello, your order ' || n || ' is on its way.')
  from made
), known as (
  select made.*, case when n % ($3 / ${PROCESSING}) = 7 then 'processing'
    when $10 is not null and ${endsIn(10, 11)} then 'failed' when $10 is not null and ${endsIn(12, 13)} then 'outcome_unknown'
    when n % ($3 / ${RAREST}) = 2 then 'outcome_unknown' when n % 100 = 1 then 'failed' when n % 100 = 51 then 'queued'
    when n % 10 = 4 then 'delivered' when n % 25 = 5 then 'sent' else 'read' end as status
  from made where direction = 'outbound'
), waiting as (
  insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
    queued_at, due_at, claimed_at, lease_until, attempt_id, attempt_number, expires_at)
  select connection_id, created_at, id, organization_id, conversation_id, recipient, created_at,
    case when status = 'queued' then now() + interval '1 day' end, case when status = 'processing' then created_at end,
    case when status = 'processing' then now() + interval '1 day' end, case when status = 'processing' then id end, 0,
    now() + interval '2 days'
  from known where status in ('queued', 'processing')
), waits as (
  insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, queued_at)
  select id, organization_id, connection_id, conversation_id, created_at, created_at
  from known where status in ('queued', 'processing')
), ended as materialized (
  select known.*, gen_random_uuid() as attempt_id from known where status not in ('queued', 'processing')
), attempts as (
  insert into message_attempt (message_id, id, organization_id, number, started_at, answer, answered_at, http_status, meta_message_id)
  select id, attempt_id, organization_id, 1, created_at, 'accepted', created_at, 200, 'wamid.bench' || n from ended
)
insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, status, event_count,
  changed_at, queued_at, processing_at, accepted_at, meta_message_id, attempt_id, attempt_number, attempt_count, failure_category)
select id, organization_id, connection_id, conversation_id, created_at, status, 1, created_at, created_at, created_at, created_at,
  'wamid.bench' || n, attempt_id, 1, 1, case when $10 is not null and status in ('failed', 'outcome_unknown') then 'expired' end
from ended`;
