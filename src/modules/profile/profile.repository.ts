import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';

/** The one fact of a number's profile that Herald stores: the platform keeps the rest. */
@Injectable()
export class ProfileRepository {
  constructor(private readonly database: Database) {}

  /** When the profile was last changed through Herald; null: never. */
  async updatedAt(organizationId: string, connectionId: string): Promise<Date | null> {
    const found = await this.database.find<{ at: Date | null }>(
      'select profile_updated_at as at from connection where organization_id = $1 and id = $2',
      [organizationId, connectionId],
    );
    return found?.at ?? null;
  }

  async changed(organizationId: string, connectionId: string): Promise<void> {
    await this.database.execute(
      `update connection set profile_updated_at = date_trunc('milliseconds', clock_timestamp())
       where organization_id = $1 and id = $2`,
      [organizationId, connectionId],
    );
  }
}
