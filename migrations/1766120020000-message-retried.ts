import type { MigrationInterface, QueryRunner } from 'typeorm';

/** That a scheduled message was retried is a column, and no longer a key that no caller has sent. */
export class MessageRetried1766120020000 implements MigrationInterface {
  name = 'MessageRetried1766120020000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const KEY = `overlay(m.id::text placing '8' from 15 for 1)::uuid`;

const UP: readonly string[] = [
  'alter table message add column retried boolean not null default false',
  `update message m set retried = true from message_retry r where m.id = r.message_id and r.idempotency_key = ${KEY}`,
  `delete from message_retry r using message m where m.id = r.message_id and r.idempotency_key = ${KEY}`,
];

const DOWN: readonly string[] = [
  `insert into message_retry (organization_id, idempotency_key, message_id)
   select m.organization_id, ${KEY}, m.id from message m where m.retried on conflict do nothing`,
  'alter table message drop column retried',
];
