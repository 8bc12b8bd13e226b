import type { Database } from '../../src/infrastructure/database/database.js';

/** With the figures of two days each, one number, two keys and a setup link; each has one member, and one has all people. */
export async function fillWorkspaces(database: Database, count: number): Promise<{ crowded: string }> {
  await database.execute(
    `insert into organization (id, name, external_id, created_at)
     select gen_random_uuid(), 'Shop ' || n, 'customer-' || n, clock_timestamp() - make_interval(secs => n)
     from generate_series(1, $1::integer) n`,
    [count],
  );
  const { crowded } = await database.row<{ crowded: string }>(
    `select id as crowded from organization where external_id = 'customer-1'`,
  );
  for (const sql of OF_EACH) await database.execute(sql);
  await database.execute(
    `insert into membership (organization_id, person_id, source, role, created_at)
     select $1, id, 'group', 'agent', created_at from person on conflict do nothing`,
    [crowded],
  );
  for (const table of TABLES) await database.execute(`analyze ${table}`);
  return { crowded };
}

const TABLES = ['organization', 'audit_event', 'connection', 'api_key', 'setup_link', 'person', 'membership', 'usage'];

const OF_EACH = [
  `insert into audit_event (organization_id, action, target, actor_kind, actor, occurred_at)
   select id, case when name like '%777' then 'key.created' else 'workspace.created' end, id::text, 'operator_key',
     case when name like '%888' then 'one' else 'other' end, created_at from organization`,
  `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status, token_ciphertext, facts_due_at, created_at)
   select gen_random_uuid(), id, (100000 + substring(name from 6)::integer)::text, 'w-' || name, (15550000000 + substring(name from 6)::integer)::text,
     case when name like '%99' then 'restricted' else 'connected' end, '\\x00', clock_timestamp() + interval '1 day', created_at
   from organization`,
  `insert into api_key (id, organization_id, name, secret_hash, scopes, created_at)
   select substring(md5(o.id::text || n) from 1 for 12), o.id, 'key', sha256(o.id::text::bytea), '{messages:read}', o.created_at
   from organization o cross join generate_series(1, 2) n`,
  `insert into setup_link (id, organization_id, token_hash, signup, locale, expires_at)
   select gen_random_uuid(), id, sha256(id::text::bytea), 'cloud', 'en_US', clock_timestamp() + interval '7 days' from organization`,
  `insert into person (id, issuer, subject, email, name, is_operator, last_signed_in_at, created_at)
   select gen_random_uuid(), 'https://issuer.example', name, replace(lower(name), ' ', '-') || '@example.com', name, false,
     clock_timestamp(), created_at from organization`,
  `insert into membership (organization_id, person_id, source, role, created_at)
   select o.id, p.id, 'group', 'agent', o.created_at from organization o join person p on p.subject = o.name`,
  `insert into usage (organization_id, start, connection_id, submitted, accepted, sent, delivered, read, failed, outcome_unknown,
     received, billable, type, source, country, category)
   select k.organization_id, date_trunc('month', now(), 'UTC') + n * interval '1 day', k.id, 10, 10, 10, 10, 5, 0, 0, 5, true, 'template',
     'api', 'DE', 'utility'
   from connection k cross join generate_series(0, 1) n`,
];
