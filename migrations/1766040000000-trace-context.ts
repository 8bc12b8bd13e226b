import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The trace that a message and its webhook events are a part of: 16 bytes of the trace's id, 8 of the parent span's. Null
 * where no trace is recorded. A new column without a default touches no row.
 */
export class TraceContext1766040000000 implements MigrationInterface {
  name = 'TraceContext1766040000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table message add column trace_context bytea');
    await queryRunner.query('alter table webhook_event add column trace_context bytea');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('alter table webhook_event drop column trace_context');
    await queryRunner.query('alter table message drop column trace_context');
  }
}
