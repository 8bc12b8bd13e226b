import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ApiKeysService } from '../access/api-keys.service.js';
import { WorkspacesService } from '../access/workspaces.service.js';
import { isForeignKeyViolation } from '../database/database-faults.js';
import { ErasureBusyError, type Counts, type ErasureBatch } from './erasure.js';
import { type OwnedTable, type TablePart, WorkspaceErasureRepository } from './workspace-erasure.repository.js';

/** What a part of the program does when a workspace is deleted, besides its rows with the workspace's id. */
export interface WorkspaceData {
  /** Ends what the workspace does; repeating it is harmless. */
  stop?: (organizationId: string) => Promise<void>;
  /** What is under way just now and ends by itself; null: nothing. One phrase. */
  busy?: (organizationId: string) => Promise<string | null>;
  /** One small batch of what has no row of the workspace, or lies outside the database. Repeating is harmless. */
  batch?: (organizationId: string, cursor: string | null, erase: boolean) => Promise<ErasureBatch>;
}

export interface DeletionTimes {
  /** Until every process has noticed that keys are revoked and numbers disconnected. */
  quietMs: number;
  /** For what is under way. */
  waitMs: number;
}

interface Plan {
  organizationId: string;
  tables: readonly OwnedTable[];
  keyEnds: readonly string[];
}

const TIMES: DeletionTimes = { quietMs: 6_000, waitMs: 60_000 };
const BUSY_POLL_MS = 500;
const MOST_PASSES = 5;

/**
 * Deletes a workspace with everything in it: stops it, waits for what is under way, then removes its rows in small
 * batches. The workspace's own row goes last, so that a deletion that was interrupted is simply started again.
 */
@Injectable()
export class WorkspaceErasure {
  private readonly places: WorkspaceData[] = [];

  constructor(
    private readonly rows: WorkspaceErasureRepository,
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
  ) {}

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
   * Deletes, and says how much.
   *
   * @throws Error where there is no such workspace, ErasureBusyError where something does not end in time.
   */
  async delete(organizationId: string, times: DeletionTimes = TIMES): Promise<Counts> {
    await this.workspaces.setSubscription(organizationId, null);
    for (const { id } of await this.apiKeys.list(organizationId)) await this.apiKeys.revoke(id);
    for (const place of this.places) await place.stop?.(organizationId);
    await pause(times.quietMs);
    await this.waitForRest(organizationId, times.waitMs);
    const plan = await this.planOf(organizationId);
    const totals: Record<string, number> = {};
    for (let pass = 1; ; pass++) {
      try {
        const found = await this.pass(plan, true);
        for (const [word, count] of Object.entries(found)) totals[word] = (totals[word] ?? 0) + count;
        if (Object.values(found).every((count) => count === 0)) break;
      } catch (error) {
        // A row came in behind the walk, such as a file whose upload had begun before: the next pass finds it.
        if (!isForeignKeyViolation(error)) throw error;
      }
      if (pass >= MOST_PASSES) throw new ErasureBusyError(['rows of the workspace are added all the time']);
    }
    await this.rows.remove(organizationId);
    return totals;
  }

  /** What has to be known before the first row goes. */
  private async planOf(organizationId: string): Promise<Plan> {
    return {
      organizationId,
      tables: await this.rows.tables(),
      keyEnds: await this.rows.keyEnds(organizationId),
    };
  }

  private async pass({ organizationId, tables, keyEnds }: Plan, erase: boolean): Promise<Counts> {
    const totals: Record<string, number> = {};
    const add = (word: string, count: number): void => {
      totals[word] = (totals[word] ?? 0) + count;
    };
    for (const { batch } of this.places) {
      let cursor: string | null = null;
      do {
        const done: ErasureBatch | undefined = await batch?.(organizationId, cursor, erase);
        for (const [word, count] of Object.entries(done?.found ?? {})) add(word, count);
        cursor = done?.cursor ?? null;
      } while (cursor !== null);
    }
    for (const table of tables) {
      if (erase) await this.rows.loosen(table, organizationId);
      let from: number | null = 0;
      do {
        const part: TablePart = await this.rows.part(table, organizationId, from, erase);
        add(table.name, part.found);
        from = part.next;
      } while (from !== null);
    }
    add('lanes_and_buckets', await this.rows.keyed(keyEnds, erase));
    return totals;
  }

  private async waitForRest(organizationId: string, waitMs: number): Promise<void> {
    const until = performance.now() + waitMs;
    for (;;) {
      const busy = await Promise.all(this.places.map(async (place) => (await place.busy?.(organizationId)) ?? null));
      const rest = busy.filter((what) => what !== null);
      if (rest.length === 0) return;
      if (performance.now() >= until) throw new ErasureBusyError(rest);
      await pause(BUSY_POLL_MS);
    }
  }
}
