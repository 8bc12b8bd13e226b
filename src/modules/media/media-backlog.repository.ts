import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { laneHeads } from '../../infrastructure/lanes/due-lanes.js';
import { Backlogs, boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';

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

// Number by number, the file that is due first. One that is being fetched is due again only when its lease is over.
const BACKLOG = `
${laneHeads({ table: 'media_object', lane: 'connection_id', status: 'pending' })}
select ${boundedCount("from media_object where status = 'pending'")} as waiting,
  ${boundedCount(`from media_object where status = 'pending' and ${UNDER_WAY}`)} as "inFlight",
  ${secondsSince('(select min(next_attempt_at) from lane_head)')} as "oldestDueSeconds"`;
