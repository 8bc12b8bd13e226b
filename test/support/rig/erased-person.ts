import { newId } from '../../../src/common/ids.js';
import { hashOfName } from '../../../src/modules/inbound/inbound.repository.js';
import type { Database } from '../../../src/infrastructure/database/database.js';

/** Where rows are written. */
export interface Place {
  database: Database;
  organizationId: string;
  connectionId: string;
  projectId: string;
}

/** A project of one-time codes of the workspace, which the rows belong to. */
export async function makePlace(
  database: Database,
  connection: { id: string; organizationId: string },
): Promise<Place> {
  const { id: connectionId, organizationId } = connection;
  const projectId = newId();
  await database.execute(
    `insert into otp_project (id, organization_id, name, mode) values ($1, $2, 'Login', 'sandbox')`,
    [projectId, organizationId],
  );
  return { database, organizationId, connectionId, projectId };
}

/**
 * Writes what the life of contacts leaves: messages both ways with texts, attempts, events, files, opt-outs, reservations of limits,
 * codes and notifications; one of each for each `n`.
 *
 * @param phone SQL of the number, of `n`.
 */
export async function writeLives(place: Place, count: number, phone: string): Promise<void> {
  const { database, organizationId, connectionId, projectId } = place;
  const params = [organizationId, connectionId, count];
  const each = `(select n, ${phone} as phone from generate_series(1, $3::integer) as n)`;
  await database.execute(
    `insert into conversation (id, organization_id, connection_id, phone, wa_id, user_id, profile_name)
     select distinct on (phone) uuid_v7(), $1::uuid, $2::uuid, phone, phone, 'DE.' || phone, 'Ana ' || phone from ${each} as e
     on conflict do nothing`,
    params,
  );
  await database.execute(LIVES.replace('{each}', each), params);
  await database.execute(
    `with e as ${each}, entered as (
       insert into opt_out (id, organization_id, connection_id, source, category, active, since, said_at, phone, user_id, reason)
       select uuid_v7(), $1::uuid, null, 'own', 'marketing', true, now(), now(), phone, 'DE.' || phone, 'said by ' || phone from e
       where $2::uuid is not null returning *
     ), named as (
       insert into opt_out_name (organization_id, hash, opt_out_id)
       select o.organization_id, sha256(convert_to(s.salt || o.phone, 'UTF8')), o.id
       from entered o join opt_out_salt s on s.organization_id = o.organization_id
     )
     insert into webhook_event (organization_id, type, data, occurred_at)
     select organization_id, 'contact.opt_out.updated', jsonb_build_object('opt_out_id', id, 'contact',
       jsonb_build_object('phone', phone, 'user_id', user_id)), now() from entered`,
    params,
  );
  await database.execute(
    `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, key_number, fingerprint,
       status, code_key_version, template_language, attempt_id, created_at, expires_at)
     select gen_random_uuid(), $1::uuid, $2::uuid, 'sandbox', case when n % 3 > 0 then phone end, 'US',
       'login-' || phone || '-' || gen_random_uuid(), case when n % 3 = 0 then phone end, '\\x00', (array['verified', 'sent', 'expired'])[1 + n % 3],
       1, 'en_US', gen_random_uuid(), clock_timestamp() - interval '1 hour', clock_timestamp()
     from ${each} as e`,
    [organizationId, projectId, count],
  );
}

const LIVES = `
with e as {each}, made as (
  insert into message (id, organization_id, connection_id, conversation_id, direction, type, recipient, sender, media_object_id,
    meta_message_id, fingerprint, created_at)
  select uuid_v7(), $1::uuid, $2::uuid, c.id, d.direction, 'text',
    case when d.direction = 'outbound' then e.phone else '16505550134' end,
    case when d.direction = 'inbound' then e.phone else '16505550134' end,
    case when d.direction = 'inbound' and e.n % 5 = 0 then gen_random_uuid() end,
    case when d.direction = 'inbound' then 'wamid.' || gen_random_uuid() || e.phone end,
    case when d.direction = 'outbound' then sha256(convert_to(e.phone, 'UTF8')) end,
    date_trunc('milliseconds', clock_timestamp() - e.n * interval '1 second')
  from e join conversation c on c.connection_id = $2::uuid and c.phone = e.phone
  cross join (values ('inbound'), ('outbound')) as d (direction)
  returning *
), keyed as (
  insert into idempotency_key (organization_id, key, message_id)
  select organization_id, gen_random_uuid(), id from made where direction = 'outbound'
), named as (
  insert into platform_message (connection_id, meta_message_id, message_id)
  select connection_id, meta_message_id, id from made where direction = 'inbound'
), said as (
  insert into message_content (message_id, body, content)
  select id, 'about ' || coalesce(nullif(sender, '16505550134'), recipient), '{}' from made
), stated as (
  insert into message_state (message_id, organization_id, connection_id, conversation_id, created_at, status, event_count, queued_at,
    failed_at, error_message, attempt_number, attempt_id, meta_message_id)
  select id, organization_id, connection_id, conversation_id, created_at, 'failed', 2, created_at, created_at, 'not ' || recipient,
    2, gen_random_uuid(), 'wamid.' || gen_random_uuid() || recipient from made where direction = 'outbound'
), tried as (
  insert into message_attempt (id, organization_id, message_id, number, answer, started_at, text, meta_message_id)
  select gen_random_uuid(), organization_id, id, 1, 'rejected', created_at, 'not ' || recipient, 'wamid.' || id || recipient
  from made where direction = 'outbound'
), counted as (
  insert into limit_reservation (message_id, organization_id, day, week, recipient)
  select id, organization_id, created_at::date, created_at::date, recipient from made where direction = 'outbound'
), used as (
  insert into limit_use (organization_id, kind, recipient, period, used)
  select distinct organization_id, 'marketing_per_recipient_per_week', recipient, date '2026-01-01', 1
  from made where direction = 'outbound' on conflict do nothing
), told as (
  insert into webhook_event (organization_id, type, data, occurred_at)
  select organization_id, 'message.status.updated', jsonb_build_object('message_id', id, 'to', recipient, 'status', status), created_at
  from made cross join (values ('accepted'), ('failed')) as s (status) where direction = 'outbound'
  union all
  select organization_id, 'message.received', jsonb_build_object('message', jsonb_build_object('id', id, 'from', sender),
    'contact', jsonb_build_object('phone', sender, 'name', 'Ana ' || sender)), created_at from made where direction = 'inbound'
  union all
  select organization_id, 'media.failed', jsonb_build_object('media', jsonb_build_object('id', media_object_id,
    'filename', 'contract of ' || sender)), created_at from made where media_object_id is not null
)
insert into platform_notification (id, body, state, number_hash, user_hash)
select uuid_v7(), convert_to('{"entry":[{"changes":[{"field":"messages","value":{"messages":[{"from":"' || phone || '","from_user_id":"DE.' || phone
  || '","text":{"body":"' || repeat('as many letters as a notification has ', 12) || '"}}]}}]}]}', 'UTF8'), 'applied',
  ${hashOfName('phone')}, ${hashOfName("'DE.' || phone")}
from e`;
