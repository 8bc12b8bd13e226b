import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Who wants no messages: what WhatsApp reported, and what the workspace itself recorded. */
export class OptOuts1771200000000 extends SqlMigration {
  readonly name = 'OptOuts1771200000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- One for each workspace that ever recorded an opt-out; messages of others look at nothing else. A transaction that
-- changes entries of the workspace locks this row first.
create table opt_out_salt (
  organization_id uuid primary key references organization (id),
  salt text not null
);

-- One row for a person, a source and a category; of the platform's also for the number that it is about. "said_at": when
-- the person last said yes or no; what is older changes nothing, so a row stays when the person opts in again. "phone",
-- "user_id" and "reason" are empty then, and after the person was erased: "opt_out_name" alone keeps the stop.
create table opt_out (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  connection_id uuid references connection (id),
  source text not null check (source in ('own', 'platform')),
  category text not null check (category in ('marketing', 'all')),
  active boolean not null,
  since timestamptz(3) not null,
  said_at timestamptz(3) not null,
  phone text,
  user_id text,
  reason text,
  constraint opt_out_platform check ((source = 'platform') = (connection_id is not null))
);
create index opt_out_shown on opt_out (organization_id, source, category, since, id)
  where active and (phone is not null or user_id is not null);

-- Every name of the person as SHA-256 of the workspace's salt and the name: numbers, user ids, ids of conversations.
create table opt_out_name (
  organization_id uuid not null,
  hash bytea not null,
  opt_out_id uuid not null references opt_out (id),
  primary key (organization_id, hash, opt_out_id)
);
create index opt_out_name_of on opt_out_name (opt_out_id);

-- Words by which customers opt out and in, by language.
create table opt_out_keywords (
  organization_id uuid primary key references organization (id),
  keywords jsonb not null
);
`;

const DOWN = `
drop table opt_out_keywords;
drop table opt_out_name;
drop table opt_out;
drop table opt_out_salt;
`;
