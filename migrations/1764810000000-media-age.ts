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
  `create index media_object_age on media_object (direction, created_at)`,
  // Never written: a changed setting has to reach the files that are there already.
  `alter table media_object drop column expires_at`,
];

const DOWN: readonly string[] = [
  `alter table media_object add column expires_at timestamptz`,
  `create index media_object_expiry on media_object (expires_at) where expires_at is not null`,
  'drop index media_object_age',
];
