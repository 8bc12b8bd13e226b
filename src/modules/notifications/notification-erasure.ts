import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Erasure, type Subject } from '../../platform/erasure/erasure.js';
import { NotificationErasureRepository } from './notification-erasure.repository.js';

/** Notifications as they came are kept for a while after they were applied: those that name an erased contact go. */
@Injectable()
export class NotificationErasure implements OnModuleInit {
  constructor(
    private readonly notifications: NotificationErasureRepository,
    private readonly erasure: Erasure,
  ) {}

  onModuleInit(): void {
    this.erasure.add({
      name: 'notifications',
      batch: (subject, cursor, erase) => this.notifications.batch(subject, cursor, erase),
      busy: (subject) => this.busy(subject),
    });
  }

  private async busy(subject: Subject): Promise<string | null> {
    const waiting = await this.notifications.countWaiting(subject);
    return waiting === 0 ? null : `${waiting} of the platform's notifications about the number are not applied yet`;
  }
}
