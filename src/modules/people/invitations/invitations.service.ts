import { Injectable, type OnModuleInit } from '@nestjs/common';
import { newId } from '../../../common/ids.js';
import { Database } from '../../../infrastructure/database/database.js';
import type { WorkspaceRole } from '../../../infrastructure/http/roles.js';
import { inBatches, Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { Audit } from '../../audit/audit.service.js';
import { addressOf } from '../email-address.js';
import { peopleErrors } from '../people.errors.js';
import { PeopleRepository } from '../people.repository.js';
import { type Invitation, type InvitationFilter, InvitationsRepository, LONG_ENDED } from './invitations.repository.js';

export type { Invitation };

const SWEEP_EVERY_MS = 3_600_000;
const BATCH = 500;

/** Roles for people by their e-mail address, which the issuer must have verified when they sign in. */
@Injectable()
export class InvitationsService implements OnModuleInit {
  constructor(
    private readonly invitations: InvitationsRepository,
    private readonly people: PeopleRepository,
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'invitations',
      everyMs: SWEEP_EVERY_MS,
      hasWork: `exists (select from invitation where ${LONG_ENDED})`,
      run: (signal) => inBatches(signal, BATCH, (limit) => this.invitations.forget(limit)),
    });
  }

  /**
   * Replaces a pending invitation of the same address. It is neither checked nor revealed whether a person has the
   * address.
   */
  create(organizationId: string, email: string, role: WorkspaceRole, seconds: number): Promise<Invitation> {
    return this.database.transaction(async () => {
      const given = { id: newId(), organizationId, email: addressOf(email), role };
      const id = await this.invitations.save(given, seconds);
      const details = { role, expires_in: seconds };
      await this.audit.record({ action: 'invitation.created', organizationId, target: id, details });
      return this.getById(organizationId, id);
    });
  }

  page(organizationId: string, filter: InvitationFilter): Promise<Invitation[]> {
    return this.invitations.page(organizationId, filter);
  }

  /** @throws INVITATION_NOT_FOUND (404). */
  async getById(organizationId: string, id: string): Promise<Invitation> {
    const invitation = await this.invitations.findById(organizationId, id);
    if (invitation === null) throw peopleErrors.INVITATION_NOT_FOUND();
    return invitation;
  }

  /**
   * Revokes a pending invitation. Revoking it again changes nothing.
   *
   * @throws INVITATION_NOT_FOUND (404), INVITATION_USED (409).
   */
  revoke(organizationId: string, id: string): Promise<Invitation> {
    return this.database.transaction(async () => {
      const invitation = await this.invitations.lock(organizationId, id);
      if (invitation === null) throw peopleErrors.INVITATION_NOT_FOUND();
      if (invitation.acceptedAt !== null) throw peopleErrors.INVITATION_USED();
      if (invitation.revokedAt === null) {
        await this.invitations.revoke(id);
        await this.audit.record({ action: 'invitation.revoked', organizationId, target: id });
      }
      return this.getById(organizationId, id);
    });
  }

  /** Pending invitations of this verified address, locked for this sign-in. In the ambient transaction. */
  open(email: string): Promise<Pick<Invitation, 'id' | 'organizationId' | 'role'>[]> {
    return this.invitations.open(email);
  }

  /** Makes the person a member by each invitation. In the transaction of `open`. */
  async accept(opened: readonly Pick<Invitation, 'id' | 'organizationId' | 'role'>[], personId: string): Promise<void> {
    for (const { id, organizationId, role } of opened) {
      await this.people.giveRole(organizationId, personId, role);
      await this.invitations.accept(id, personId);
      const details = { role, person_id: personId };
      await this.audit.record({ action: 'invitation.accepted', organizationId, target: id, details, personId });
    }
  }
}
