import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database } from '../../infrastructure/database/database.js';
import type { AuditTrail } from '../../infrastructure/operations/audit-trail.js';
import { requestContext } from '../../infrastructure/operations/logger.js';
import type { AuditAction } from './audit.types.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

export type { AuditAction };
export type AuditEvent = AuditEventEntity;

export interface AuditFilter {
  organizationId?: string;
  action?: string;
  since?: Date;
  until?: Date;
  limit: number;
}

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
export class Audit implements AuditTrail {
  private readonly old = new BatchPlace('-infinity');
  private operator: Actor = { actorKind: 'service', actor: null, address: null };

  constructor(
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
    await this.table.insert({
      action,
      organizationId,
      target,
      actorKind,
      actor,
      address: this.config.process.logsAddress ? address : null,
      details: (details ?? null) as never,
    });
  }

  /**
   * Seconds until the workspace may make one more of these changes, 0: now. `perHour` of them are free at once, then one
   * comes back each time that this part of an hour is over. Ask in the change's transaction, once it holds its locks.
   */
  async secondsUntilNext(organizationId: string, actions: readonly AuditAction[], perHour: number): Promise<number> {
    const { seconds } = await this.database.row<{ seconds: number }>(
      `select case when count(*) < $3::integer then 0 else greatest(0, ceil(extract(epoch from
           max(occurred_at) + interval '1 hour' / $3::integer - clock_timestamp()))) end::integer as seconds
       from (select occurred_at from audit_event
         where organization_id = $1 and action = any($2::text[]) and occurred_at > statement_timestamp() - interval '1 hour'
         order by occurred_at desc limit $3::integer) as recent`,
      [organizationId, actions, perHour],
    );
    return seconds;
  }

  /** Newest first. */
  list({ organizationId, action, since, until, limit }: AuditFilter): Promise<AuditEvent[]> {
    const query = this.table.createQueryBuilder('event').where('true');
    if (organizationId !== undefined) query.andWhere('event.organization_id = :organizationId', { organizationId });
    if (action !== undefined) query.andWhere('event.action = :action', { action });
    if (since !== undefined) query.andWhere('event.occurred_at >= :since', { since });
    if (until !== undefined) query.andWhere('event.occurred_at < :until', { until });
    return query.orderBy('event.occurredAt', 'DESC').addOrderBy('event.id', 'DESC').limit(limit).getMany();
  }

  /**
   * Of a workspace that was deleted in this transaction: addresses and details go, the rest stays. The database refuses
   * it for any other.
   */
  async forget(organizationId: string): Promise<void> {
    await this.table.update({ organizationId }, { address: null, details: null });
  }

  /** Removes what is older than `before`, at most `limit` rows; returns how many. */
  remove(before: Date, limit: number): Promise<number> {
    const remove = `delete from audit_event where id = any(array(
        select id from audit_event where occurred_at >= $1 and occurred_at < $3 order by occurred_at, id limit $2))
      returning occurred_at as place`;
    return this.old.run(this.database, remove, limit, [before]);
  }

  private actor(): Actor {
    const request = requestContext.getStore();
    if (request?.apiKeyId === undefined) return this.operator;
    return { actorKind: 'key', actor: request.apiKeyId, address: request.ip ?? null };
  }

  private get table() {
    return this.database.repository(AuditEventEntity);
  }
}
