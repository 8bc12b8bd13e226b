import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import type { AuditTrail } from '../../infrastructure/operations/audit-trail.js';
import { requestContext } from '../../infrastructure/operations/logger.js';
import { type AuditEvent, type AuditFilter, AuditRepository } from './audit.repository.js';
import type { AuditAction } from './audit.types.js';

export type { AuditAction, AuditEvent, AuditFilter };

export interface AuditEntry {
  action: AuditAction;
  /** The workspace; null for an action on the whole service. */
  organizationId: string | null;
  /** Id of the changed object. */
  target?: string | null;
  /** Details for readers; never a secret, nor data of a contact. */
  details?: Record<string, unknown>;
  /** The person who has just signed in: the request itself has no session yet. */
  personId?: string;
}

type Actor = Pick<AuditEvent, 'actorKind' | 'actor' | 'address'>;

/**
 * The audit trail: administrative changes, each recorded in the transaction of the change itself. The actor comes from
 * the request's key, operator key, session or setup link, or is the account that runs the command line.
 */
@Injectable()
export class Audit implements AuditTrail {
  private operator: Actor = { actorKind: 'service', actor: null, address: null };

  constructor(
    private readonly events: AuditRepository,
    private readonly config: Config,
  ) {}

  /** From now on changes outside a request are recorded for this account, on this machine. */
  actAs(account: string, machine: string): void {
    this.operator = { actorKind: 'operator', actor: account, address: machine };
  }

  /** Records the change, in the ambient transaction. @throws Error outside one. */
  async record({ action, organizationId, target = null, details, personId }: AuditEntry): Promise<void> {
    const { actorKind, actor, address } = this.actor(personId);
    await this.events.insert({
      action,
      organizationId,
      target,
      actorKind,
      actor,
      address: this.config.process.logsAddress ? address : null,
      details: details ?? null,
    });
  }

  /** As `AuditRepository.secondsUntilNext`. */
  secondsUntilNext(organizationId: string, actions: readonly AuditAction[], perHour: number): Promise<number> {
    return this.events.secondsUntilNext(organizationId, actions, perHour);
  }

  /** Newest first. */
  list(filter: AuditFilter): Promise<AuditEvent[]> {
    return this.events.list(filter);
  }

  /** As `AuditRepository.forget`. */
  forget(organizationId: string): Promise<void> {
    return this.events.forget(organizationId);
  }

  private actor(signedIn?: string): Actor {
    const request = requestContext.getStore();
    const personId = signedIn ?? request?.personId;
    if (personId !== undefined) return { actorKind: 'person', actor: personId, address: request?.ip ?? null };
    if (request?.setupLinkId !== undefined) {
      return { actorKind: 'setup_link', actor: request.setupLinkId, address: request.ip ?? null };
    }
    if (request?.apiKeyId === undefined) return this.operator;
    return {
      actorKind: request.operator === undefined ? 'key' : 'operator_key',
      actor: request.apiKeyId,
      address: request.ip ?? null,
    };
  }
}
