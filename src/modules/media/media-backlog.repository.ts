import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { Backlogs, boundedCount, secondsSince, type Backlog } from '../../platform/operations/backlogs.js';

/** Customers' files that wait to be fetched, of all workspaces together. */
@Injectable()
export class MediaBacklogRepository implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly backlogs: Backlogs,
  ) {}

  onModuleInit(): void {
    this.backlogs.add('files', () => this.read());
  }

  private async read(): Promise<Backlog> {
    const rows = await this.database.query<Backlog>(BACKLOG);
    return rows[0] ?? { waiting: 0, inFlight: 0, oldestDueSeconds: 0 };
  }
}

const UNDER_WAY = 'lease_until > clock_timestamp()';

const BACKLOG = `
select ${boundedCount("from media_object where status = 'pending'")} as waiting,
  ${boundedCount(`from media_object where status = 'pending' and ${UNDER_WAY}`)} as "inFlight",
  ${secondsSince(`(
    select min(next_attempt_at) from (
      select next_attempt_at from media_object
      where status = 'pending' and (lease_until is null or not ${UNDER_WAY}) limit 10000) as waiting)`)} as "oldestDueSeconds"`;
