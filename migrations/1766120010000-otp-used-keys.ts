import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A code of which retention has left its key alone: a key never expires. */
export class OtpUsedKeys1766120010000 implements MigrationInterface {
  name = 'OtpUsedKeys1766120010000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  `alter table otp_challenge alter column recipient drop not null, alter column country drop not null,
     alter column code_hash drop not null`,
  // What is left of old codes stays at the beginning of the table: retention must not read it in every round.
  'drop index concurrently if exists otp_challenge_kept',
  'create index concurrently otp_challenge_kept on otp_challenge (created_at) where recipient is not null',
];

const DOWN: readonly string[] = [
  'drop index otp_challenge_kept',
  'delete from otp_challenge where recipient is null',
  `alter table otp_challenge alter column recipient set not null, alter column country set not null,
     alter column code_hash set not null`,
];
