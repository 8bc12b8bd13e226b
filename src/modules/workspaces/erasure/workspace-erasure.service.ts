import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { FIRST_ID } from '../../../common/ids.js';
import { WorkspacesService } from '../workspaces.service.js';
import { Audit } from '../../audit/audit.service.js';
import { Database } from '../../../infrastructure/database/database.js';
import { Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { isForeignKeyViolation } from '../../../infrastructure/database/database-faults.js';
import {
  addBatches,
  addCounts,
  repeatUntilNothing,
  waitWhileBusy,
  type Counts,
  type ErasureBatch,
} from './erasure.service.js';
import { type OwnedTable, WorkspaceErasureRepository } from './workspace-erasure.repository.js';

const SWEEP_EVERY_MS = 2_000;

/** A part's work when a workspace is deleted, besides deleting its rows. */
export interface WorkspaceData {
  /** Stops the workspace's activity; repeatable. */
  stop?: (organizationId: string) => Promise<void>;
  /** Work in progress that ends by itself, as a phrase; null: none. */
  busy?: (organizationId: string) => Promise<string | null>;
  /** One small batch of data without a row of the workspace, or outside the database. Repeatable. */
  batch?: (organizationId: string, cursor: string | null, erase: boolean) => Promise<ErasureBatch>;
}

interface Plan {
  organizationId: string;
  tables: readonly OwnedTable[];
  keyEnds: readonly string[];
}

const TIMES = {
  /** Until every process knows that keys are revoked and numbers disconnected. */
  quietMs: 6_000,
  /** Limit of the wait for work in progress. */
  waitMs: 60_000,
};

/**
 * Deletes a workspace with everything in it: stops it, waits for work in progress, then deletes its rows in small
 * batches. The workspace's own row is last, so that an interrupted deletion can simply start again; a worker continues
 * a requested one until it is done.
 */
@Injectable()
export class WorkspaceErasure implements OnModuleInit {
  private readonly places: WorkspaceData[] = [];
  /** The workspace that had the last turn. */
  private after = FIRST_ID;

  constructor(
    private readonly rows: WorkspaceErasureRepository,
    private readonly workspaces: WorkspacesService,
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly sweeps: Sweeps,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'workspace deletions',
      everyMs: SWEEP_EVERY_MS,
      hasWork: 'exists (select from organization where deletion_requested_at is not null)',
      run: () => this.deleteRequested(),
    });
  }

  /** Adds a part; call it while the application starts. */
  add(place: WorkspaceData): void {
    this.places.push(place);
  }

  /** Counts what would be deleted, by table; changes nothing. @throws Error where there is no such workspace. */
  async count(organizationId: string): Promise<Counts> {
    await this.workspaces.getById(organizationId);
    return this.pass(await this.planOf(organizationId), false);
  }

  /**
   * Deletes, and returns counts.
   *
   * @throws Error for an unknown workspace, ErasureBusyError where work does not end in time.
   */
  async delete(organizationId: string, times = TIMES): Promise<Counts> {
    const { deletionRequestedAt } = await this.workspaces.getById(organizationId);
    if (deletionRequestedAt === null) {
      await this.database.transaction(async () => {
        await this.workspaces.setSubscription(organizationId, null);
        await this.audit.record({ action: 'workspace.deletion_started', organizationId, target: organizationId });
      });
    }
    for (const place of this.places) await place.stop?.(organizationId);
    await pause(times.quietMs);
    await waitWhileBusy(
      () => this.places.map(async (place) => (await place.busy?.(organizationId)) ?? null),
      times.waitMs,
    );
    const plan = await this.planOf(organizationId);
    const totals = await repeatUntilNothing('rows of the workspace are added all the time', () =>
      this.pass(plan, true).catch((error: unknown) => {
        // A row was added behind the walk, such as a file whose upload had begun before: the next pass finds it.
        if (isForeignKeyViolation(error)) return null;
        throw error;
      }),
    );
    await this.database.transaction(async () => {
      if (!(await this.rows.remove(organizationId))) return;
      await this.audit.forget(organizationId);
      await this.audit.record({ action: 'workspace.deleted', organizationId, target: organizationId });
    });
    return totals;
  }

  /** Deletes one workspace. If work of it is still in progress, its next turn comes after those of the others. */
  async deleteRequested(times = TIMES): Promise<number> {
    const next = await this.workspaces.nextToDelete(this.after);
    if (next === null) return 0;
    this.after = next;
    await this.delete(next, times);
    return 1;
  }

  /** Facts that must be read before the first row is deleted. */
  private async planOf(organizationId: string): Promise<Plan> {
    const { rows } = this;
    return { organizationId, tables: await rows.tables(), keyEnds: await rows.keyEnds(organizationId) };
  }

  private async pass({ organizationId, tables, keyEnds }: Plan, erase: boolean): Promise<Counts> {
    const totals: Counts = {};
    for (const { batch } of this.places) {
      if (batch) await addBatches(totals, (cursor) => batch(organizationId, cursor, erase));
    }
    for (const table of tables) {
      if (erase) await this.rows.loosen(table, organizationId);
      await addBatches(totals, (cursor) => this.rows.part(table, organizationId, cursor, erase));
    }
    addCounts(totals, { lanes_and_buckets: await this.rows.keyed(keyEnds, erase) });
    return totals;
  }
}
