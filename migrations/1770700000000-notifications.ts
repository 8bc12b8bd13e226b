import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Notifications of the platform, as they came in. */
export class Notifications1770700000000 implements MigrationInterface {
  name = 'Notifications1770700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(UP);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(DOWN);
  }
}

const UP = `
-- "stored": not, or not wholly, applied yet. unread: names of what in it Herald does not know or use.
create table platform_notification (
  id uuid primary key,
  received_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  body bytea not null,
  state text not null default 'stored' check (state in ('stored', 'applied', 'unmatched', 'unreadable', 'failed')),
  tries integer not null default 0,
  next_try_at timestamptz not null default clock_timestamp() + interval '5 seconds',
  unread jsonb
) with (autovacuum_vacuum_scale_factor = 0.01);
create index platform_notification_due on platform_notification (next_try_at) where state = 'stored';
create index platform_notification_unread on platform_notification (id) where unread is not null;
`;

const DOWN = `
drop table platform_notification;
`;
