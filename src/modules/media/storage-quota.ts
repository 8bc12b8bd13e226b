import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { mediaErrors } from './media.errors.js';

interface Usage {
  usedBytes: number;
  /** Null: none. */
  limitBytes: number | null;
}

/** How many bytes of files a workspace may have. `media_usage` follows `media_object` by a trigger. */
@Injectable()
export class StorageQuota {
  constructor(
    private readonly database: Database,
    private readonly config: Config,
  ) {}

  /** False where so many bytes more would be beyond the limit. Says nothing of what comes in meanwhile. */
  async hasSpaceFor(organizationId: string, sizeBytes: number): Promise<boolean> {
    return fits(await this.usageOf(organizationId), sizeBytes);
  }

  /**
   * Before the first byte of an upload is stored.
   *
   * @throws MEDIA_STORAGE_FULL (400).
   */
  async requireSpaceFor(organizationId: string, sizeBytes: number): Promise<void> {
    const usage = await this.usageOf(organizationId);
    if (!fits(usage, sizeBytes)) throw fullError(usage);
  }

  /**
   * Runs `insert`, which adds the row of a file of so many bytes, where there is space. Of uploads that end at once each
   * waits for the one before.
   *
   * @throws MEDIA_STORAGE_FULL (400).
   */
  within<T>(organizationId: string, sizeBytes: number, insert: () => Promise<T>): Promise<T> {
    return this.database.transaction(async () => {
      await this.database.execute(
        'insert into media_usage (organization_id) values ($1) on conflict (organization_id) do nothing',
        [organizationId],
      );
      await this.database.query('select 1 from media_usage where organization_id = $1 for update', [organizationId]);
      await this.requireSpaceFor(organizationId, sizeBytes);
      return insert();
    });
  }

  private async usageOf(organizationId: string): Promise<Usage> {
    const rows = await this.database.query<{ used: number; own: number | null }>(
      `select coalesce(u.used_bytes, 0)::float8 as used, o.storage_limit_bytes::float8 as own
       from organization o left join media_usage u on u.organization_id = $1 where o.id = $1`,
      [organizationId],
    );
    const { used = 0, own = null } = rows[0] ?? {};
    return { usedBytes: used, limitBytes: own ?? this.config.media.workspaceLimitBytes };
  }
}

function fits({ usedBytes, limitBytes }: Usage, sizeBytes: number): boolean {
  return limitBytes === null || usedBytes + sizeBytes <= limitBytes;
}

function fullError({ usedBytes, limitBytes }: Usage): Error {
  return mediaErrors.MEDIA_STORAGE_FULL({ usedBytes, limitBytes: limitBytes ?? 0 });
}
