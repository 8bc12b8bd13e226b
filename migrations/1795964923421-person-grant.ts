import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** What an issuer lets Herald ask again about people who are signed in. */
export class PersonGrant1795964923421 extends SqlMigration {
  readonly name = 'PersonGrant1795964923421';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- id: of the session, with which it goes. grant_ciphertext: the tokens of the issuer. check_due_at: when groups are read again.
create table person_grant (
  id uuid primary key references person_session (id) on delete cascade,
  grant_ciphertext bytea not null,
  check_due_at timestamptz not null
);
create index person_grant_due on person_grant (check_due_at);
`;

const DOWN = 'drop table person_grant';
