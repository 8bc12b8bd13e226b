import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The mirror of the message templates. */
export class Templates1764100000000 implements MigrationInterface {
  name = 'Templates1764100000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [];

const DOWN: readonly string[] = [];
