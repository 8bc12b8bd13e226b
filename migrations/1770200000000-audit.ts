import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** The record of what operators, keys and the service changed. Rows are added and never changed. */
export class Audit1770200000000 extends SqlMigration {
  readonly name = 'Audit1770200000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- No foreign key: a row outlives its workspace. transaction_id: the operator's events are read in the order of transactions.
create table audit_event (
  id bigint generated always as identity primary key,
  occurred_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  organization_id uuid,
  action text not null check (action ~ '^[a-z_]+[.][a-z_]+$'),
  target text,
  actor_kind text not null check (actor_kind in ('key', 'operator', 'operator_key', 'person', 'setup_link', 'service')),
  actor text,
  address text,
  details jsonb check (pg_column_size(details) <= 8192),
  transaction_id xid8 not null default pg_current_xact_id()
);
create index audit_event_time on audit_event (occurred_at, id);
create index audit_event_workspace on audit_event (organization_id, occurred_at, id) where organization_id is not null;
create index audit_event_actor on audit_event (actor, occurred_at, id) where actor is not null;
create index audit_event_action on audit_event (action, occurred_at, id);
create index audit_event_order on audit_event (transaction_id, id);
create index audit_event_order_of_workspace on audit_event (organization_id, transaction_id, id) where organization_id is not null;

-- Of a deleted workspace what may name a person is cleared. A dump brings transaction ids of another server, which are replaced.
-- No row younger than 30 days can be removed.
create function audit_event_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and new.address is null and new.details is null
    and to_jsonb(new) - 'address' - 'details' = to_jsonb(old) - 'address' - 'details'
    and not exists (select from organization where id = old.organization_id) then
    return new;
  end if;
  if tg_op = 'UPDATE' and new.transaction_id = pg_current_xact_id()
    and to_jsonb(new) - 'transaction_id' = to_jsonb(old) - 'transaction_id' then
    return new;
  end if;
  if tg_op = 'DELETE' and old.occurred_at < clock_timestamp() - interval '30 days' then
    return old;
  end if;
  raise exception 'audit_event is append-only: % is refused', lower(tg_op) using errcode = '23001';
end $$;
create trigger audit_event_rows before update or delete on audit_event
  for each row execute function audit_event_guard();
create trigger audit_event_truncate before truncate on audit_event
  for each statement execute function audit_event_guard();
`;

const DOWN = `
drop table audit_event;
drop function audit_event_guard();
`;
