import { makePartitionsAhead, type RunStatement } from '../src/infrastructure/database/partitions.js';
import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Webhook endpoints, the log of events, and their deliveries. */
export class Webhook1771000000000 extends SqlMigration {
  readonly name = 'Webhook1771000000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;

  override async afterFirstStep(run: RunStatement): Promise<void> {
    await makePartitionsAhead(run, 'webhook_delivery', 'day');
  }
}

/** The statements of the program have the same (`eventSubject` in webhook.types.ts). */
const EVENT_SUBJECT = `coalesce(data -> 'media' ->> 'id', data ->> 'message_id', data -> 'message' ->> 'id',
  data -> 'contact' ->> 'phone', data -> 'contact' ->> 'user_id')`;

const UP = `
-- A UUIDv7 by the database's clock (RFC 9562, 6.2, method 3): the twelve bits after the version are the fraction of the
-- millisecond, so that rows of one statement are in the order in which it wrote them. PostgreSQL has its own function
-- from 18 on only.
create function uuid_v7() returns uuid language sql volatile parallel safe as $$
  select (overlay(lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint), 15, '0')
    placing '7' from 13 for 0) || substr(gen_random_uuid()::text, 20))::uuid
$$;

-- One endpoint a workspace. A deleted one stays until the sweep has removed its waiting events.
-- revision grows with each change by the workspace: what an attempt under older settings met concerns them alone.
-- failing_since: first failed attempt after the last success; null while attempts succeed.
-- connection_ids: empty for all numbers. headers_ciphertext is one JSON object; the names stand beside it, because they
-- are shown.
create table webhook_endpoint (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  url text not null,
  events text[] not null check (cardinality(events) > 0),
  connection_ids uuid[] not null default '{}',
  header_names text[] not null default '{}',
  headers_ciphertext bytea,
  active boolean not null,
  revision integer not null default 1,
  disabled_reason text check (disabled_reason in ('gone', 'failing')),
  inactive_since timestamptz(3),
  failing_since timestamptz(3),
  last_failure_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
) with (fillfactor = 80);
create unique index webhook_endpoint_organization on webhook_endpoint (organization_id) where deleted_at is null;
create index webhook_endpoint_inactive on webhook_endpoint (inactive_since) where inactive_since is not null;

-- The current secret has no end; replaced ones sign until theirs.
create table webhook_secret (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  ciphertext bytea not null,
  hint text not null,
  expires_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create index webhook_secret_endpoint on webhook_secret (endpoint_id, created_at desc);
create unique index webhook_secret_current on webhook_secret (endpoint_id) where expires_at is null;

-- The log of events: a row is written once, with the change that it reports. Without an endpoint it is for GET /events
-- alone.
-- No foreign keys on this table, webhook_queue and webhook_delivery: not every event may lock an endpoint's row.
create table webhook_event (
  id uuid primary key default uuid_v7(),
  organization_id uuid not null,
  endpoint_id uuid,
  type text not null,
  data jsonb not null,
  occurred_at timestamptz(3) not null,
  trace_context bytea,
  transaction_id xid8 not null default pg_current_xact_id()
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_insert_scale_factor = 0.05);
create index webhook_event_order on webhook_event (organization_id, transaction_id, id);
-- What an event is about, to find those of a person: its message, its file, else its contact. Text, for no event may fail by it.
-- Ids begin with their time, so entries are written at the end of the index, those of one message into one.
create index webhook_event_subject on webhook_event ((${EVENT_SUBJECT}));

-- What is to be delivered: a row from the event until it is delivered or given up. due_at is when the next attempt may
-- begin. While one is under way attempt_id is set and due_at is the end of its lease: an attempt whose process died
-- becomes due again by itself.
create table webhook_queue (
  event_id uuid primary key,
  organization_id uuid not null,
  endpoint_id uuid not null,
  due_at timestamptz not null default clock_timestamp(),
  attempt_id uuid,
  attempt_count integer not null default 0,
  tries integer not null default 0
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index webhook_queue_due on webhook_queue (endpoint_id, due_at);

-- One row an attempt, written with its outcome. A partition a day, by the time in the id.
create table webhook_delivery (
  id uuid primary key,
  organization_id uuid not null,
  endpoint_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  attempt integer not null,
  status text not null check (status in ('succeeded', 'failed')),
  http_status integer,
  error text,
  duration_ms integer,
  next_attempt_at timestamptz,
  created_at timestamptz(3) not null
) partition by range (id);
create index webhook_delivery_event on webhook_delivery (event_id);
-- Lists merge the few types and states where a filter leaves one out.
create index webhook_delivery_list on webhook_delivery (endpoint_id, event_type, status, created_at desc, id desc);

-- A replay is a task: its events stand in the second table until they are due again.
create table webhook_replay (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
  only_failed boolean not null,
  total integer not null,
  done integer not null default 0,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  finished_at timestamptz(3)
);
create unique index webhook_replay_running on webhook_replay (endpoint_id) where finished_at is null;
create index webhook_replay_of_endpoint on webhook_replay (endpoint_id);
create table webhook_replay_event (
  replay_id uuid not null references webhook_replay (id) on delete cascade,
  organization_id uuid not null,
  event_id uuid not null,
  primary key (replay_id, event_id)
);

-- What became of an event, for reading. "recorded": it is for no endpoint, or for one that was deleted before it was
-- delivered; "exhausted": given up. An event's id begins with its time, as the ids of its attempts do, which are later.
create view webhook_event_view as
select v.*, case when q.event_id is not null then 'pending'
    when v.endpoint_id is null then 'recorded'
    when exists (select from webhook_delivery d where d.event_id = v.id and d.status = 'succeeded'
      and d.id >= (left(v.id::text, 13) || '-7000-8000-000000000000')::uuid) then 'delivered'
    when exists (select from webhook_endpoint e where e.id = v.endpoint_id and e.deleted_at is null) then 'exhausted'
    else 'recorded' end as status,
  q.due_at, q.attempt_id, q.attempt_count, q.tries
from webhook_event v left join webhook_queue q on q.event_id = v.id;

-- One row for each workspace whose events are recorded. since: what earlier transactions wrote is not complete.
-- read_at: last call of GET /events, to the hour, or the last time that the workspace got or lost an endpoint.
create table event_recording (
  organization_id uuid primary key references organization (id),
  since xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
  read_at timestamptz not null default clock_timestamp()
);
create function record_events_of_endpoint() returns trigger language plpgsql as $$
begin
  insert into event_recording (organization_id) values (new.organization_id)
  on conflict (organization_id) do update set read_at = clock_timestamp();
  return null;
end $$;
create trigger webhook_endpoint_recording after insert or update of deleted_at on webhook_endpoint
  for each row execute function record_events_of_endpoint();
`;

const DOWN = `
drop table event_recording;
drop view webhook_event_view;
drop table webhook_replay_event;
drop table webhook_replay;
drop table webhook_delivery;
drop table webhook_queue;
drop table webhook_event;
drop table webhook_secret;
drop table webhook_endpoint;
drop function record_events_of_endpoint();
drop function uuid_v7();
`;
