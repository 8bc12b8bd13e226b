import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Workspaces: the customers of the installation, each of which sees its own rows alone. */
export class Workspaces1770000000000 extends SqlMigration {
  readonly name = 'Workspaces1770000000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
create table organization (
  id uuid primary key,
  name text not null check (char_length(name) between 1 and 200),
  api_paid_until timestamptz,
  rate_per_second integer check (rate_per_second > 0),
  rate_burst integer check (rate_burst > 0),
  storage_limit_bytes bigint check (storage_limit_bytes >= 0),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
`;

const DOWN = `
drop table organization;
`;
