import { Injectable } from '@nestjs/common';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database } from '../../infrastructure/database/database.js';
import type { AuditAction } from './audit.types.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

export type AuditEvent = AuditEventEntity;

/** Which events to list. */
export interface AuditFilter {
  organizationId?: string;
  action?: string;
  /** Who made the change: the id of a key or operator key, or an account. */
  actor?: string;
  since?: Date;
  until?: Date;
  /** Only events that come after this one in the list, so older ones. */
  after?: { occurredAt: Date; id: string };
  /** Only events of these workspaces. */
  only?: readonly string[] | null;
  limit: number;
}

/** Reads and writes the table `audit_event`; `OperatorEventsRepository` reads it too. */
@Injectable()
export class AuditRepository {
  private readonly old = new BatchPlace('-infinity');

  constructor(private readonly database: Database) {}

  /**
   * Records an event in the ambient transaction, which is that of the change.
   *
   * @throws Error outside a transaction.
   */
  async insert(event: Omit<AuditEvent, 'id' | 'occurredAt'>): Promise<void> {
    if (!this.database.inTransaction) {
      throw new Error(`${event.action}: an audit event belongs into the change's transaction`);
    }
    await this.table.insert({ ...event, details: event.details as never });
  }

  /**
   * Seconds until the workspace may make one more of these changes; 0: now. The workspace may make `perHour` changes at
   * once, and one more whenever 1/`perHour` of an hour has passed since the last change. Call this in the transaction
   * of the change, after the transaction has taken its locks.
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
  list({ organizationId, action, actor, since, until, after, only = null, limit }: AuditFilter): Promise<AuditEvent[]> {
    const query = this.table.createQueryBuilder('event').where('true');
    if (organizationId !== undefined) query.andWhere('event.organization_id = :organizationId', { organizationId });
    if (only !== null) query.andWhere('event.organization_id = any(:only::uuid[])', { only });
    if (action !== undefined) query.andWhere('event.action = :action', { action });
    if (actor !== undefined) query.andWhere('event.actor = :actor', { actor });
    if (since !== undefined) query.andWhere('event.occurred_at >= :since', { since });
    if (until !== undefined) query.andWhere('event.occurred_at < :until', { until });
    if (after !== undefined) query.andWhere('(event.occurred_at, event.id) < (:occurredAt, :id)', { ...after });
    return query.orderBy('event.occurredAt', 'DESC').addOrderBy('event.id', 'DESC').limit(limit).getMany();
  }

  /**
   * Removes addresses and details from the events of a workspace that is deleted in this transaction. The rest of the
   * events stays. For any other workspace the database refuses this change.
   */
  async forget(organizationId: string): Promise<void> {
    await this.table.update({ organizationId }, { address: null, details: null });
  }

  /** Removes rows older than `before`, at most `limit`; returns how many. */
  remove(before: Date, limit: number): Promise<number> {
    const remove = `delete from audit_event where id = any(array(
        select id from audit_event where occurred_at >= $1 and occurred_at < $3 order by occurred_at, id limit $2))
      returning occurred_at as place`;
    return this.old.run(this.database, remove, limit, [before]);
  }

  private get table() {
    return this.database.repository(AuditEventEntity);
  }
}
