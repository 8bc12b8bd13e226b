import { SqlMigration } from '../src/infrastructure/database/sql-migration.js';

/** What the processes share beside the rows of modules: lanes, heartbeats, and the identity of the database. */
export class Operations1770300000000 extends SqlMigration {
  readonly name = 'Operations1770300000000';
  protected readonly upSql = UP;
  protected readonly downSql = DOWN;
}

const UP = `
-- Processes that work on lanes. All times here and in lane are the database's.
create table worker (
  id uuid primary key,
  alive_until timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

-- owner: the process that works on the lane, for as long as it is alive. next_slot_at, of a lane without owner: since when pace is unused;
-- unused rows are the time since then by the rate, at most the burst. low_at: no due row of the lane is before it.
create table lane (
  key text primary key,
  owner uuid,
  paused_until timestamptz,
  pause_count integer not null default 0,
  pause_reason text,
  next_slot_at timestamptz not null default '-infinity',
  low_at timestamptz not null default '-infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);
-- Those in use, or whose mark is to move once more: few, however many numbers there are.
create index lane_in_use on lane (key) where owner is not null or low_at < next_slot_at;

-- Last success of what runs again and again, and the seconds between two rounds. The age is part of readiness. Rows
-- clock:<host>:<process>: the clock of that host is so far ahead of this one's. Rows primary:<worker>: which standbys the commits of
-- this server wait for, as that worker found it (AFTER_FAILOVER=continue).
create table heartbeat (
  name text primary key,
  beat_at timestamptz not null,
  every_seconds integer,
  host_ahead_seconds double precision,
  replication jsonb
) with (fillfactor = 50);
-- Readiness updates this row, to prove that the database takes writes.
insert into heartbeat (name, beat_at) values ('ready', clock_timestamp());

-- Cluster, timeline (a new one begins with each promotion and each point-in-time recovery), database. A managed server
-- may refuse to show one of them: it is then left out on both sides of the comparison. An error of the server itself
-- (classes 53 to 58 and XX) must not look like another server.
create function identity_of_database() returns text language plpgsql stable as $$
declare
  cluster text := '-';
  timeline text := '-';
begin
  begin
    cluster := (pg_control_system()).system_identifier;
  exception when others then
    if sqlstate ~ '^(5[3478]|XX)' then raise; end if;
  end;
  begin
    timeline := case when pg_is_in_recovery() then lpad(upper(to_hex((pg_control_checkpoint()).timeline_id)), 8, '0')
      else substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) end;
  exception when others then
    if sqlstate ~ '^(5[3478]|XX)' then raise; end if;
  end;
  return cluster || '/' || timeline || '/' || (select oid from pg_database where datname = current_database());
end $$;

-- One row. "blocked_since": rows that were queued before it were accepted on the database of "identity"; "blocked_on": the identity on which
-- that was noted. "continued_at": when Herald last went on by itself after a failover.
create table database_identity (
  single boolean primary key default true check (single),
  identity text not null,
  confirmed_at timestamptz not null default clock_timestamp(),
  blocked_since timestamptz,
  blocked_on text,
  continued_at timestamptz
);
insert into database_identity (identity) values (identity_of_database());
`;

const DOWN = `
drop table database_identity;
drop function identity_of_database();
drop table heartbeat;
drop table lane;
drop table worker;
`;
