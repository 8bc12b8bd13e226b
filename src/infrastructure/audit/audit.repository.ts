import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { AuditEventEntity } from './entities/audit-event.entity.js';

export type AuditEvent = AuditEventEntity;

export interface AuditFilter {
  organizationId?: string;
  action?: string;
  since?: Date;
  until?: Date;
  limit: number;
}

/** The table `audit_event`. */
@Injectable()
export class AuditRepository {
  constructor(private readonly database: Database) {}

  async insert(event: Omit<AuditEvent, 'id' | 'occurredAt'>): Promise<void> {
    await this.table.insert({ ...event, details: event.details as never });
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

  /** Clears addresses and details of a workspace that is gone; the database refuses it for any other. */
  async blank(organizationId: string): Promise<void> {
    await this.table.update({ organizationId }, { address: null, details: null });
  }

  /** Removes what is older than `before`, at most `limit` rows; returns how many. */
  remove(before: Date, limit: number): Promise<number> {
    return this.database.execute(
      `delete from audit_event where id = any(array(
         select id from audit_event where occurred_at < $1 order by occurred_at, id limit $2))`,
      [before, limit],
    );
  }

  private get table() {
    return this.database.repository(AuditEventEntity);
  }
}
