import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Messages that are addressed to a user id, and what the platform says about a received one beside its content. */
export class RecipientUserId1765070000000 implements MigrationInterface {
  name = 'RecipientUserId1765070000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

// "recipient" stays the key of the order to one contact: the contact's number where it is known, else the user id.
const UP: readonly string[] = [
  'alter table message add column recipient_user_id text, add column inbound_context jsonb',
];

const DOWN: readonly string[] = ['alter table message drop column inbound_context, drop column recipient_user_id'];
