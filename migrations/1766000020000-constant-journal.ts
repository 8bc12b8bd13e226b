import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CARRY_OVER, CARRY_OVER_NO_MORE } from './1766000000000-queue-and-state.js';

/**
 * Takes from the journal's row what changes. From here on the release before this one cannot read or write messages:
 * its statements fail, so it accepts and sends nothing. What it had on the wire becomes `outcome_unknown` when the
 * lease ends, until the platform's notification resolves it.
 */
export class ConstantJournal1766000020000 implements MigrationInterface {
  name = 'ConstantJournal1766000020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  'lock table message, message_attempt in access exclusive mode',
  ...CARRY_OVER_NO_MORE,
  `select setval(pg_get_serial_sequence('message_queue', 'seq'),
     (select last_value from pg_sequences where sequencename = 'message_seq_seq' and schemaname = current_schema()))`,
  // sent_at and meta_message_id stay for received messages. Indexes go with their columns.
  `alter table message drop column seq, drop column body, drop column content, drop column inbound_context,
    drop column status, drop column failure_category, drop column error_code, drop column error_message,
    drop column attempt_count, drop column tries, drop column current_attempt_id, drop column lease_until,
    drop column next_attempt_at, drop column queued_at, drop column processing_at, drop column accepted_at,
    drop column delivered_at, drop column read_at, drop column failed_at, drop column event_count`,
  // A message as one row, for reading. What a statement does not ask for is not joined.
  `create view message_view as
   select m.id, m.organization_id, m.connection_id, m.conversation_id, m.direction, m.type, m.recipient,
     m.recipient_user_id, m.sender, m.client_message_id, m.idempotency_key, m.fingerprint, m.reply_to_message_id,
     m.media_object_id, m.created_at, c.body, coalesce(c.content, '{}') as content, c.inbound_context,
     case when m.direction = 'inbound' then 'received' when q.attempt_id is not null then 'processing'
       when q.message_id is not null then 'queued' else s.status end as status,
     case when m.direction = 'inbound' then m.meta_message_id else s.meta_message_id end as meta_message_id,
     s.failure_category, s.error_code, s.error_message,
     coalesce(q.attempt_number, s.attempt_count, s.attempt_number, 0) as attempt_count,
     coalesce(q.event_count, s.event_count, 1) as event_count,
     coalesce(q.attempt_id, s.attempt_id) as current_attempt_id, q.lease_until, q.seq, q.tries,
     case when q.attempt_id is null then coalesce(q.next_attempt_at, q.queued_at) end as next_attempt_at,
     coalesce(q.queued_at, s.queued_at) as queued_at, coalesce(q.claimed_at, s.processing_at) as processing_at,
     s.accepted_at, case when m.direction = 'inbound' then m.sent_at else s.sent_at end as sent_at, s.delivered_at,
     s.read_at, s.failed_at
   from message m
   left join message_queue q on q.message_id = m.id and m.direction = 'outbound'
   left join message_state s on s.message_id = m.id
   left join message_content c on c.message_id = m.id`,
  // All attempts, one a number: the one under way, else the one that brought the state, else an earlier one.
  `create view message_attempt_view as
   select distinct on (a.message_id, a.number) a.id, a.organization_id, a.message_id, a.number, a.status, a.started_at,
     a.finished_at, a.http_status, a.platform_code, a.platform_message, a.failure_category, a.meta_message_id, a.trace_id
   from (
     select 1 as place, q.attempt_id as id, q.organization_id, q.message_id, q.attempt_number as number,
       'started' as status, q.claimed_at as started_at, null::timestamptz as finished_at, null::integer as http_status,
       null::integer as platform_code, null as platform_message, null as failure_category, null as meta_message_id,
       null as trace_id
     from message_queue q where q.attempt_id is not null
     union all
     select 2, s.attempt_id, s.organization_id, s.message_id, s.attempt_number, coalesce(s.attempt_status, 'started'),
       coalesce(s.processing_at, s.queued_at), s.attempt_finished_at, s.http_status, s.platform_code,
       s.platform_message, s.attempt_category, s.meta_message_id, s.trace_id
     from message_state s where s.attempt_id is not null
     union all
     select 3, id, organization_id, message_id, number, status, started_at, finished_at, http_status, platform_code,
       platform_message, failure_category, meta_message_id, trace_id
     from message_attempt) as a
   order by a.message_id, a.number, a.place`,
  // Contents are deleted now; where nothing is left behind, nothing needs to be passed over.
  'drop table retention_cursor',
];

