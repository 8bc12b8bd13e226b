import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** The mirror of the message templates. */
export class Templates1770800000000 extends SqlMigration {
  readonly name = 'Templates1770800000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- One account of the platform as one workspace sees it: all numbers that the workspace has there share its templates. A
-- transaction that changes the account's templates locks this row first. sync_owner holds the account until sync_until.
create table template_account (
  organization_id uuid not null references organization (id),
  waba_id text not null,
  synced_at timestamptz,
  stale_since timestamptz,
  changed_at timestamptz not null default '-infinity',
  tried_at timestamptz,
  failures integer not null default 0,
  failure jsonb,
  sync_owner uuid,
  sync_started_at timestamptz,
  sync_until timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (organization_id, waba_id)
) with (fillfactor = 70);
-- Notifications name the account only.
create index template_account_waba on template_account (waba_id);

-- The words of "status" are Herald's, those of "platform_status" and "category" the platform's. A deleted template
-- stays as a mark, because the platform may list it for weeks. "touched_at": when a write of Herald or a notification
-- last changed the row (the database's clock). The other "_at": how new the platform's last word on that field is (its
-- own clock). "announced_category": what the platform announced that the category is going to be.
create table template (
  id uuid primary key,
  organization_id uuid not null,
  waba_id text not null,
  platform_id text not null,
  name text not null check (char_length(name) between 1 and 512),
  language text not null check (char_length(language) between 1 and 64),
  status text not null check (status in ('pending', 'approved', 'rejected', 'paused', 'disabled', 'in_appeal',
    'pending_deletion')),
  platform_status text not null,
  category text not null,
  parameter_format text not null check (parameter_format in ('POSITIONAL', 'NAMED')),
  quality text,
  rejected_reason text,
  components jsonb not null,
  message_send_ttl_seconds integer,
  touched_at timestamptz not null default '-infinity',
  status_at timestamptz,
  quality_at timestamptz,
  category_at timestamptz,
  announced_category text,
  announced_for timestamptz,
  deleted_at timestamptz,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  updated_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  constraint template_version unique (organization_id, waba_id, name, language),
  constraint template_of_account foreign key (organization_id, waba_id) references template_account
);
`;

const DOWN = `
drop table template;
drop table template_account;
`;
