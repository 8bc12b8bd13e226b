import type { Pool } from 'pg';
import { newId } from '../../../src/common/ids.js';
import { hashOfName } from '../../../src/modules/inbound/inbound.repository.js';
import { FIGURES } from '../../../src/modules/usage/counting.repository.js';
import type { ConnectionRow } from '../factories.js';
import { recipientSql } from './recipients.js';
import { seedJournal } from './seed-journal.js';

export interface Filled {
  own: ConnectionRow;
  second: ConnectionRow;
  /** Of another workspace. */
  foreign: ConnectionRow;
  otpProject: string;
  /** The file of one message in eight. */
  file: string;
  endpoint: string;
  /** An event with three attempts. */
  event: string;
}

export const TAG = 'campaign-1';

/** An id of a time: `at` is SQL, `n` a number from one on. */
const idOf = (at: string, n: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || lpad(to_hex(${n} % 4096), 3, '0')
    || 'a' || lpad(to_hex(${n}), 15, '0'))::uuid`;

const figures = FIGURES.map(() => '1').join(', ');

/** Rows. */
export interface Sizes {
  messages: number;
  /** Of each kind of figures: those of one day are as many in each size, and a year needs 180,000. */
  usage: number;
  /** Of every other table, or a fixed part of it. */
  others: number;
}

/**
 * Fills every table that a route lists or counts, most of it for one workspace. What a caller can name is there as often in each size,
 * or more often than one page looks at.
 */
export async function fillTables(pool: Pool, filled: Filled, sizes: Sizes): Promise<void> {
  const { own, second, foreign, otpProject, file, endpoint, event } = filled;
  const { organizationId } = own;
  const many = newId();
  await seedJournal(pool, [own, second] as never, sizes.messages, 1, { tag: TAG, file });
  const fill = (sql: string, ...params: unknown[]): Promise<unknown> => pool.query(sql, [sizes.others, ...params]);
  const fillUsage = (sql: string, ...params: unknown[]): Promise<unknown> => pool.query(sql, [sizes.usage, ...params]);
  await fill(
    `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
     select gen_random_uuid(), $2, $3, '7' || lpad(n::text, 10, '0'), now() - n * interval '1 second'
     from generate_series(1, $1::integer) as n`,
    organizationId,
    own.id,
  );
  await fill(
    `insert into webhook_event (id, organization_id, endpoint_id, type, data, occurred_at, transaction_id)
     select case when n = 1 then $4 else ${idOf('at', 'n')} end, $2, $3,
       case when n % 3 = 0 then 'message.received' else 'message.status.updated' end,
       jsonb_build_object('message_id', gen_random_uuid(), 'status', 'sent'), at, (3 + n::bigint * 500 / $1)::text::xid8
     from generate_series(1, $1::integer) as n cross join lateral (select now() - ($1 - n) * interval '1 second' as at) as t`,
    organizationId,
    endpoint,
    event,
  );
  // Of the partition of today or tomorrow.
  await fill(
    `insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, created_at)
     select ${idOf('at', 'n')}, $2, $3, case when n <= 3 then $4 else gen_random_uuid() end,
       case when n % 3 = 0 then 'message.received' else 'message.status.updated' end, 1,
       case when n % 2 = 0 then 'failed' else 'succeeded' end, at
     from generate_series(1, $1::integer) as n cross join lateral (select now() + n * interval '1 millisecond' as at) as t`,
    organizationId,
    endpoint,
    event,
  );
  await fill(
    `with made as (
       insert into opt_out (id, organization_id, source, category, active, since, said_at, phone)
       select gen_random_uuid(), $2, 'own', 'marketing', true, at, at, ${recipientSql('n')}
       from generate_series(1, $1::integer) as n cross join lateral (select now() - n * interval '1 second' as at) as t
       returning id
     )
     insert into opt_out_name (organization_id, hash, opt_out_id) select $2, sha256(id::text::bytea), id from made`,
    organizationId,
  );
  await fill(
    `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, size_bytes, sha256, status,
       storage_key, created_at)
     select case when n = 1 then $4 else gen_random_uuid() end, $2, $3, case when n % 2 = 0 then 'inbound' else 'outbound' end,
       case when n % 3 = 0 then 'image' else 'document' end, 'image/png', 10, repeat('0', 64), 'stored', gen_random_uuid(),
       now() - n * interval '1 second' from generate_series(1, $1::integer) as n`,
    organizationId,
    own.id,
    file,
  );
  // An account has 6,000 at the platform at the most.
  for (const [account, templates] of [
    [own.wabaId, 3_000],
    ['of others', sizes.others / 10],
  ] as const) {
    await fill(
      `with account as (insert into template_account (organization_id, waba_id, synced_at) values ($2, $3, now())
         on conflict do nothing)
       insert into template (id, organization_id, waba_id, platform_id, name, language, status, platform_status, category,
         parameter_format, components)
       select gen_random_uuid(), $2, $3, n::text, 'template_' || n, case when n % 2 = 0 then 'en_US' else 'de' end,
         case when n % 10 = 0 then 'rejected' else 'approved' end, 'APPROVED',
         case when n % 3 = 0 then 'marketing' else 'utility' end, 'POSITIONAL', '[]'
       from generate_series(1, $4::integer) as n where $1::integer > 0`,
      organizationId,
      account,
      templates,
    );
  }
  await fill(
    `insert into message_tag (organization_id, tag, acted_at) select $2, 'tag-' || n, now() from generate_series(1, $1::integer) as n`,
    organizationId,
  );
  await fill(
    `insert into api_key (id, organization_id, name, secret_hash, scopes)
     select lpad(n::text, 12, '0'), $2, 'key', sha256(n::text::bytea), '{messages:read}' from generate_series(1, $1::integer) as n`,
    organizationId,
  );
  await fill(
    `with made as (
       insert into person (id, issuer, subject, email, name, is_operator, last_signed_in_at)
       select gen_random_uuid(), 'https://issuer.example', n::text, n || '@example.com', 'Person ' || n, false, now()
       from generate_series(1, $1::integer) as n returning id, subject
     )
     insert into membership (organization_id, person_id, source, role, created_at)
     select $2, id, case when subject like '%3' then 'group' else 'invitation' end, 'agent',
       now() - subject::integer * interval '1 second' from made`,
    organizationId,
  );
  await pool.query(`insert into organization (id, name) values ($1, 'with many numbers')`, [many]);
  await fill(
    `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext)
     select gen_random_uuid(), $2, '9' || n, '77', lpad(n::text, 10, '3'), 'connected', '\\x00' from generate_series(1, $1 / 10) as n`,
    many,
  );
  // Of one day a fixed number; the rest is of other workspaces, and of earlier days.
  await fillUsage(
    `insert into usage (organization_id, start, connection_id, ${FIGURES.join(', ')}, type, source, country)
     select case when n % 2 = 0 then $2::uuid else $3 end, date_trunc('hour', now()) - n * interval '15 minutes' / 5,
       $4, ${figures}, 'text', 'api', 'DE' from generate_series(1, $1::integer) as n`,
    organizationId,
    foreign.organizationId,
    own.id,
  );
  await fillUsage(
    `insert into usage (organization_id, start, project_id, country, submitted, sent, delivered, verified, expired, failed)
     select $2, date_trunc('hour', now()) - n * interval '15 minutes' / 5,
       case when n % 2 = 0 then $3::uuid else gen_random_uuid() end, 'DE', 1, 1, 1, 1, 0, 0
     from generate_series(1, $1::integer) as n`,
    organizationId,
    otpProject,
  );
  await fill(
    `insert into otp_challenge (id, organization_id, project_id, mode, recipient, country, idempotency_key, fingerprint, status,
       code_key_version, template_language, attempt_id, created_at, expires_at)
     select gen_random_uuid(), $2, $3, 'live', ${recipientSql('n')}, 'DE', 'key-' || n, '\\x', 'expired', 1, 'en_US',
       gen_random_uuid(), now() - n * interval '1 second', now() from generate_series(1, $1::integer) as n`,
    organizationId,
    otpProject,
  );
  await pool.query('vacuum analyze');
}

/** Fills the platform's notifications, which no route lists: statuses as they came, of one contact each. */
export async function fillNotifications(pool: Pool, count: number): Promise<void> {
  await pool.query(
    `insert into platform_notification (id, received_at, body, state, number_hash, user_hash)
     select ${idOf('at', 'n')}, at, convert_to('{"object":"whatsapp_business_account","entry":[{"id":"2065000001","changes":[{"value":{'
         || '"messaging_product":"whatsapp","metadata":{"display_phone_number":"493000000011","phone_number_id":"1065000001"},'
         || '"statuses":[{"id":"wamid.' || repeat('A', 40) || n || '","status":"delivered","timestamp":"1760000000","recipient_id":"'
         || ${recipientSql('n')} || '","recipient_user_id":"DE.' || n || '","biz_opaque_callback_data":"' || gen_random_uuid() || '.'
         || gen_random_uuid() || '","conversation":{"id":"' || md5(n::text) || '","origin":{"type":"utility"}},'
         || '"pricing":{"billable":true,"pricing_model":"PMP","category":"utility","type":"regular"}}]},"field":"messages"}]}]}', 'UTF8'),
       'applied', ${hashOfName(recipientSql('n'))}, ${hashOfName("'DE.' || n")}
     from generate_series(1, $1::integer) as n cross join lateral (select now() - ($1 - n) * interval '1 second' as at) as t`,
    [count],
  );
  await pool.query('vacuum analyze platform_notification');
}
