import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** People who sign in at an OpenID Connect issuer, what they may do in which workspace, and their sessions. */
export class People1771700000000 extends SqlMigration {
  readonly name = 'People1771700000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- subject: the person's id at the issuer, which never changes; e-mail and name are as of the last sign-in.
create table person (
  id uuid primary key,
  issuer text not null check (char_length(issuer) <= 500),
  subject text not null check (char_length(subject) between 1 and 255),
  email text not null check (char_length(email) between 3 and 320),
  name text not null check (char_length(name) <= 200),
  is_operator boolean not null,
  last_signed_in_at timestamptz(3) not null,
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  unique (issuer, subject)
);
create index person_page on person (created_at, id);
create index person_email on person (email);

-- source: group: by a group of the issuer, as of the last sign-in; invitation: by an admin. A person may have both.
create table membership (
  organization_id uuid not null references organization (id),
  person_id uuid not null references person (id),
  source text not null check (source in ('group', 'invitation')),
  role text not null check (role in ('viewer', 'agent', 'developer', 'admin')),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  primary key (organization_id, person_id, source)
);
create index membership_person on membership (person_id);
create index membership_page on membership (organization_id, created_at, person_id);

-- hash: of the text in the cookie. issuer_session: the issuer's name of it, by which it signs out.
create table person_session (
  id uuid primary key,
  hash bytea not null unique check (octet_length(hash) = 32),
  person_id uuid not null references person (id),
  issuer_session text check (char_length(issuer_session) <= 255),
  expires_at timestamptz not null,
  last_seen_at timestamptz not null default clock_timestamp(),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create index person_session_person on person_session (person_id);
create index person_session_end on person_session (expires_at);
create index person_session_seen on person_session (last_seen_at);

-- email: the first person who signs in with this verified address is made a member. accepted_by: who that was.
create table invitation (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  email text not null check (char_length(email) between 3 and 320),
  role text not null check (role in ('viewer', 'agent', 'developer', 'admin')),
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  accepted_by uuid references person (id),
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp()),
  check ((accepted_at is null) = (accepted_by is null))
);
-- One that waits for an address and a workspace, which a new one takes the place of.
create unique index invitation_open on invitation (email, organization_id) where accepted_at is null and revoked_at is null;
create index invitation_page on invitation (organization_id, created_at, id);
create index invitation_end on invitation (expires_at);
`;

const DOWN = `
drop table invitation;
drop table person_session;
drop table membership;
drop table person;
`;
