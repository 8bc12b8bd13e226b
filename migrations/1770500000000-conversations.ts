import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** Conversations: one contact on one connection. */
export class Conversations1770500000000 extends SqlMigration {
  readonly name = 'Conversations1770500000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- The contact may be known by the number that a caller gave, by the platform's spelling of it, by a business-scoped user
-- id, or by several of these. Where two rows turn out to be one person, the younger row points to the older one and
-- gives up its identities.
-- standby_at: when the contact last wrote to another app that owns the conversation. handover_*: the last change of
-- control that was told. With last_inbound_at they say who the owner is (control/owner.ts).
-- closed, assignee: kept for the callers. A message of the contact sets closed to false.
create table conversation (
  id uuid primary key,
  organization_id uuid not null references organization (id),
  connection_id uuid not null references connection (id),
  phone text,
  wa_id text,
  user_id text,
  profile_name text,
  last_inbound_at timestamptz,
  standby_at timestamptz,
  handover_at timestamptz,
  handover_to text check (handover_to in ('you', 'other', 'unknown')),
  handover_role text,
  closed boolean not null default false,
  assignee text,
  merged_into uuid references conversation (id),
  created_at timestamptz(3) not null default date_trunc('milliseconds', clock_timestamp())
);
create unique index conversation_phone on conversation (connection_id, phone) where phone is not null;
create unique index conversation_wa_id on conversation (connection_id, wa_id) where wa_id is not null;
create unique index conversation_user_id on conversation (connection_id, user_id) where user_id is not null;
create index conversation_merged on conversation (merged_into) where merged_into is not null;
create index conversation_assignee on conversation (organization_id, assignee) where assignee is not null;
create index conversation_closed on conversation (organization_id) where closed;

-- Names as they are searched: small letters without accents, words separated by one space. No extension is needed; the
-- collation is ICU's, since letters of a database with the locale C are those of ASCII only.
create function search_name(name text) returns text language sql immutable strict parallel safe as $$
  select left(btrim(regexp_replace(translate(replace(replace(replace(
    regexp_replace(lower(normalize(name, NFKD) collate "und-x-icu"), '[\\u0300-\\u036f]', '', 'g'),
    'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'øłđðı', 'olddi') collate "und-x-icu", '[^[:alnum:]]+', ' ', 'g')), 60)
$$;
-- The beginning of a name, and of its last word; the end of a number. Its beginning is in the unique indexes.
create index conversation_name on conversation (organization_id, (search_name(profile_name) collate "C"))
  where profile_name is not null and merged_into is null;
create index conversation_last_name on conversation
  (organization_id, (substring(search_name(profile_name) from '[^ ]+$') collate "C"))
  where profile_name is not null and merged_into is null and search_name(profile_name) like '% %';
create index conversation_number_end on conversation
  (organization_id, (reverse(coalesce(phone, wa_id)) collate "C")) where coalesce(phone, wa_id) is not null;

-- Numbers and user ids that a contact had before the platform reported new ones. A number may be another contact's by now.
create table conversation_alias (
  connection_id uuid not null references connection (id),
  name text not null,
  conversation_id uuid not null references conversation (id),
  organization_id uuid not null references organization (id),
  replaced_at timestamptz not null,
  primary key (connection_id, name, conversation_id)
);
create index conversation_alias_of on conversation_alias (conversation_id);

-- People who were erased here, and are to be removed from the platform's contact book, by their user ids.
create table contact_book_removal (
  connection_id uuid not null references connection (id),
  user_id text not null,
  organization_id uuid not null references organization (id),
  due_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0,
  primary key (connection_id, user_id)
);
create index contact_book_removal_due on contact_book_removal (due_at);
create index contact_book_removal_of on contact_book_removal (organization_id, due_at);
`;

const DOWN = `
drop table contact_book_removal;
drop table conversation_alias;
drop table conversation;
drop function search_name(text);
`;
