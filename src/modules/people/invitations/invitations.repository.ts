import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { Database } from '../../../infrastructure/database/database.js';
import type { ListCursor } from '../../../infrastructure/http/page.query.js';
import { InvitationEntity } from '../entities/invitation.entity.js';

export type Invitation = InvitationEntity;

/** A filter of a workspace's invitations, newest first. */
export interface InvitationFilter extends ListCursor {
  limit: number;
}

/** SQL condition: an invitation expired so long ago that no list needs it. */
export const LONG_ENDED = `expires_at < clock_timestamp() - interval '90 days'`;

/** The only place with SQL on the table `invitation`. */
@Injectable()
export class InvitationsRepository {
  constructor(private readonly database: Database) {}

  /** Stores an invitation, in place of a pending one of the same address. Returns the id of the stored invitation. */
  async save(given: Pick<Invitation, 'id' | 'organizationId' | 'email' | 'role'>, seconds: number): Promise<string> {
    const { id } = await this.database.row<{ id: string }>(
      `insert into invitation (id, organization_id, email, role, expires_at)
       values ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5))
       on conflict (email, organization_id) where accepted_at is null and revoked_at is null
         do update set role = excluded.role, expires_at = excluded.expires_at
       returning id`,
      [given.id, given.organizationId, given.email, given.role, seconds],
    );
    return id;
  }

  findById(organizationId: string, id: string): Promise<Invitation | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  /** Like `findById`, and locks the row until the ambient transaction ends. */
  lock(organizationId: string, id: string): Promise<Invitation | null> {
    return this.table.findOne({ where: { organizationId, id }, lock: { mode: 'pessimistic_write' } });
  }

  page(organizationId: string, { limit, before, beforeId }: InvitationFilter): Promise<Invitation[]> {
    const query = this.table.createQueryBuilder('i').where('i.organization_id = :organizationId', { organizationId });
    if (before !== null && beforeId !== null)
      query.andWhere('(i.created_at, i.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('i.created_at < :before', { before });
    return query.orderBy('i.createdAt', 'DESC').addOrderBy('i.id', 'DESC').limit(limit).getMany();
  }

  /**
   * The pending invitations of this address. They are locked until the ambient transaction has ended, so that only one
   * sign-in accepts each.
   */
  open(email: string): Promise<Pick<Invitation, 'id' | 'organizationId' | 'role'>[]> {
    return this.database.query(
      `select i.id, i.organization_id as "organizationId", i.role
       from invitation i join organization o on o.id = i.organization_id and o.deletion_requested_at is null
       where i.email = $1 and i.accepted_at is null and i.revoked_at is null and i.expires_at > clock_timestamp()
       order by i.id for update of i`,
      [email],
    );
  }

  async accept(id: string, acceptedBy: string): Promise<void> {
    await this.table.update({ id }, { acceptedBy, acceptedAt: () => 'clock_timestamp()' });
  }

  async revoke(id: string): Promise<void> {
    await this.table.update({ id, revokedAt: IsNull() }, { revokedAt: () => 'clock_timestamp()' });
  }

  /** Deletes at most `limit` invitations that ended long ago. Returns how many. */
  forget(limit: number): Promise<number> {
    return this.database.execute(
      `delete from invitation where id = any(array(select id from invitation where ${LONG_ENDED} order by expires_at limit $1))`,
      [limit],
    );
  }

  private get table() {
    return this.database.repository(InvitationEntity);
  }
}
