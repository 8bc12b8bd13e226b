import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { Erasure, type ErasureBatch, type Subject } from '../workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { Retention } from '../../infrastructure/lanes/retention.js';
import { Sweeps, type Sweep } from '../../infrastructure/lanes/sweeps.js';
import { Backlogs } from '../../infrastructure/operations/backlogs.js';
import { InboundRepository } from './inbound.repository.js';
import { InboundService } from './inbound.service.js';

const BATCH = 200;
const BATCH_BYTES = 8 * 1_024 * 1_024;
const MAX_BATCHES = 20;

/**
 * Applies what is stored but was not applied: after a crash, or because what it belongs to was not known yet. Removes
 * processed notifications by age, and notifications about a contact or a workspace that is erased: one notification may
 * be about several, and is removed as a whole.
 */
@Injectable()
export class InboundMaintenance implements Sweep, OnModuleInit {
  readonly name = 'notifications';
  readonly everyMs = 1_000;
  readonly waitsFor = [{ table: 'platform_notification', column: 'next_try_at', where: `state = 'stored'` }];

  constructor(
    private readonly notifications: InboundRepository,
    private readonly service: InboundService,
    private readonly sweeps: Sweeps,
    private readonly retention: Retention,
    private readonly backlogs: Backlogs,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.sweeps.add(this);
    this.backlogs.add('notifications', () => this.notifications.backlog());
    this.retention.add({
      name: 'notifications',
      days: this.config.retention.notificationDays,
      clear: (before, limit) => this.notifications.removeOld(before, limit),
    });
    const place = {
      batch: (whose: Subject | string, cursor: string | null, erase: boolean) => this.erase(whose, cursor, erase),
      busy: (whose: Subject | string) => this.waiting(whose),
    };
    this.erasure.add({ name: 'notifications', ...place });
    // Those about the workspace's numbers, and about codes of its projects, which a number of the service sent.
    this.workspaces.add(place);
  }

  async run(signal: AbortSignal): Promise<number> {
    let tried = 0;
    for (let batch = 0; batch < MAX_BATCHES && !signal.aborted; batch++) {
      const due = await this.notifications.claimDue(BATCH, BATCH_BYTES);
      if (due.length === 0) break;
      await Promise.all(due.map((notification) => this.service.takeAgain(notification)));
      tried += due.length;
    }
    return tried;
  }

  private async erase(whose: Subject | string, after: string | null, erase: boolean): Promise<ErasureBatch> {
    const { ids, cursor } = await this.notifications.findOf(whose, after);
    if (erase && ids.length > 0) await this.notifications.remove(ids);
    return { found: { notifications: ids.length }, cursor };
  }

  private async waiting(whose: Subject | string): Promise<string | null> {
    const waiting = await this.notifications.countStored(whose);
    return waiting === 0 ? null : `${waiting} of the platform's notifications about it are not applied yet`;
  }
}
