import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Erasure, type Subject } from '../../platform/erasure/erasure.js';
import { WorkspaceErasure } from '../../platform/erasure/workspace-erasure.js';
import { NotificationErasureRepository } from './notification-erasure.repository.js';

/** Notifications as they came are kept for a while after they were applied: those that name an erased contact go. */
@Injectable()
export class NotificationErasure implements OnModuleInit {
  constructor(
    private readonly notifications: NotificationErasureRepository,
    private readonly erasure: Erasure,
    private readonly workspaces: WorkspaceErasure,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'notifications',
      batch: (subject, cursor, erase) => this.notifications.batch(subject, cursor, erase),
      busy: (subject) => this.busy(subject),
    });
    this.workspaces.add({
      batch: (organizationId, cursor, erase) => this.notifications.batchOfWorkspace(organizationId, cursor, erase),
      busy: async (organizationId) => waitingText(await this.notifications.countWaitingOfWorkspace(organizationId)),
    });
  }

  private async busy(subject: Subject): Promise<string | null> {
    return waitingText(await this.notifications.countWaiting(subject));
  }
}

function waitingText(waiting: number): string | null {
  return waiting === 0 ? null : `${waiting} of the platform's notifications about it are not applied yet`;
}
