import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { OrganizationEntity } from './entities/organization.entity.js';
import type { Workspace } from './workspaces.types.js';

/** The only place with SQL of the table `organization`, but for the key reader's join. */
@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  async insert(id: string, name: string): Promise<void> {
    await this.table.insert({ id, name });
  }

  /** Oldest first. */
  list(): Promise<Workspace[]> {
    return this.table.find({ order: { createdAt: 'ASC', id: 'ASC' } });
  }

  findById(id: string): Promise<Workspace | null> {
    return this.table.findOneBy({ id });
  }

  /** Returns false where there is no such workspace. */
  async update(id: string, change: Partial<Omit<Workspace, 'id' | 'createdAt'>>): Promise<boolean> {
    const result = await this.table.update({ id }, change);
    return (result.affected ?? 0) > 0;
  }

  /** Bytes of stored files of each workspace that ever had one. */
  async storedBytes(): Promise<Map<string, number>> {
    const rows = await this.database.query<{ organization_id: string; used_bytes: number }>(
      'select organization_id, used_bytes::float8 as used_bytes from media_usage',
    );
    return new Map(rows.map((row) => [row.organization_id, row.used_bytes]));
  }

  private get table() {
    return this.database.repository(OrganizationEntity);
  }
}
