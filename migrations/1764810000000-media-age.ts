import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Files are kept for a time that is a setting, for both directions apart: it counts from when they were made. */
export class MediaAge1764810000000 implements MigrationInterface {
  name = 'MediaAge1764810000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  // `expires_at` is no longer read: a changed setting has to reach the files that are there already. The column goes a
  // release later, for processes of the one before still name it while they are replaced.
  `create index media_object_age on media_object (direction, created_at)`,
];

const DOWN: readonly string[] = ['drop index media_object_age'];
