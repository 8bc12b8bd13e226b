import { Injectable } from '@nestjs/common';
import { isUuid, newId } from '../../common/ids.js';
import { Database } from '../database/database.js';
import { CacheInvalidation } from './cache-invalidation.js';
import { WorkspacesRepository } from './workspaces.repository.js';
import type { Workspace } from './workspaces.types.js';

/** Name under which changes of a workspace are announced. */
export const WORKSPACE_CHANGED = 'workspace';

/** Workspaces: made and paid for with the command line. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly workspaces: WorkspacesRepository,
    private readonly database: Database,
    private readonly invalidation: CacheInvalidation,
  ) {}

  /** Makes a workspace that has not paid for anything yet. */
  async create(name: string): Promise<Workspace> {
    const id = newId();
    await this.workspaces.insert(id, name);
    return this.getById(id);
  }

  /** Every workspace, oldest first. */
  list(): Promise<Workspace[]> {
    return this.workspaces.list();
  }

  /** Returns null where there is no such workspace. */
  async findById(id: string): Promise<Workspace | null> {
    return isUuid(id) ? this.workspaces.findById(id) : null;
  }

  /** @throws Error where there is no such workspace. */
  async getById(id: string): Promise<Workspace> {
    const workspace = await this.findById(id);
    if (workspace === null) throw new Error(`there is no workspace ${id}`);
    return workspace;
  }

  /**
   * Sets until when the workspace has paid for sending; null: not at all.
   *
   * @throws Error where there is no such workspace.
   */
  setSubscription(organizationId: string, paidUntil: Date | null): Promise<Workspace> {
    return this.change(organizationId, { apiPaidUntil: paidUntil });
  }

  /**
   * Sets how fast each key of the workspace may ask; null: as fast as the service's default.
   *
   * @throws Error where there is no such workspace.
   */
  setRateLimit(organizationId: string, limit: { ratePerSecond: number; burst: number } | null): Promise<Workspace> {
    return this.change(organizationId, {
      ratePerSecond: limit?.ratePerSecond ?? null,
      rateBurst: limit?.burst ?? null,
    });
  }

  private change(id: string, change: Partial<Workspace>): Promise<Workspace> {
    return this.database.transaction(async () => {
      await this.getById(id);
      await this.workspaces.update(id, change);
      await this.invalidation.publish(WORKSPACE_CHANGED, id);
      return this.getById(id);
    });
  }
}
