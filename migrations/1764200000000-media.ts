import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Media files of the workspaces. */
export class Media1764200000000 implements MigrationInterface {
  name = 'Media1764200000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [];

const DOWN: readonly string[] = [];
