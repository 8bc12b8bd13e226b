import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';

/** A session whose groups must be read again, and its person. */
export interface DueGrant {
  sessionId: string;
  sealed: Buffer;
  personId: string;
  issuer: string;
  subject: string;
}

/** SQL condition: a session's check is due. */
export const CHECK_DUE = 'check_due_at <= clock_timestamp()';

/** The only place with SQL on the table `person_grant`. */
@Injectable()
export class GrantsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Stores the grant of a session, in the ambient transaction. Does nothing where the session has ended. The lock waits
   * for another transaction that is ending the session; without the lock, the foreign key would fail.
   */
  async keep(sessionId: string, sealed: Buffer, minutes: number): Promise<void> {
    await this.database.execute(
      `insert into person_grant (id, grant_ciphertext, check_due_at)
       select id, $2, clock_timestamp() + make_interval(mins => $3) from person_session where id = $1 for key share
       on conflict (id) do update set grant_ciphertext = excluded.grant_ciphertext, check_due_at = excluded.check_due_at`,
      [sessionId, sealed, minutes],
    );
  }

  /**
   * Takes the grants that have been due longest. After this many minutes they are due again; until then no process gets
   * them.
   */
  claim(limit: number, minutes: number): Promise<DueGrant[]> {
    return this.database.query<DueGrant & Record<string, unknown>>(
      `with due as (
         select id from person_grant where ${CHECK_DUE} order by check_due_at limit $1 for update skip locked
       ), claimed as (
         update person_grant g set check_due_at = clock_timestamp() + make_interval(mins => $2)
         from due where g.id = due.id returning g.id, g.grant_ciphertext
       )
       select c.id as "sessionId", c.grant_ciphertext as sealed, p.id as "personId", p.issuer, p.subject
       from claimed c join person_session s on s.id = c.id join person p on p.id = s.person_id`,
      [limit, minutes],
    );
  }
}
