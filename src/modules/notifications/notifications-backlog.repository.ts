import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Backlogs, boundedCount, secondsSince, type Backlog } from '../../platform/operations/backlogs.js';

/** Notifications of the platform that are stored and not applied yet. */
@Injectable()
export class NotificationsBacklogRepository implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly backlogs: Backlogs,
  ) {}

  onModuleInit(): void {
    this.backlogs.add('notifications', () => this.read());
  }

  private async read(): Promise<Backlog> {
    const rows = await this.database.query<Backlog>(BACKLOG);
    return rows[0] ?? { waiting: 0, inFlight: 0, oldestDueSeconds: 0 };
  }
}

const BACKLOG = `
select ${boundedCount("from platform_notification where state = 'stored'")} as waiting, 0 as "inFlight",
  ${secondsSince(`(
    select next_try_at from platform_notification where state = 'stored' order by next_try_at limit 1)`)}
  as "oldestDueSeconds"`;
