import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { WorkspaceRole } from '../../infrastructure/http/roles.js';
import { MembershipEntity } from './entities/membership.entity.js';
import { PersonEntity } from './entities/person.entity.js';

export type Person = PersonEntity;
export type Membership = MembershipEntity;

/** The only place with SQL of the tables `person` and `membership`. */
@Injectable()
export class PeopleRepository {
  constructor(private readonly database: Database) {}

  /** For a sign-in, in its transaction: another one of the same person waits. */
  lock(issuer: string, subject: string): Promise<Person | null> {
    return this.people.findOne({ where: { issuer, subject }, lock: { mode: 'for_no_key_update' } });
  }

  /** Returns the person's id: where two sign in at once for the first time, that of the first. */
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
    return this.members.find({ where: { personId } });
  }

  /** Makes what groups give the person exactly this. Workspaces that do not exist are left out. In the ambient transaction. */
  async setGroups(personId: string, roles: ReadonlyMap<string, WorkspaceRole>): Promise<void> {
    const [ids, names] = [[...roles.keys()], [...roles.values()]];
    await this.database.execute(
      `delete from membership where person_id = $1 and source = 'group' and organization_id <> all($2::uuid[])`,
      [personId, ids],
    );
    await this.database.execute(
      `insert into membership (organization_id, person_id, source, role)
       select o.id, $1, 'group', given.role from unnest($2::uuid[], $3::text[]) as given (id, role)
         join organization o on o.id = given.id and o.deletion_requested_at is null
       on conflict (organization_id, person_id, source) do update set role = excluded.role
       where membership.role <> excluded.role`,
      [personId, ids, names],
    );
  }

  /** Ends all memberships of a workspace that is being deleted. Returns whose they were. */
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

  private get members() {
    return this.database.repository(MembershipEntity);
  }
}
