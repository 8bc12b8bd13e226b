import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the platform says of the numbers. */
export class ConnectionFacts1764400000000 implements MigrationInterface {
  name = 'ConnectionFacts1764400000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  // token_version: grows with every new token, so that a late refusal of the old one changes nothing.
  // facts_due_at: when the platform is asked next. restricted_until: until then a restriction that was announced holds.
  // throughput_fixed: the operator chose the pace, the platform's answer does not change it.
  `alter table connection
    add column status_reason text,
    add column token_version integer not null default 1,
    add column throughput_fixed boolean not null default false,
    add column restricted_until timestamptz,
    add column facts_at timestamptz(3),
    add column facts_due_at timestamptz not null default clock_timestamp(),
    add column profile_updated_at timestamptz(3)`,
  `create index connection_facts_due on connection (facts_due_at)`,
  `create index connection_waba on connection (waba_id)`,
];

const DOWN: readonly string[] = [
  'drop index connection_waba',
  'drop index connection_facts_due',
  `alter table connection drop column profile_updated_at, drop column facts_due_at, drop column facts_at,
    drop column restricted_until, drop column throughput_fixed, drop column token_version, drop column status_reason`,
];
