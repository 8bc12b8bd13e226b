import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';

/** What a workspace has paid for. */
@Injectable()
export class BillingRepository {
  constructor(private readonly database: Database) {}

  /** Whether the workspace's API time covers this moment, by the database's clock. */
  async hasApiTime(organizationId: string): Promise<boolean> {
    const rows = await this.database.query(
      'select 1 from organization where id = $1 and api_paid_until > clock_timestamp()',
      [organizationId],
    );
    return rows.length > 0;
  }
}
