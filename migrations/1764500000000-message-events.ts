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

const UP: readonly string[] = [
  // Becomes `data.sequence` of the message's next event; counted with and without an endpoint.
  'alter table message add column event_count integer not null default 0',
];

const DOWN: readonly string[] = ['alter table message drop column event_count'];
