import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { Database } from '../database/database.js';
import { requestContext } from '../operations/logger.js';
import type { AuditAction } from './audit-actions.js';
import { AuditRepository, type AuditEvent, type AuditFilter } from './audit.repository.js';

export type { AuditAction, AuditEvent };

export interface AuditEntry {
  action: AuditAction;
  /** The workspace; null for what concerns the whole service. */
  organizationId: string | null;
  /** Id of what was changed. */
  target?: string | null;
  /** What a reader needs; never a secret, nor anything of a contact. */
  details?: Record<string, unknown>;
}

type Actor = Pick<AuditEvent, 'actorKind' | 'actor' | 'address'>;

/**
 * The audit trail: administrative changes, each written in the transaction of the change itself. Who it was is known from
 * the request's key, or from the account that runs the command line.
 */
@Injectable()
export class Audit {
  private operator: Actor = { actorKind: 'service', actor: null, address: null };

  constructor(
    private readonly events: AuditRepository,
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** From now on changes outside a request are those of this account, on this machine. */
  actAs(account: string, machine: string): void {
    this.operator = { actorKind: 'operator', actor: account, address: machine };
  }

  /** Writes the change down, in the ambient transaction. @throws Error outside one. */
  async record({ action, organizationId, target = null, details }: AuditEntry): Promise<void> {
    if (!this.database.inTransaction)
      throw new Error(`${action}: an audit event belongs into the change's transaction`);
    const { actorKind, actor, address } = this.actor();
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

  list(filter: AuditFilter): Promise<AuditEvent[]> {
    return this.events.list(filter);
  }

  /** Of a workspace that was deleted in this transaction: addresses and details go, the rest stays. */
  async forget(organizationId: string): Promise<void> {
    await this.events.blank(organizationId);
  }

  private actor(): Actor {
    const request = requestContext.getStore()?.request;
    if (request?.apiKeyId === undefined) return this.operator;
    return { actorKind: 'key', actor: request.apiKeyId, address: request.ip ?? null };
  }
}
