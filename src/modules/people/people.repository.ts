import { Injectable } from '@nestjs/common';
import { FIRST_ID } from '../../common/ids.js';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import type { WorkspaceRole } from '../../infrastructure/http/roles.js';
import { MembershipEntity } from './entities/membership.entity.js';
import { PersonEntity } from './entities/person.entity.js';

export type Person = PersonEntity;
export type Membership = MembershipEntity;

/** A person as a member of a workspace. */
export interface Member extends Pick<Person, 'id' | 'name' | 'email' | 'lastSignedInAt'> {
  /** The role from a group of the issuer. */
  groupRole: WorkspaceRole | null;
  /** The role from an invitation, or set later. */
  givenRole: WorkspaceRole | null;
  /** Since when the person is a member. */
  createdAt: Date;
}

/** A filter of people, newest first. */
export interface PersonFilter extends ListCursor {
  limit: number;
  /** In the form of `addressOf`. */
  email?: string | undefined;
}

/**
 * SQL condition: the row stands for its person in the list. A person may have two rows, one from a group and one from
 * an invitation. The list then has the row from the group.
 */
const IS_LISTED = `(m.source = 'group' or not exists (select from membership o
    where o.organization_id = m.organization_id and o.person_id = m.person_id and o.source = 'group' offset 0))`;

/** SQL: members, from rows of `membership m`. */
const membersOf = (
  rows: string,
): string => `select p.id, p.name, p.email, p.last_signed_in_at as "lastSignedInAt", m.created_at as "createdAt",
    case m.source when 'group' then m.role end as "groupRole",
    case m.source when 'invitation' then m.role else
      (select o.role from membership o
       where o.organization_id = m.organization_id and o.person_id = m.person_id and o.source = 'invitation')
    end as "givenRole"
  from ${rows} as m join person p on p.id = m.person_id`;

// The rows of the page are chosen first; only for these are the details read.
const PAGE = `
${membersOf(`(
  select * from membership m where m.organization_id = $1 and ${IS_LISTED}
    and (m.created_at, m.person_id) < (coalesce($2::timestamptz, 'infinity'), coalesce($3::uuid, '${FIRST_ID}'))
  order by m.organization_id desc, m.created_at desc, m.person_id desc limit $4)`)}
order by m.created_at desc, m.person_id desc`;

const MEMBER = `${membersOf('membership')} where m.organization_id = $1 and m.person_id = $2 and ${IS_LISTED}`;

/** The only place with SQL on the tables `person` and `membership`. */
@Injectable()
export class PeopleRepository {
  constructor(private readonly database: Database) {}

  /** Finds a person and locks the row for a sign-in, in its transaction. Concurrent sign-ins of the person wait. */
  lock(issuer: string, subject: string): Promise<Person | null> {
    return this.people.findOne({ where: { issuer, subject }, lock: { mode: 'for_no_key_update' } });
  }

  /** Locks a person until the ambient transaction has ended. A sign-in of the person waits. */
  async lockById(id: string): Promise<void> {
    await this.people.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  findById(id: string): Promise<Person | null> {
    return this.people.findOneBy({ id });
  }

  page({ limit, before, beforeId, email }: PersonFilter): Promise<Person[]> {
    const query = this.people.createQueryBuilder('p').where('true');
    if (before !== null && beforeId !== null)
      query.andWhere('(p.created_at, p.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('p.created_at < :before', { before });
    if (email !== undefined) query.andWhere('p.email = :email', { email });
    return query.orderBy('p.createdAt', 'DESC').addOrderBy('p.id', 'DESC').limit(limit).getMany();
  }

  /** One page of the workspace's members, newest first. */
  members(organizationId: string, { limit, before, beforeId }: ListCursor & { limit: number }): Promise<Member[]> {
    return this.database.query<Member & Record<string, unknown>>(PAGE, [organizationId, before, beforeId, limit]);
  }

  member(organizationId: string, personId: string): Promise<Member | null> {
    return this.database.find<Member & Record<string, unknown>>(MEMBER, [organizationId, personId]);
  }

  /** Sets the role that does not come from a group. */
  async giveRole(organizationId: string, personId: string, role: WorkspaceRole): Promise<void> {
    await this.database.execute(
      `insert into membership (organization_id, person_id, source, role) values ($1, $2, 'invitation', $3)
       on conflict (organization_id, person_id, source) do update set role = excluded.role`,
      [organizationId, personId, role],
    );
  }

  async removeGiven(organizationId: string, personId: string): Promise<void> {
    await this.memberRows.delete({ organizationId, personId, source: 'invitation' });
  }

  /** Stores a person at a sign-in. Returns the person's id, which is the stored one if the person was known already. */
  async save(person: Omit<Person, 'createdAt' | 'lastSignedInAt'>): Promise<string> {
    const { id } = await this.database.row<{ id: string }>(
      `insert into person (id, issuer, subject, email, name, is_operator, last_signed_in_at)
       values ($1, $2, $3, $4, $5, $6, clock_timestamp())
       on conflict (issuer, subject) do update set email = excluded.email, name = excluded.name,
         is_operator = excluded.is_operator, last_signed_in_at = excluded.last_signed_in_at
       returning id`,
      [person.id, person.issuer, person.subject, person.email, person.name, person.isOperator],
    );
    return id;
  }

  memberships(personId: string): Promise<Membership[]> {
    return this.memberRows.find({ where: { personId } });
  }

  /** Makes a person an operator, or no longer one. Returns false if nothing changed. */
  setOperator(personId: string, isOperator: boolean): Promise<boolean> {
    return this.database.changes('update person set is_operator = $2 where id = $1 and is_operator <> $2', [
      personId,
      isOperator,
    ]);
  }

  /**
   * Replaces all roles that the person has from groups by these, in the ambient transaction. Ignores unknown
   * workspaces. Returns false if nothing changed.
   */
  async setGroups(personId: string, roles: ReadonlyMap<string, WorkspaceRole>): Promise<boolean> {
    const [ids, names] = [[...roles.keys()], [...roles.values()]];
    const gone = await this.database.execute(
      `delete from membership where person_id = $1 and source = 'group' and organization_id <> all($2::uuid[])`,
      [personId, ids],
    );
    const given = await this.database.execute(
      `insert into membership (organization_id, person_id, source, role)
       select o.id, $1, 'group', given.role from unnest($2::uuid[], $3::text[]) as given (id, role)
         join organization o on o.id = given.id and o.deletion_requested_at is null
       on conflict (organization_id, person_id, source) do update set role = excluded.role
       where membership.role <> excluded.role`,
      [personId, ids, names],
    );
    return gone + given > 0;
  }

  /** Ends all memberships of a workspace that is being deleted. Returns the members. */
  async removeAll(organizationId: string): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(
      'delete from membership where organization_id = $1 returning person_id as id',
      [organizationId],
    );
    return rows.map(({ id }) => id);
  }

  private get people() {
    return this.database.repository(PersonEntity);
  }

  private get memberRows() {
    return this.database.repository(MembershipEntity);
  }
}
