import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The seconds between two rounds beside each sweep's last success, so that any program can see which one is overdue. */
export class SweepRounds1766120000000 implements MigrationInterface {
  name = 'SweepRounds1766120000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table heartbeat add column every_seconds integer');
    // What readiness writes, to see that the database takes writes.
    await queryRunner.query(
      `insert into heartbeat (name, beat_at) values ('ready', clock_timestamp()) on conflict do nothing`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`delete from heartbeat where name = 'ready'`);
    await queryRunner.query('alter table heartbeat drop column every_seconds');
  }
}
