import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the platform says of the numbers. */
export class ConnectionFacts1764400000000 implements MigrationInterface {
  name = 'ConnectionFacts1764400000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [];

const DOWN: readonly string[] = [];
