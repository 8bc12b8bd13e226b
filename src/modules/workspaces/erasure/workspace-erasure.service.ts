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

/** What one module does when a workspace is deleted, besides the rows that WorkspaceErasure itself deletes. */
export interface WorkspaceData {
  /** Stops the workspace's activity; repeatable. */
  stop?: (organizationId: string) => Promise<void>;
  /** Describes work in progress that ends by itself, as a phrase for a message; null: there is none. */
  busy?: (organizationId: string) => Promise<string | null>;
  /**
   * Counts, or deletes, one small batch of data that WorkspaceErasure cannot find by the workspace's id, or that is not
   * in the database. Repeatable.
   */
  batch?: (organizationId: string, cursor: string | null, erase: boolean) => Promise<ErasureBatch>;
}

interface Plan {
  organizationId: string;
  tables: readonly OwnedTable[];
  keyEnds: readonly string[];
}

const TIMES = {
  /** Time in which every process learns that keys are revoked and numbers disconnected. */
  quietMs: 6_000,
  /** Limit of the wait for work in progress. */
  waitMs: 60_000,
};

/**
 * Deletes a workspace with everything in it: stops its activity, waits for work in progress, then deletes its rows in
 * small batches. The workspace's own row is last, so that an interrupted deletion can simply start again. A sweep
 * repeats a requested deletion until it is done.
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

  /** Adds the work of a module; call this while the application starts. */
  add(place: WorkspaceData): void {
    this.places.push(place);
  }

  /**
   * Counts what would be deleted, by table; changes nothing.
   *
   * @throws Error where there is no such workspace.
   */
  async count(organizationId: string): Promise<Counts> {
    await this.workspaces.getById(organizationId);
    return this.pass(await this.planOf(organizationId), false);
  }

  /**
   * Deletes a workspace. Returns what was deleted, by table.
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
        // A row was added to a table after the pass had read it, such as a file whose upload had begun before. The next
        // pass deletes that row.
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

  /** Deletes one workspace whose deletion was requested. If its work does not end in time, the others go first. */
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