const DOWN: readonly string[] = [
  'lock table message, message_attempt, message_queue, message_state in access exclusive mode',
  `alter table message add column seq bigint generated by default as identity, add column body text,
    add column content jsonb not null default '{}', add column inbound_context jsonb,
    add column status text not null default 'received' check (status in ('queued', 'processing', 'accepted', 'sent',
      'delivered', 'read', 'failed', 'outcome_unknown', 'received')),
    add column failure_category text, add column error_code text, add column error_message text,
    add column attempt_count integer not null default 0, add column tries integer not null default 0,
    add column current_attempt_id uuid, add column lease_until timestamptz, add column next_attempt_at timestamptz,
    add column queued_at timestamptz, add column processing_at timestamptz, add column accepted_at timestamptz,
    add column delivered_at timestamptz, add column read_at timestamptz, add column failed_at timestamptz,
    add column event_count integer not null default 0`,
  `update message m set seq = coalesce(v.seq, m.seq), body = v.body, content = v.content,
    inbound_context = v.inbound_context, status = v.status, failure_category = v.failure_category,
    error_code = v.error_code, error_message = v.error_message, attempt_count = v.attempt_count,
    tries = coalesce(v.tries, 0), current_attempt_id = v.current_attempt_id, lease_until = v.lease_until,
    next_attempt_at = case when v.status = 'queued' then v.next_attempt_at end, queued_at = v.queued_at,
    processing_at = v.processing_at, accepted_at = v.accepted_at, sent_at = v.sent_at, delivered_at = v.delivered_at,
    read_at = v.read_at, failed_at = v.failed_at, meta_message_id = v.meta_message_id, event_count = v.event_count
   from message_view v where v.id = m.id`,
  `select setval(pg_get_serial_sequence('message', 'seq'), greatest((select max(seq) from message),
     (select last_value from pg_sequences where sequencename = 'message_queue_seq_seq' and schemaname = current_schema()), 1))`,
  'alter table message alter column seq set generated always',
  'alter table message alter column content drop default, alter column status drop default',
  `insert into message_attempt (id, organization_id, message_id, number, status, started_at, finished_at, http_status,
     platform_code, platform_message, failure_category, meta_message_id, trace_id)
   select attempt_id, organization_id, message_id, attempt_number, attempt_status, coalesce(processing_at, queued_at),
     attempt_finished_at, http_status, platform_code, platform_message, attempt_category, meta_message_id, trace_id
   from message_state where attempt_id is not null and attempt_status is not null
   union all
   select attempt_id, organization_id, message_id, attempt_number, 'started', claimed_at, null, null, null, null, null,
     null, null
   from message_queue where attempt_id is not null
   on conflict (id) do nothing`,
  'drop view message_attempt_view, message_view',
  'create table retention_cursor (name text primary key, last_id uuid not null)',
  ...CARRY_OVER,
  `create index message_journal_filtered on message (organization_id, connection_id, status, created_at desc, id desc)`,
  `create index message_journal_conversation on message (organization_id, conversation_id, status, created_at desc, id desc)
    where conversation_id is not null`,
  `create index message_lane on message (connection_id, recipient, seq) where status in ('queued', 'processing')`,
  `create index message_due on message (connection_id, next_attempt_at) where status = 'queued'`,
  `create index message_in_flight on message (connection_id, recipient, lease_until) where status = 'processing'`,
];
