import { Injectable } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import type { IssuerSettings } from '../../../infrastructure/config/people-settings.js';
import { Database } from '../../../infrastructure/database/database.js';
import { strongest, type WorkspaceRole } from '../../../infrastructure/http/roles.js';
import { Audit } from '../../audit/audit.service.js';
import { addressOf, EMAIL, MOST_EMAIL } from '../email-address.js';
import { InvitationsService } from '../invitations/invitations.service.js';
import { signInErrors } from '../people.errors.js';
import { PeopleRepository } from '../people.repository.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { GrantsService } from './grants.service.js';
import type { Claims, IssuerGrant } from './issuers.service.js';

/** The verified part of the claims. */
interface Identity {
  subject: string;
  email: string;
  name: string;
  groups: ReadonlySet<string>;
  /** The issuer's name for the session. */
  session: string | null;
}

/** The roles from a person's groups. */
interface Granted {
  isOperator: boolean;
  roles: Map<string, WorkspaceRole>;
}

const MOST_SUBJECT = 255;
const MOST_NAME = 200;

/** Turns an issuer's claims into a session: the person, and the roles from their groups. */
@Injectable()
export class SignInService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly invitations: InvitationsService,
    private readonly sessions: SessionsService,
    private readonly grants: GrantsService,
    private readonly database: Database,
    private readonly config: Config,
    private readonly audit: Audit,
  ) {}

  /**
   * Begins a session, and returns its text for the cookie. Roles from former groups end now, also in other browsers.
   *
   * @param grant the grant for later queries, if the issuer gave one
   * @param former the browser's previous cookie: its session ends
   * @throws EMAIL_MISSING, EMAIL_UNVERIFIED, NO_ACCESS (403).
   */
  async signIn(
    issuer: IssuerSettings,
    { claims, grant }: { claims: Claims; grant: IssuerGrant | null },
    former: string | null,
  ): Promise<string> {
    const identity = identityOf(issuer, claims);
    const granted = this.grantedBy(issuer, identity.groups);
    const token = await this.database.transaction(async () => {
      const session = await this.begin(issuer, identity, granted, former);
      if (session !== null && grant !== null) await this.grants.keep(session.id, grant);
      return session?.token ?? null;
    });
    // After the transaction, so that the former access has ended.
    if (token === null) throw signInErrors.NO_ACCESS();
    return token;
  }

  /**
   * Applies the issuer's present claims to a signed-in person. Roles from former groups end; if no role is left, so do
   * all sessions.
   */
  again(issuer: IssuerSettings, personId: string, claims: Claims): Promise<void> {
    const { isOperator, roles } = this.grantedBy(issuer, groupsOf(issuer, claims));
    return this.database.transaction(async () => {
      await this.people.lockById(personId);
      const isOther = await this.people.setOperator(personId, isOperator);
      const hasOthers = await this.people.setGroups(personId, roles);
      if (!isOther && !hasOthers) return;
      const details = { is_operator: isOperator, roles: Object.fromEntries(roles), by: 'issuer' };
      await this.audit.record({ action: 'person.groups_changed', organizationId: null, target: personId, details });
      await this.sessions.changed(personId);
      const hasAccess = isOperator || (await this.people.memberships(personId)).length > 0;
      if (!hasAccess) await this.sessions.endByIssuer(personId);
    });
  }

  /** Null where the person has no access here. */
  private async begin(
    { issuer }: IssuerSettings,
    { subject, email, name, session }: Identity,
    { isOperator, roles }: Granted,
    former: string | null,
  ): Promise<{ id: string; token: string } | null> {
    const known = await this.people.lock(issuer, subject);
    const members = known === null ? [] : await this.people.memberships(known.id);
    const invitations = await this.invitations.open(email);
    const isInvited = invitations.length > 0 || members.some(({ source }) => source === 'invitation');
    const hasAccess = isOperator || roles.size > 0 || isInvited;
    // A stranger leaves no row.
    if (known === null && !hasAccess) return null;
    const person = { id: known?.id ?? newId(), issuer, subject, email, name, isOperator };
    const personId = await this.people.save(person);
    await this.people.setGroups(personId, roles);
    await this.invitations.accept(invitations, personId);
    await this.sessions.changed(personId);
    if (!hasAccess) {
      await this.sessions.end(personId);
      return null;
    }
    await this.sessions.replace(former);
    const details = { issuer, is_operator: isOperator };
    await this.audit.record({ action: 'person.signed_in', organizationId: null, target: personId, details, personId });
    return this.sessions.begin(personId, session);
  }

  private grantedBy({ name }: IssuerSettings, groups: ReadonlySet<string>): Granted {
    const rules = this.config.people.roles.filter(
      ({ issuer, group }) => groups.has(group) && (issuer === null || issuer === name),
    );
    const roles = new Map<string, WorkspaceRole>();
    for (const { role, workspaceId } of rules) {
      if (workspaceId === null || role === 'operator') continue;
      const known = roles.get(workspaceId);
      roles.set(workspaceId, strongest(known === undefined ? [role] : [role, known]) ?? role);
    }
    return { isOperator: rules.some(({ role }) => role === 'operator'), roles };
  }
}

function groupsOf({ groupsClaim }: Pick<IssuerSettings, 'groupsClaim'>, claims: Claims): ReadonlySet<string> {
  const given = claims[groupsClaim];
  return new Set((Array.isArray(given) ? given : [given]).filter((group) => typeof group === 'string'));
}

/** @throws EMAIL_MISSING, EMAIL_UNVERIFIED (403), ISSUER_ANSWER_INVALID (502) for an impossible subject. */
function identityOf({ groupsClaim, trustEmail }: IssuerSettings, claims: Claims): Identity {
  const { sub, email, email_verified: verified, name, sid } = claims;
  if (typeof sub !== 'string' || sub === '' || sub.length > MOST_SUBJECT) throw signInErrors.ISSUER_ANSWER_INVALID();
  if (typeof email !== 'string' || !EMAIL.test(email) || email.length > MOST_EMAIL) {
    throw signInErrors.EMAIL_MISSING();
  }
  if (verified !== true && !(trustEmail && verified === undefined)) throw signInErrors.EMAIL_UNVERIFIED();
  return {
    subject: sub,
    email: addressOf(email),
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, MOST_NAME) : email.slice(0, MOST_NAME),
    groups: groupsOf({ groupsClaim }, claims),
    session: typeof sid === 'string' && sid.length <= MOST_SUBJECT ? sid : null,
  };
}
