import { Injectable } from '@nestjs/common';
import { isUuid, newId } from '../../common/ids.js';
import { Audit, type AuditAction } from '../audit/audit.service.js';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { isUniqueViolation } from '../../infrastructure/database/database-faults.js';
import { PgNotifier } from '../../infrastructure/database/pg-notifier.js';
import { workspacesErrors } from './workspaces.errors.js';
import { type Workspace, type WorkspaceFilter, WorkspacesRepository } from './workspaces.repository.js';

export type { Workspace, WorkspaceFilter };

/** A workspace's name, and the operator's own id for it. */
export type WorkspaceNames = Pick<Workspace, 'name' | 'externalId'>;

/** A workspace's usage, and its effective limits. */
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

/** A workspace's own limits; null: the service's default. */
export type WorkspaceLimits = Pick<
  Workspace,
  | 'ratePerSecond'
  | 'rateBurst'
  | 'storageLimitBytes'
  | 'messagesPerDay'
  | 'spendPerMonth'
  | 'marketingPerRecipientPerWeek'
  | 'timeZone'
>;

/** Kind of the notices about changed workspaces. */
export const WORKSPACE_CHANGED = 'workspace';

/** Workspaces: created and paid for with the command line or the admin API. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly workspaces: WorkspacesRepository,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly config: Config,
    private readonly audit: Audit,
  ) {}

  /**
   * Creates a workspace that has not paid yet.
   *
   * @throws WORKSPACE_EXTERNAL_ID_TAKEN (409).
   */
  async create(name: string, externalId: string | null = null): Promise<Workspace> {
    const id = newId();
    const details = { name, external_id: externalId ?? undefined };
    return this.unlessTaken(() =>
      this.database.transaction(async () => {
        await this.workspaces.insert(id, name, externalId);
        await this.audit.record({ action: 'workspace.created', organizationId: id, target: id, details });
        return this.getById(id);
      }),
    );
  }

  /**
   * Changes its names. Absent ones stay unchanged.
   *
   * @throws WORKSPACE_EXTERNAL_ID_TAKEN (409); Error where there is no such workspace.
   */
  rename(id: string, names: Partial<WorkspaceNames>): Promise<Workspace> {
    const details = { name: names.name, external_id: names.externalId };
    return this.unlessTaken(() => this.change(id, names, 'workspace.changed', details));
  }

  /**
   * Changes everything or nothing; an undefined `paidUntil` stays unchanged.
   *
   * @throws WORKSPACE_EXTERNAL_ID_TAKEN, SPEND_LIMIT_NEEDS_PRICES (409); Error where there is no such workspace.
   */
  changeAll(
    id: string,
    change: { names: Partial<WorkspaceNames>; limits: Partial<WorkspaceLimits>; paidUntil: Date | null | undefined },
  ): Promise<void> {
    const { names, limits, paidUntil } = change;
    return this.database.transaction(async () => {
      if (Object.keys(names).length > 0) await this.rename(id, names);
      if (Object.keys(limits).length > 0) await this.setLimits(id, limits);
      if (paidUntil !== undefined) await this.setSubscription(id, paidUntil);
    });
  }

  /** Like `WorkspacesRepository.page`, with the usage of each. */
  async page(filter: WorkspaceFilter): Promise<(Workspace & WorkspaceUse)[]> {
    const found = await this.workspaces.page(filter);
    const stored = await this.workspaces.storedBytes(found.map(({ id }) => id));
    return found.map((workspace) => this.withUse(workspace, stored));
  }

  /** As `WorkspacesRepository.nextToDelete`. */
  nextToDelete(after: string): Promise<string | null> {
    return this.workspaces.nextToDelete(after);
  }

  /**
   * Ends its paid time and requests its deletion, which a worker does. Repeating it changes nothing.
   *
   * @throws Error where there is no such workspace.
   */
  requestDeletion(id: string): Promise<Workspace> {
    return this.database.transaction(async () => {
      if (await this.workspaces.requestDeletion(id)) {
        await this.setSubscription(id, null);
        await this.audit.record({ action: 'workspace.deletion_started', organizationId: id, target: id });
      }
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

  /** Whether all of these do. */
  async exist(ids: readonly string[]): Promise<boolean> {
    return (await this.workspaces.count(ids)) === new Set(ids).size;
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
   * Sets the workspace's own limits; null: the service's default. Absent ones stay unchanged.
   *
   * @throws SPEND_LIMIT_NEEDS_PRICES (409); Error where there is no such workspace.
   */
  async setLimits(organizationId: string, limits: Partial<WorkspaceLimits>): Promise<Workspace> {
    const { spendPerMonth = null } = limits;
    if (spendPerMonth !== null && !(await this.workspaces.hasPrices()))
      throw workspacesErrors.SPEND_LIMIT_NEEDS_PRICES();
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

  /** A workspace with its usage. */
  async use(id: string): Promise<Workspace & WorkspaceUse> {
    return this.withUse(await this.getById(id), await this.workspaces.storedBytes([id]));
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

  /** @throws WORKSPACE_EXTERNAL_ID_TAKEN (409) where the database reports it. */
  private async unlessTaken<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (isUniqueViolation(error)) throw workspacesErrors.WORKSPACE_EXTERNAL_ID_TAKEN(undefined, { cause: error });
      throw error;
    }
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
