import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Messages that are to go later, and times until which they may go.
 *
 * Scheduled messages wait in a table of their own, so that claims and sweeps of what is due never read them. `message` and
 * `message_queue` get columns without a default, which touches no row: `send_at` says without a look-up that a message
 * was scheduled, `ttl_seconds` is needed again at a retry, and a claim decides by `expires_at`.
 */
export class MessageSchedule1766080000000 implements MigrationInterface {
  name = 'MessageSchedule1766080000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const SCHEDULED = {
  columns: ', t.scheduled_for, q.expires_at',
  status: 'or t.message_id is not null',
  queuedAt: 't.created_at, ',
  join: 'left join message_schedule t on t.message_id = m.id and m.send_at is not null',
};

const view = (scheduled: Record<keyof typeof SCHEDULED, string>): string => `
  select m.id, m.organization_id, m.connection_id, m.conversation_id, m.direction, m.type, m.recipient,
    m.recipient_user_id, m.sender, m.client_message_id, m.idempotency_key, m.fingerprint, m.reply_to_message_id,
    m.media_object_id, m.created_at, c.body, coalesce(c.content, '{}') as content, c.inbound_context,
    case when m.direction = 'inbound' then 'received' when q.attempt_id is not null then 'processing'
      when q.message_id is not null ${scheduled.status} then 'queued' else s.status end as status,
    case when m.direction = 'inbound' then m.meta_message_id else s.meta_message_id end as meta_message_id,
    s.failure_category, s.error_code, s.error_message,
    coalesce(q.attempt_number, s.attempt_count, s.attempt_number, 0) as attempt_count,
    coalesce(q.event_count, s.event_count, 1) as event_count,
    coalesce(q.attempt_id, s.attempt_id) as current_attempt_id, q.lease_until, q.seq, q.tries,
    case when q.attempt_id is null then coalesce(q.next_attempt_at, q.queued_at) end as next_attempt_at,
    coalesce(q.queued_at, ${scheduled.queuedAt}s.queued_at) as queued_at,
    coalesce(q.claimed_at, s.processing_at) as processing_at,
    s.accepted_at, case when m.direction = 'inbound' then m.sent_at else s.sent_at end as sent_at, s.delivered_at,
    s.read_at, s.failed_at${scheduled.columns}
  from message m
  left join message_queue q on q.message_id = m.id and m.direction = 'outbound'
  left join message_state s on s.message_id = m.id
  left join message_content c on c.message_id = m.id
  ${scheduled.join}`;

const UP: readonly string[] = [
  // recipient: the key of the lane, for erasure and the journal; the release determines it again.
  // release_at: when it is looked at next; later than scheduled_for where a check could not be made.
  `create table message_schedule (
    message_id uuid primary key,
    organization_id uuid not null,
    connection_id uuid not null,
    conversation_id uuid,
    created_at timestamptz(3) not null,
    recipient text not null,
    scheduled_for timestamptz(3) not null,
    release_at timestamptz not null
  ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000)`,
  'create index message_schedule_release on message_schedule (release_at)',
  'create index message_schedule_number on message_schedule (connection_id, release_at)',
  'create index message_schedule_order on message_schedule (connection_id, created_at)',
  'create index message_schedule_recipient on message_schedule (connection_id, recipient)',

  'alter table message add column send_at timestamptz(3), add column ttl_seconds integer',
  // Of those only that have a time of their own; all others expire by queued_at.
  'alter table message_queue add column expires_at timestamptz',
  `create or replace view message_view as ${view(SCHEDULED)}`,
];

// What is scheduled waits for its time in the queue, as the release before this one can.
const DOWN: readonly string[] = [
  'lock table message, message_queue, message_schedule in access exclusive mode',
  `insert into message_queue (connection_id, created_at, message_id, organization_id, conversation_id, recipient,
     queued_at, next_attempt_at)
   select connection_id, created_at, message_id, organization_id, conversation_id, recipient, clock_timestamp(),
     scheduled_for
   from message_schedule order by scheduled_for`,
  'drop view message_view',
  `create view message_view as ${view({ columns: '', status: '', queuedAt: '', join: '' })}`,
  'alter table message_queue drop column expires_at',
  'alter table message drop column send_at, drop column ttl_seconds',
  'drop table message_schedule',
];
