import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long a message of a template may wait for its delivery, as the platform knows it; null: its default. */
export class TemplateTtl1765080000000 implements MigrationInterface {
  name = 'TemplateTtl1765080000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table template add column message_send_ttl_seconds integer');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table template drop column message_send_ttl_seconds');
  }
}
