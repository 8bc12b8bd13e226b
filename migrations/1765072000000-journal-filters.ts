import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Indexes for the journal's filters by conversation and sender, in whose order pages are read. */
export class JournalFilters1765072000000 implements MigrationInterface {
  name = 'JournalFilters1765072000000';
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    // It waits for every transaction that is older, and blocks nothing meanwhile.
    await queryRunner.query('set lock_timeout = 0');
    // What an earlier try left unfinished is not valid.
    for (const [name, definition] of MADE) {
      await queryRunner.query(`drop index concurrently if exists ${name}`);
      await queryRunner.query(`create index concurrently ${name} on message ${definition}`);
    }
    await queryRunner.query('reset lock_timeout');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [name] of MADE) await queryRunner.query(`drop index ${name}`);
  }
}

const MADE = [
  [
    'message_journal_conversation',
    '(organization_id, conversation_id, status, created_at desc, id desc) where conversation_id is not null',
  ],
  [
    'message_journal_sender',
    "(organization_id, sender, connection_id, created_at desc, id desc) where direction = 'inbound'",
  ],
] as const;
