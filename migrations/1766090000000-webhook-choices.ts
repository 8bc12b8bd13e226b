import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a webhook chooses: numbers, headers of its own; and its replays of events. */
export class WebhookChoices1766090000000 implements MigrationInterface {
  name = 'WebhookChoices1766090000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await queryRunner.query(statement);
  }
}

const UP: readonly string[] = [
  // Empty: all numbers. The sealed headers are one JSON object; their names stand beside it, for they are shown.
  `alter table webhook_endpoint add column connection_ids uuid[] not null default '{}',
    add column header_names text[] not null default '{}', add column headers_ciphertext bytea`,

  // A task: its events stand in the second table until they are in line again.
  `create table webhook_replay (
    id uuid primary key,
    organization_id uuid not null references organization (id),
    endpoint_id uuid not null references webhook_endpoint (id) on delete cascade,
    only_failed boolean not null,
    total integer not null,
    done integer not null default 0,
    created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
    finished_at timestamptz(3)
  )`,
  `create unique index webhook_replay_running on webhook_replay (endpoint_id) where finished_at is null`,
  `create index webhook_replay_of_endpoint on webhook_replay (endpoint_id)`,
  `create table webhook_replay_event (
    replay_id uuid not null references webhook_replay (id) on delete cascade,
    organization_id uuid not null,
    event_id uuid not null,
    primary key (replay_id, event_id)
  )`,
];

const DOWN: readonly string[] = [
  'drop table webhook_replay_event',
  'drop table webhook_replay',
  `alter table webhook_endpoint drop column connection_ids, drop column header_names, drop column headers_ciphertext`,
];
