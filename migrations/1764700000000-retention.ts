import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is kept for a time only: how far it was cleared, and what the clearing looks up. */
export class Retention1764700000000 implements MigrationInterface {
  name = 'Retention1764700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  // Messages stay, their contents go: the walk goes on behind the last row that it cleared. Ids begin with their time.
  `create table retention_cursor (
    name text primary key,
    last_id uuid not null
  )`,
  `create index otp_recipient_age on otp_recipient (last_sent_at)`,
];

const DOWN: readonly string[] = ['drop index otp_recipient_age', 'drop table retention_cursor'];
