import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The identity of the database that Herald last worked on. A server knows who it is: claims compare the two in their own
 * statement, so that no claim succeeds on another server or history before an operator has looked.
 */
export class DatabaseIdentity1766030000000 implements MigrationInterface {
  name = 'DatabaseIdentity1766030000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of UP) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('drop table database_identity');
    await queryRunner.query('drop function identity_of_database()');
  }
}

const UP = [
  // Cluster, timeline (a new one begins with each promotion and each point-in-time recovery), database. A managed server
  // may not give a part away: it is then left out on both sides of the comparison. What is out of order with the server
  // itself (classes 53 to 58) must not look like another server.
  `create function identity_of_database() returns text language plpgsql stable as $$
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
   end $$`,
  // One row. "held_since": rows queued before it were accepted on the database of "identity".
  `create table database_identity (
    single boolean primary key default true check (single),
    identity text not null,
    confirmed_at timestamptz not null default clock_timestamp(),
    held_since timestamptz
  )`,
  // Earlier programs kept it in "heartbeat".
  `with earlier as (delete from heartbeat where name like 'server:%' returning name, beat_at)
   insert into database_identity (identity)
   select coalesce((select substr(name, 8) from earlier order by beat_at desc limit 1), identity_of_database())`,
];
