import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * `message_queue` says itself whose turn it is. `due_at` is when a row's turn comes; it is null of a row that is on the
 * wire, or that waits behind another row of its recipient. Three triggers keep it, so that no statement has to think of it.
 */
export class QueueTurns1766130000000 implements MigrationInterface {
  name = 'QueueTurns1766130000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

/** The view that shows when a message is tried next, by another column of the queue. */
const viewBy = (column: string, former: string): string => `do $$ begin
  execute 'create or replace view message_view as '
    || replace(pg_get_viewdef('message_view'::regclass), 'q.${former}', 'q.${column}');
end $$`;

// A place in the table is the only way to the rows that are written: no index has num_nulls(attempt_id).
// Plans are made once a session, whatever the table has at that time and however many rows were removed then.
const BY_INDEX = `set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off
   set enable_mergejoin = off set jit = off`;

const UP: readonly string[] = [
  `alter table message_queue add column due_at timestamptz`,
  // Only what waits first among its recipient's messages is due; what is on the wire stands before all of them.
  `update message_queue q set due_at = case when q.attempt_id is null and q.message_id = (
      select f.message_id from message_queue f where f.connection_id = q.connection_id and f.recipient = q.recipient
      order by (f.attempt_id is null), f.seq limit 1)
    then coalesce(q.next_attempt_at, q.queued_at) end,
    expires_at = coalesce(q.expires_at, q.queued_at + interval '24 hours')`,
  viewBy('due_at', 'next_attempt_at'),
  `alter table message_queue add check (attempt_id is null or due_at is null), alter column expires_at set not null,
    drop column next_attempt_at`,
  'create index message_queue_due on message_queue (connection_id, due_at) where due_at is not null',
  'drop index message_queue_expiry',
  'create index message_queue_expiry on message_queue (expires_at)',
  'alter table lane drop column low_seq, drop column seen_seq, drop column seen_at',

  // A new row is due, or it waits behind one whose deletion waits for our lock. We lock the last such row, so that steady
  // accepts do not hold up the first. A locked row is being removed and is passed over: then we may be due too early, and
  // the claim's guard holds us back.
  `create function message_queue_insert() returns trigger language plpgsql ${BY_INDEX} as $$
   begin
     if new.attempt_id is not null then
       new.due_at := null;
       return new;
     end if;
     new.due_at := case when (select true from message_queue e
       where e.connection_id = new.connection_id and e.recipient = new.recipient
         and (e.attempt_id is not null or e.seq < new.seq)
       order by e.connection_id desc, e.recipient desc, (e.attempt_id is null) desc, e.seq desc limit 1
       for key share skip locked) then null else coalesce(new.due_at, new.queued_at) end;
     return new;
   end $$`,
  `create trigger message_queue_insert before insert on message_queue
   for each row execute function message_queue_insert()`,

  // Whoever removes rows passes the turn on to the recipient's next one. The trigger's snapshot is newer than the locks of
  // the deletion: it sees what was accepted meanwhile. Where the next row was removed or claimed while we waited for it, we
  // look again. Behind a row that was on the wire others on the wire do not count: two such deletions at once do not see
  // each other.
  `create function message_queue_delete() returns trigger language plpgsql ${BY_INDEX} as $$
   declare missed boolean;
   begin
     loop
       with next as materialized (
         select n.place from (
           select connection_id, recipient, bool_or(attempt_id is not null) as was_sent
           from gone group by connection_id, recipient) as freed
         cross join lateral (
           select n.ctid as place, n.attempt_id, n.due_at from message_queue n
           where n.connection_id = freed.connection_id and n.recipient = freed.recipient
             and (n.attempt_id is null or not freed.was_sent)
           order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 1) as n
         where n.attempt_id is null and n.due_at is null
       ), moved as (
         update message_queue q set due_at = clock_timestamp()
         where q.ctid = any(array(select place from next)) and num_nulls(q.attempt_id) = 1 and q.due_at is null returning 1
       )
       select (select count(*) from next) > (select count(*) from moved) into missed;
       exit when not missed;
     end loop;
     return null;
   end $$`,
  `create trigger message_queue_delete after delete on message_queue referencing old table as gone
   for each statement execute function message_queue_delete()`,

  // A row that comes back from the wire has its time. If it stands first again, those behind it wait without one; if an
  // earlier one came meanwhile, that one is due.
  `create function message_queue_release() returns trigger language plpgsql ${BY_INDEX} as $$
   declare first record;
   begin
     loop
       select n.ctid as place, n.message_id, n.due_at into first from message_queue n
       where n.connection_id = new.connection_id and n.recipient = new.recipient and (n.attempt_id is null)
       order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 1;
       exit when first.due_at is not null or first.place is null;
       update message_queue q set due_at = clock_timestamp()
       where q.ctid = first.place and num_nulls(q.attempt_id) = 1 and q.due_at is null;
       exit when found;
     end loop;
     if first.message_id = new.message_id and new.due_at > clock_timestamp() then
       with behind as materialized (
         select n.ctid as place from message_queue n
         where n.connection_id = new.connection_id and n.recipient = new.recipient and (n.attempt_id is null)
           and n.seq > new.seq
         order by n.connection_id, n.recipient, (n.attempt_id is null), n.seq limit 2 for no key update skip locked
       )
       update message_queue q set due_at = null where q.ctid = any(array(select place from behind)) and num_nulls(q.attempt_id) = 1 and q.due_at is not null;
     end if;
     return null;
   end $$`,
  `create trigger message_queue_release after update of attempt_id on message_queue for each row
   when (old.attempt_id is not null and new.attempt_id is null) execute function message_queue_release()`,
];

const DOWN: readonly string[] = [
  'drop trigger message_queue_release on message_queue',
  'drop trigger message_queue_delete on message_queue',
  'drop trigger message_queue_insert on message_queue',
  'drop function message_queue_release, message_queue_delete, message_queue_insert',
  `alter table lane add column low_seq bigint not null default 0, add column seen_seq bigint not null default 0,
    add column seen_at timestamptz not null default 'infinity'`,
  `update lane set low_at = '-infinity'`,
  'alter table message_queue add column next_attempt_at timestamptz, alter column expires_at drop not null',
  'update message_queue set next_attempt_at = coalesce(due_at, queued_at) where attempt_id is null',
  viewBy('next_attempt_at', 'due_at'),
  'alter table message_queue drop column due_at',
  'drop index message_queue_expiry',
  'create index message_queue_expiry on message_queue (expires_at) where expires_at is not null',
  'create index message_queue_later on message_queue (connection_id, next_attempt_at) where next_attempt_at is not null',
];
