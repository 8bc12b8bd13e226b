import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes of queues that stay fast beside a transaction that stays open, in place of those that did not. */
export class QueueIndexes1766110000000 implements MigrationInterface {
  name = 'QueueIndexes1766110000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

/** States in which a code can still be verified. */
const OPEN = `('queued', 'sending', 'outcome_unknown', 'sent', 'delivered', 'read')`;

// Each has a condition that holds for what it is for, and that only the statements repeat which are to be planned with it.
// Where the planner takes a queue for nearly empty all indexes look equal to it: by one of them it read all dead rows to
// find a single row by its id or its recipient.
const INDEXES = [
  // The condition holds for every row.
  {
    name: 'message_queue_by_time',
    on: `message_queue (connection_id, created_at) where created_at > '-infinity'`,
    former: { name: 'message_queue_order', on: 'message_queue (connection_id, created_at)' },
  },
  // Both conditions hold for every row: what is due is found by its time alone.
  {
    name: 'message_schedule_by_time',
    on: `message_schedule (connection_id, created_at) where created_at > '-infinity'`,
    former: { name: 'message_schedule_order', on: 'message_schedule (connection_id, created_at)' },
  },
  {
    name: 'message_schedule_by_recipient',
    on: `message_schedule (connection_id, recipient) where recipient <> ''`,
    former: { name: 'message_schedule_recipient', on: 'message_schedule (connection_id, recipient)' },
  },
  // Deliveries under way by the end of their lease: to count them, only those of the last lease's length are read.
  {
    name: 'webhook_event_leased',
    on: 'webhook_event (endpoint_id, next_attempt_at) where current_attempt_id is not null',
    former: {
      name: 'webhook_event_in_flight',
      on: 'webhook_event (endpoint_id) where current_attempt_id is not null',
    },
  },
  // Codes of each project by time: what has waited too long to be sent need not be read. The state is asked for by an
  // expression, here and in the other indexes of codes.
  {
    name: 'otp_challenge_turn',
    on: `otp_challenge (project_id, created_at, seq) where status || '' = 'queued'`,
    former: { name: 'otp_challenge_lane', on: `otp_challenge (project_id, seq) where status = 'queued'` },
  },
  {
    name: 'otp_challenge_waits',
    on: `otp_challenge (created_at) where status || '' = 'queued'`,
    former: { name: 'otp_challenge_waiting', on: `otp_challenge (created_at) where status = 'queued'` },
  },
  {
    name: 'otp_challenge_of_recipient',
    on: `otp_challenge (project_id, recipient) where status || '' in ${OPEN}`,
    former: { name: 'otp_challenge_open', on: `otp_challenge (project_id, recipient) where status in ${OPEN}` },
  },
  {
    name: 'otp_challenge_expires',
    on: `otp_challenge (expires_at) where status || '' in ${OPEN}`,
    former: { name: 'otp_challenge_expiry', on: `otp_challenge (expires_at) where status in ${OPEN}` },
  },
  {
    name: 'otp_challenge_leased',
    on: 'otp_challenge (lease_until) where lease_until is not null',
    former: { name: 'otp_challenge_lease', on: `otp_challenge (lease_until) where status = 'sending'` },
  },
  // Only files that wait to be fetched have the time.
  {
    name: 'media_object_awaited',
    on: 'media_object (connection_id, next_attempt_at) where next_attempt_at is not null',
    former: { name: 'media_object_due', on: `media_object (connection_id, next_attempt_at) where status = 'pending'` },
  },
];

const UP: readonly string[] = [
  // It waits for every transaction that is older, and blocks nothing meanwhile.
  'set lock_timeout = 0',
  ...INDEXES.flatMap(({ name, on, former }) => [
    // What an earlier try left unfinished is not valid.
    `drop index concurrently if exists ${name}`,
    `create index concurrently ${name} on ${on}`,
    `drop index concurrently if exists ${former.name}`,
  ]),
  'reset lock_timeout',
];

const DOWN: readonly string[] = INDEXES.flatMap(({ name, former }) => [
  `drop index ${name}`,
  `create index ${former.name} on ${former.on}`,
]);
