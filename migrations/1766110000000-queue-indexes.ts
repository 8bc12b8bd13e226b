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

const INDEXES = [
  // The condition holds for every row. A statement that does not repeat it cannot be planned with this index: where the
  // planner takes the queue for nearly empty, all indexes of a lane look equal, and the search for one recipient's
  // messages read all dead rows of the lane by the smaller one.
  {
    name: 'message_queue_by_time',
    on: `message_queue (connection_id, created_at) where created_at > '-infinity'`,
    former: { name: 'message_queue_order', on: 'message_queue (connection_id, created_at)' },
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
  // Codes of each project by time: what has waited too long to be sent need not be read. Only a statement that asks for
  // the state by the same expression can be planned with this index, and with no other.
  {
    name: 'otp_challenge_turn',
    on: `otp_challenge (project_id, created_at, seq) where status || '' = 'queued'`,
    former: { name: 'otp_challenge_lane', on: `otp_challenge (project_id, seq) where status = 'queued'` },
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
