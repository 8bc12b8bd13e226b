import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import { strongest, type WorkspaceRole } from '../../infrastructure/http/roles.js';
import { Audit } from '../audit/audit.service.js';
import { peopleErrors } from './people.errors.js';
import { type Member, PeopleRepository, type Person, type PersonFilter } from './people.repository.js';
import { SessionsService } from './sessions/sessions.service.js';

export type { Member, Person };

/** Members of workspaces, and their roles. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly sessions: SessionsService,
    private readonly database: Database,
    private readonly audit: Audit,
  ) {}

  /** Everyone with access, newest first. */
  page(filter: PersonFilter): Promise<Person[]> {
    return this.people.page(filter);
  }

  /** @throws PERSON_NOT_FOUND (404). */
  async getById(id: string): Promise<Person> {
    const person = await this.people.findById(id);
    if (person === null) throw peopleErrors.PERSON_NOT_FOUND();
    return person;
  }

  /** Members of a workspace, newest first. */
  members(organizationId: string, filter: ListCursor & { limit: number }): Promise<Member[]> {
    return this.people.members(organizationId, filter);
  }

  /** Null where the person is not a member of the workspace. */
  findMember(organizationId: string, personId: string): Promise<Member | null> {
    return this.people.member(organizationId, personId);
  }

  /** @throws PERSON_NOT_FOUND (404). */
  async member(organizationId: string, personId: string): Promise<Member> {
    const member = await this.people.member(organizationId, personId);
    if (member === null) throw peopleErrors.PERSON_NOT_FOUND();
    return member;
  }

  /**
   * Sets a member's role. Every process knows it within five seconds, usually at once.
   *
   * @throws PERSON_NOT_FOUND (404), ROLE_BY_GROUP (409) where a group gives a stronger one.
   */
  setRole(organizationId: string, personId: string, role: WorkspaceRole): Promise<Member> {
    return this.changing(organizationId, personId, async ({ groupRole, givenRole }) => {
      if (groupRole !== null && strongest([groupRole, role]) !== role) {
        throw peopleErrors.ROLE_BY_GROUP({ role: groupRole });
      }
      await this.people.giveRole(organizationId, personId, role);
      const details = { role, before: strongest([groupRole, givenRole].filter((each) => each !== null)) };
      await this.audit.record({ action: 'membership.changed', organizationId, target: personId, details });
      return this.member(organizationId, personId);
    });
  }

  /**
   * Ends a membership: the person loses access to this workspace within five seconds, usually at once.
   *
   * @throws PERSON_NOT_FOUND (404), ROLE_BY_GROUP (409) where it is by a group.
   */
  remove(organizationId: string, personId: string): Promise<void> {
    return this.changing(organizationId, personId, async ({ groupRole, givenRole }) => {
      if (groupRole !== null) throw peopleErrors.ROLE_BY_GROUP({ role: groupRole });
      await this.people.removeGiven(organizationId, personId);
      const details = { before: givenRole };
      await this.audit.record({ action: 'membership.removed', organizationId, target: personId, details });
    });
  }

  /**
   * Ends all sessions of a member, including those in other workspaces.
   *
   * @throws PERSON_NOT_FOUND (404).
   */
  async endSessions(organizationId: string, personId: string): Promise<void> {
    await this.member(organizationId, personId);
    await this.sessions.end(personId, undefined, organizationId);
  }

  /** For a workspace that is being deleted. */
  removeAll(organizationId: string): Promise<void> {
    return this.database.transaction(async () => {
      for (const personId of await this.people.removeAll(organizationId)) await this.sessions.changed(personId);
    });
  }

  /** In a transaction, with the person's row locked like in a sign-in. */
  private changing<T>(organizationId: string, personId: string, work: (member: Member) => Promise<T>): Promise<T> {
    return this.database.transaction(async () => {
      await this.people.lockById(personId);
      const answer = await work(await this.member(organizationId, personId));
      await this.sessions.changed(personId);
      return answer;
    });
  }
}
