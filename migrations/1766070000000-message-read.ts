import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When a received message was marked as read, which shows the customer the two blue ticks. */
export class MessageRead1766070000000 implements MigrationInterface {
  name = 'MessageRead1766070000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // Not a column of "message", whose rows are written once and stand in many indexes. Only inserted into.
    await queryRunner.query(
      `create table message_read (
        message_id uuid primary key,
        organization_id uuid not null,
        read_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
      )`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table message_read');
  }
}
