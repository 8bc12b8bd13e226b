import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook endpoints, their events and deliveries. */
export class Webhook1764300000000 implements MigrationInterface {
  name = 'Webhook1764300000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [];

const DOWN: readonly string[] = [];
