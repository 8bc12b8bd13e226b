import { Injectable } from '@nestjs/common';
import { isUuid, newId } from '../../common/ids.js';
import { Audit, type AuditAction } from '../audit/audit.service.js';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { type Workspace, WorkspacesRepository } from './workspaces.repository.js';

export type { Workspace };

/** What a workspace uses, and the limits that hold for it. */
export interface WorkspaceUse {
  storageUsedBytes: number;
  /** Its own limits, or the service's. */
  effective: {
    /** False with `BILLING=off`. */
    needsSubscription: boolean;
    ratePerSecond: number;
    rateBurst: number;
    /** Null: none. */
    storageLimitBytes: number | null;
  };
}

/** Name under which changes of a workspace are announced. */
export const WORKSPACE_CHANGED = 'workspace';

/** Workspaces: made and paid for with the command line. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly workspaces: WorkspacesRepository,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly config: Config,
    private readonly audit: Audit,
  ) {}

  /** Makes a workspace that has not paid for anything yet. */
  async create(name: string): Promise<Workspace> {
    const id = newId();
    return this.database.transaction(async () => {
      await this.workspaces.insert(id, name);
      await this.audit.record({ action: 'workspace.created', organizationId: id, target: id, details: { name } });
      return this.getById(id);
    });
  }

  /** Every workspace, oldest first. */
  list(): Promise<Workspace[]> {
    return this.workspaces.list();
  }

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
    return this.change(organizationId, { apiPaidUntil: paidUntil }, 'workspace.subscription_changed', {
      api_paid_until: paidUntil,
    });
  }

  /**
   * Sets limits of the workspace's own; null: the service's default. What is left out stays as it is.
   *
   * @throws Error where there is no such workspace.
   */
  setLimits(
    organizationId: string,
    limits: Partial<
      Pick<
        Workspace,
        | 'ratePerSecond'
        | 'rateBurst'
        | 'storageLimitBytes'
        | 'messagesPerDay'
        | 'spendPerMonth'
        | 'marketingPerRecipientPerWeek'
        | 'timeZone'
      >
    >,
  ): Promise<Workspace> {
    return this.change(organizationId, limits, 'workspace.limits_changed', {
      rate_per_second: limits.ratePerSecond,
      rate_burst: limits.rateBurst,
      storage_limit_bytes: limits.storageLimitBytes,
      messages_per_day: limits.messagesPerDay,
      spend_per_month: limits.spendPerMonth,
      marketing_per_recipient_per_week: limits.marketingPerRecipientPerWeek,
      time_zone: limits.timeZone,
    });
  }

  /** A workspace with what it uses. @throws Error where there is no such workspace. */
  async use(id: string): Promise<Workspace & WorkspaceUse> {
    return this.withUse(await this.getById(id), await this.workspaces.storedBytes());
  }

  /** Every workspace with what it uses, oldest first. */
  async listUse(): Promise<(Workspace & WorkspaceUse)[]> {
    const [workspaces, stored] = await Promise.all([this.list(), this.workspaces.storedBytes()]);
    return workspaces.map((workspace) => this.withUse(workspace, stored));
  }

  private withUse(workspace: Workspace, stored: ReadonlyMap<string, number>): Workspace & WorkspaceUse {
    const { limits, media } = this.config;
    return {
      ...workspace,
      storageUsedBytes: stored.get(workspace.id) ?? 0,
      effective: {
        needsSubscription: limits.billing === 'on',
        ratePerSecond: workspace.ratePerSecond ?? limits.ratePerSecond,
        rateBurst: workspace.rateBurst ?? limits.rateBurst,
        storageLimitBytes: workspace.storageLimitBytes ?? media.workspaceLimitBytes,
      },
    };
  }

  private change(
    id: string,
    change: Partial<Workspace>,
    action: AuditAction,
    details: Record<string, unknown>,
  ): Promise<Workspace> {
    return this.database.transaction(async () => {
      await this.getById(id);
      if (Object.keys(change).length > 0) {
        await this.workspaces.update(id, change);
        await this.audit.record({ action, organizationId: id, target: id, details });
      }
      await this.invalidation.publish(WORKSPACE_CHANGED, id);
      return this.getById(id);
    });
  }
}
