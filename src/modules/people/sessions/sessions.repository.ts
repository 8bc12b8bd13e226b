import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';
import type { WorkspaceRole } from '../../../infrastructure/http/roles.js';
import type { SignedInPerson, WorkspaceOfPerson } from '../../keys/person-sessions.types.js';
import { PersonSessionEntity } from '../entities/person-session.entity.js';

export type PersonSession = Omit<PersonSessionEntity, 'hash'>;

/** The stored facts against which a request's cookie is checked. */
export interface StoredSession extends Omit<SignedInPerson, 'sessionId'> {
  sessionId: string;
  hash: Buffer;
  /** Milliseconds until the session ends, by the database's clock. */
  endsInMs: number;
}

/** A workspace with the person's roles in it. */
export interface StoredWorkspace extends Omit<WorkspaceOfPerson, 'role'> {
  roles: WorkspaceRole[];
}

/** Limit of one person's sessions: if there are more, the oldest are ended. */
const MOST_SESSIONS = 50;

const WORKSPACE = `o.id, o.name, o.api_paid_until as "apiPaidUntil",
  num_nonnulls(o.messages_per_day, o.spend_per_month, o.marketing_per_recipient_per_week) > 0 as limited,
  o.rate_per_second as "ratePerSecond", o.rate_burst as "rateBurst"`;

/** The only place with SQL on the table `person_session`, and for the session check of each request. */
@Injectable()
export class SessionsRepository {
  constructor(private readonly database: Database) {}

  /** SQL condition: a session has ended, by its age or for lack of use. */
  static over(idleMinutes: number): string {
    return `(expires_at <= clock_timestamp() or last_seen_at <= clock_timestamp() - interval '${idleMinutes} minutes')`;
  }

  /** Stores a new session, in the ambient transaction. If the person has too many sessions, the oldest are ended. */
  async insert(
    row: Pick<PersonSessionEntity, 'id' | 'hash' | 'personId' | 'issuerSession'>,
    hours: number,
  ): Promise<void> {
    await this.database.execute(
      `insert into person_session (id, hash, person_id, issuer_session, expires_at)
       values ($1, $2, $3, $4, clock_timestamp() + make_interval(hours => $5))`,
      [row.id, row.hash, row.personId, row.issuerSession, hours],
    );
    await this.database.execute(
      `delete from person_session where id in
         (select id from person_session where person_id = $1 order by created_at desc, id desc offset $2)`,
      [row.personId, MOST_SESSIONS],
    );
  }

  /** One session per hash, in the same order; null where there is none. */
  async readStored(hashes: readonly string[], idleMinutes: number): Promise<(StoredSession | null)[]> {
    const rows = await this.database.query<StoredSession & { key: string }>(
      `select encode(s.hash, 'hex') as key, s.hash, s.id as "sessionId", p.id, p.name, p.email, p.is_operator as "isOperator",
         s.expires_at as "expiresAt",
         (extract(epoch from least(s.expires_at, s.last_seen_at + make_interval(mins => $2)) - clock_timestamp()) * 1000)::float8
           as "endsInMs"
       from person_session s join person p on p.id = s.person_id
       where s.hash = any(array(select decode(hash, 'hex') from unnest($1::text[]) as hash))`,
      [hashes, idleMinutes],
    );
    const byHash = new Map(rows.map((row) => [row.key, row]));
    return hashes.map((hash) => byHash.get(hash) ?? null);
  }

  /** The global rights of the session's person; null where the session has ended. */
  findOpen(id: string, idleMinutes: number): Promise<{ isOperator: boolean } | null> {
    return this.database.find<{ isOperator: boolean }>(
      `select p.is_operator as "isOperator" from person_session s join person p on p.id = s.person_id
       where s.id = $1 and not ${SessionsRepository.over(idleMinutes)}`,
      [id],
    );
  }

  /** A workspace with the person's roles; null where there is no such workspace, or it is being deleted. */
  workspace(personId: string, organizationId: string): Promise<StoredWorkspace | null> {
    return this.database.find<StoredWorkspace & Record<string, unknown>>(
      `select ${WORKSPACE},
         array(select role from membership m where m.organization_id = o.id and m.person_id = $1) as roles
       from organization o where o.id = $2 and o.deletion_requested_at is null`,
      [personId, organizationId],
    );
  }

  /** The workspaces of which the person is a member, by name; at most `limit`. */
  workspaces(personId: string, limit: number): Promise<StoredWorkspace[]> {
    return this.database.query<StoredWorkspace & Record<string, unknown>>(
      `select ${WORKSPACE}, array_agg(m.role) as roles
       from membership m join organization o on o.id = m.organization_id
       where m.person_id = $1 and o.deletion_requested_at is null group by o.id order by lower(o.name), o.id limit $2`,
      [personId, limit],
    );
  }

  /** Sessions of the person, newest first. */
  list(personId: string): Promise<PersonSession[]> {
    return this.table.find({ where: { personId }, order: { createdAt: 'DESC', id: 'DESC' }, take: MOST_SESSIONS });
  }

  /** Ends sessions. Returns how many there were. */
  async remove(which: Partial<Pick<PersonSessionEntity, 'id' | 'hash' | 'personId'>>): Promise<number> {
    return (await this.table.delete(which)).affected ?? 0;
  }

  /** Ends the sessions that an issuer names: one session, or all of a person. Returns the ids of their people. */
  async removeOf(issuer: string, subject: string | null, issuerSession: string | null): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      `with gone as (
         delete from person_session s using person p
         where p.id = s.person_id and p.issuer = $1 and ($2::text is null or p.subject = $2)
           and ($3::text is null or s.issuer_session = $3) returning s.person_id)
       select distinct person_id as id from gone`,
      [issuer, subject, issuerSession],
    );
    return rows.map(({ id }) => id);
  }

  /** Deletes ended sessions, at most `limit` rows; returns how many. */
  removeEnded(idleMinutes: number, limit: number): Promise<number> {
    return this.database.execute(
      `delete from person_session where id in
         (select id from person_session where ${SessionsRepository.over(idleMinutes)} limit $1)`,
      [limit],
    );
  }

  /** Sets the time of the last use of a session, at most once a minute for any number of processes. */
  async touch(id: string): Promise<void> {
    await this.database.execute(
      `update person_session set last_seen_at = clock_timestamp()
       where id = $1 and last_seen_at < clock_timestamp() - interval '1 minute'`,
      [id],
    );
  }

  private get table() {
    return this.database.repository(PersonSessionEntity);
  }
}
