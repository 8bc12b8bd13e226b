import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Moves the messages of an installed base into their new tables, batch by batch, while it is in use. */
export class MoveMessages1766000010000 implements MigrationInterface {
  name = 'MoveMessages1766000010000';
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
    // Each batch is durable by itself; a second try moves everything once more, which changes nothing.
    let after: string | null = '00000000-0000-0000-0000-000000000000';
    while (after !== null) {
      const rows = (await queryRunner.query(MOVE, [after, BATCH])) as { last: string | null }[];
      after = rows[0]?.last ?? null;
    }
    await queryRunner.query('analyze message_queue, message_state, message_content');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const [name] of MADE) await queryRunner.query(`drop index ${name}`);
  }
}

/** So many rows are locked at once, for some tens of milliseconds. */
const BATCH = 1_000;

// The lock makes it safe beside a program that sends: a row is copied when no transaction changes it.
const MOVE = `
with locked as materialized (
  select m from message m where m.id > $1 order by m.id limit $2 for no key update
), placed as materialized (
  select (m).id as id, message_place(m) from locked
)
select max(id::text) as last from placed`;

const MADE = [
  ['message_journal_out', "(connection_id, created_at desc, id desc) where direction = 'outbound'"],
  ['message_journal_in', "(connection_id, created_at desc, id desc) where direction = 'inbound'"],
  [
    'message_conversation_out',
    "(conversation_id, created_at desc, id desc) where direction = 'outbound' and conversation_id is not null",
  ],
  [
    'message_conversation_in',
    "(conversation_id, created_at desc, id desc) where direction = 'inbound' and conversation_id is not null",
  ],
] as const;
