import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Leads the sweep to messages with a time of their own to expire; all others are not in it. */
export class MessageExpiry1766080010000 implements MigrationInterface {
  name = 'MessageExpiry1766080010000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // It waits for every transaction that is older, and blocks nothing meanwhile.
    await queryRunner.query('set lock_timeout = 0');
    // What an earlier try left unfinished is not valid.
    await queryRunner.query('drop index concurrently if exists message_queue_expiry');
    await queryRunner.query(
      'create index concurrently message_queue_expiry on message_queue (expires_at) where expires_at is not null',
    );
    await queryRunner.query('reset lock_timeout');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index message_queue_expiry');
  }
}
