import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { Backlogs, boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';

/** One-time codes that wait to be sent, of all projects together. */
@Injectable()
export class OtpBacklogRepository implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly backlogs: Backlogs,
  ) {}

  onModuleInit(): void {
    this.backlogs.add('codes', () => this.read());
  }

  private async read(): Promise<Backlog> {
    const rows = await this.database.query<Backlog>(BACKLOG);
    return rows[0] ?? { waiting: 0, inFlight: 0, oldestDueSeconds: 0 };
  }
}

const BACKLOG = `
select ${boundedCount("from otp_challenge where status = 'queued'")} as waiting,
  ${boundedCount("from otp_challenge where status = 'sending'")} as "inFlight",
  ${secondsSince("(select min(created_at) from otp_challenge where status = 'queued')")} as "oldestDueSeconds"`;
