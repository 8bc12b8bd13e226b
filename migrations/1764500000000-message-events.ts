import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Counts the events of each message. */
export class MessageEvents1764500000000 implements MigrationInterface {
  name = 'MessageEvents1764500000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [];

const DOWN: readonly string[] = [];
