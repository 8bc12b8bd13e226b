import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { Erasure, type ErasureBatch, type Subject } from '../workspaces/erasure/erasure.service.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { Retention } from '../../infrastructure/queue/retention.js';
import { Backlogs } from '../../infrastructure/operations/backlogs.js';
import { InboundRepository } from './inbound.repository.js';

/**
 * Removes processed notifications by age, and those about an erased contact or workspace. A notification may concern
 * several, and is removed as a whole.
 */
@Injectable()
export class InboundMaintenance implements OnModuleInit {
  constructor(
    private readonly notifications: InboundRepository,
    private readonly retention: Retention,
    private readonly backlogs: Backlogs,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.backlogs.add('notifications', () => this.notifications.backlog());
    this.retention.add({
      name: 'notifications',
      days: this.config.retention.notificationDays,
      clear: (before, limit) => this.notifications.removeOld(before, limit),
    });
    const batch =
      (which: 'named' | 'unnamed') =>
      (whose: Subject | string, cursor: string | null, erase: boolean): Promise<ErasureBatch> =>
        this.erase(whose, which, cursor, erase);
    const busy = (whose: Subject | string): Promise<string | null> => this.waiting(whose);
    this.erasure.add({ name: 'notifications of one person', batch: batch('named'), busy });
    this.erasure.add({ name: 'notifications of several', batch: batch('unnamed') });
    // Notifications about the workspace's numbers, and about codes of its projects, which a number of the service sent.
    this.workspaces.add({ batch: batch('unnamed'), busy });
  }

  private async erase(
    whose: Subject | string,
    which: 'named' | 'unnamed',
    after: string | null,
    erase: boolean,
  ): Promise<ErasureBatch> {
    const { ids, cursor } = await this.notifications.findOf(whose, which, after);
    if (erase && ids.length > 0) await this.notifications.remove(ids);
    return { found: { notifications: ids.length }, cursor };
  }

  private async waiting(whose: Subject | string): Promise<string | null> {
    const waiting = await this.notifications.countStored(whose);
    return waiting === 0 ? null : `${waiting} of the platform's notifications about it are not applied yet`;
  }
}
