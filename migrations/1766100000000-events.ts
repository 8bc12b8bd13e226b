import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Events are kept for those that read them, in the order of their transactions, with and without an endpoint. */
export class Events1766100000000 implements MigrationInterface {
  name = 'Events1766100000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.startTransaction();
    try {
      for (const statement of UP) await queryRunner.query(statement);
      await queryRunner.commitTransaction();
    } catch (error) {
      await queryRunner.rollbackTransaction();
      throw error;
    }
    await queryRunner.query('alter table webhook_event validate constraint webhook_event_status_check');
    await queryRunner.query('alter table webhook_event validate constraint webhook_event_endpoint_check');
    // It waits for every transaction that is older, and blocks nothing meanwhile.
    await queryRunner.query('set lock_timeout = 0');
    // What an earlier try left unfinished is not valid.
    await queryRunner.query('drop index concurrently if exists webhook_event_order');
    await queryRunner.query(
      'create index concurrently webhook_event_order on webhook_event (organization_id, transaction_id, id)',
    );
    await queryRunner.query('reset lock_timeout');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const STATUS = "status in ('pending', 'delivered', 'exhausted', 'recorded')";
const ENDPOINT = "endpoint_id is not null or status = 'recorded'";

// Each statement may run again: the index is made outside the transaction, and may fail.
const UP: readonly string[] = [
  // One row for each workspace whose events are recorded. "since": what earlier transactions wrote is not complete.
  // "read_at": last call of GET /events, to the hour, or the last time that the workspace got or lost an endpoint.
  `create table if not exists event_recording (
    organization_id uuid primary key references organization (id),
    since xid8 not null default pg_snapshot_xmin(pg_current_snapshot()),
    read_at timestamptz not null default clock_timestamp()
  )`,
  // A trigger, so that endpoints which an earlier program makes are known as well.
  `create or replace function record_events_of_endpoint() returns trigger language plpgsql as $$
   begin
     insert into event_recording (organization_id) values (new.organization_id)
     on conflict (organization_id) do update set read_at = clock_timestamp();
     return null;
   end $$`,
  `create or replace trigger webhook_endpoint_recording after insert or update of deleted_at on webhook_endpoint
   for each row execute function record_events_of_endpoint()`,
  `insert into event_recording (organization_id, since)
   select organization_id, '0' from webhook_endpoint where deleted_at is null on conflict do nothing`,
  // The twelve bits after the version are now the fraction of the millisecond (RFC 9562, 6.2, method 3), so that rows of
  // one statement are in the order in which it wrote them.
  `create or replace function uuid_v7() returns uuid language sql volatile parallel safe as $$
     select (overlay(lpad(to_hex(floor(extract(epoch from clock_timestamp()) * 4096000)::bigint), 15, '0')
       placing '7' from 13 for 0) || substr(gen_random_uuid()::text, 20))::uuid
   $$`,
  // Of each insert its own; the rows that are there get this transaction's, without being written.
  `alter table webhook_event
     add column if not exists transaction_id xid8 not null default pg_current_xact_id(),
     alter column endpoint_id drop not null`,
  // "recorded": for no endpoint.
  `alter table webhook_event
     drop constraint if exists webhook_event_status_check, drop constraint if exists webhook_event_endpoint_check`,
  `alter table webhook_event add constraint webhook_event_status_check check (${STATUS}) not valid`,
  `alter table webhook_event add constraint webhook_event_endpoint_check check (${ENDPOINT}) not valid`,
];

const DOWN: readonly string[] = [
  `create or replace function uuid_v7() returns uuid language sql volatile parallel safe as $$
    select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
      placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
      from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
  $$`,
  `delete from webhook_event where status = 'recorded'`,
  'drop index webhook_event_order',
  `alter table webhook_event
     drop constraint webhook_event_endpoint_check,
     drop constraint webhook_event_status_check,
     add constraint webhook_event_status_check check (status in ('pending', 'delivered', 'exhausted')),
     alter column endpoint_id set not null,
     drop column transaction_id`,
  'drop trigger webhook_endpoint_recording on webhook_endpoint',
  'drop function record_events_of_endpoint()',
  'drop table event_recording',
];
