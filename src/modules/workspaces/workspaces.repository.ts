import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { OrganizationEntity } from './entities/workspace.entity.js';

export type Workspace = OrganizationEntity;

/** Workspaces, and how much they store. */
@Injectable()
export class WorkspacesRepository {
  constructor(private readonly database: Database) {}

  /** One that has not paid for anything yet. */
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

  async update(id: string, change: Partial<Workspace>): Promise<void> {
    await this.table.update({ id }, change);
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
