import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An index for the code that has waited longest, and for those that have waited too long. */
export class OtpWaiting1765020000000 implements MigrationInterface {
  name = 'OtpWaiting1765020000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // What an earlier try left unfinished is not valid.
    await queryRunner.query('drop index concurrently if exists otp_challenge_waiting');
    await queryRunner.query(
      `create index concurrently otp_challenge_waiting on otp_challenge (created_at) where status = 'queued'`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop index otp_challenge_waiting');
  }
}
