import { Injectable } from '@nestjs/common';
import { In, IsNull } from 'typeorm';
import { Database } from '../../infrastructure/database/database.js';
import type { ListCursor } from '../../infrastructure/http/page.query.js';
import { OrganizationEntity } from './entities/workspace.entity.js';

export type Workspace = OrganizationEntity;

/** A filter of workspaces, newest first. */
export interface WorkspaceFilter extends ListCursor {
  limit: number;
  /** The beginning of the name; upper and lower case count as the same. */
  name?: string | undefined;
  externalId?: string | undefined;
  /** The ids that the filter is limited to; null: all workspaces. */
  only: readonly string[] | null;
}

/** Workspaces, and how much they store. */
@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  /** Stores a new workspace, which has not paid yet. */
  async insert(id: string, name: string, externalId: string | null): Promise<void> {
    await this.table.insert({ id, name, externalId });
  }

  /** All workspaces, oldest first. */
  list(): Promise<Workspace[]> {
    return this.table.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** One page of the workspaces that match the filter, newest first. */
  page({ limit, before, beforeId, name, externalId, only }: WorkspaceFilter): Promise<Workspace[]> {
    const query = this.table.createQueryBuilder('w').where('true');
    if (before !== null && beforeId !== null)
      query.andWhere('(w.created_at, w.id) < (:before, :beforeId)', { before, beforeId });
    else if (before !== null) query.andWhere('w.created_at < :before', { before });
    if (externalId !== undefined) query.andWhere('w.external_id = :externalId', { externalId });
    if (name !== undefined) {
      const begin = name.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`);
      query.andWhere('lower(w.name) like :begin', { begin: `${begin}%` });
    }
    if (only !== null) query.andWhere('w.id = any(:only::uuid[])', { only });
    return query.orderBy('w.createdAt', 'DESC').addOrderBy('w.id', 'DESC').limit(limit).getMany();
  }

  /**
   * The next workspace whose deletion was requested: the one with the next id after `after`, or else the first one.
   * Null where no workspace waits.
   */
  async nextToDelete(after: string): Promise<string | null> {
    const next = await this.database.find<{ id: string }>(
      `select id from organization where deletion_requested_at is not null order by id <= $1, id limit 1`,
      [after],
    );
    return next?.id ?? null;
  }

  /** Records that the deletion of a workspace was requested. Returns false where the request was recorded before. */
  async requestDeletion(id: string): Promise<boolean> {
    const request = { deletionRequestedAt: () => 'clock_timestamp()' };
    return (await this.table.update({ id, deletionRequestedAt: IsNull() }, request)).affected === 1;
  }

  /** Whether there are prices; without them no cost can be estimated. */
  async hasPrices(): Promise<boolean> {
    const { found } = await this.database.row<{ found: boolean }>('select exists (select from usage_rate) as found');
    return found;
  }

  findById(id: string): Promise<Workspace | null> {
    return this.table.findOneBy({ id });
  }

  /** How many of these workspaces exist. */
  count(ids: readonly string[]): Promise<number> {
    return this.table.countBy({ id: In(ids) });
  }

  async update(id: string, change: Partial<Workspace>): Promise<void> {
    await this.table.update({ id }, change);
  }

  /** The bytes of stored files, by workspace, for those of these workspaces that ever had a file. */
  async storedBytes(ids: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.database.query<{ organization_id: string; used_bytes: number }>(
      `select organization_id, used_bytes::float8 as used_bytes from media_usage
       where organization_id = any($1::uuid[])`,
      [ids],
    );
    return new Map(rows.map((row) => [row.organization_id, row.used_bytes]));
  }

  private get table() {
    return this.database.repository(OrganizationEntity);
  }
}
