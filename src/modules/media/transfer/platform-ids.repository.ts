import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';

/** One of our files for one number. */
export interface FileForNumber {
  organizationId: string;
  mediaObjectId: string;
  connectionId: string;
}

/** What is to be uploaded, and what the platform knows of it already. */
export interface UploadSource {
  mimeType: string;
  filename: string | null;
  sizeBytes: number;
  storageKey: string;
  /** The platform's id, if it has one that is still good. */
  platformMediaId: string | null;
  /** Milliseconds for which that id may be used. */
  goodForMs: number;
  /** A process uploads it now. */
  uploading: boolean;
}

/** The platform keeps an uploaded file for 30 days (developers.facebook.com, Cloud API, media). */
const GOOD_FOR_DAYS = 29;
/** An upload whose process died may be begun again after this long. */
export const UPLOAD_LEASE_MS = 60_000;

/**
 * The table `media_platform_id`: the platform's copies of our files. A row with an empty id says that a process
 * uploads the file until `expires_at`.
 */
@Injectable()
export class PlatformIdsRepository {
  constructor(private readonly database: Database) {}

  /** Returns null where the workspace has no such file, or its bytes are not there. */
  async findSource(file: FileForNumber): Promise<UploadSource | null> {
    const [source] = await this.database.query<UploadSource>(
      `select m.mime_type as "mimeType", m.filename, m.size_bytes::float8 as "sizeBytes", m.storage_key as "storageKey",
         nullif(p.platform_media_id, '') as "platformMediaId", coalesce(p.platform_media_id = '', false) as uploading,
         coalesce(extract(epoch from p.expires_at - clock_timestamp()) * 1000, 0)::float8 as "goodForMs"
       from media_object m
       left join media_platform_id p on p.media_object_id = m.id and p.connection_id = $3
         and p.expires_at > clock_timestamp()
       where m.id = $2 and m.organization_id = $1 and m.status = 'stored'`,
      valuesOf(file),
    );
    return source ?? null;
  }

  /** Announces an upload to other processes; false where one of them is at it, or has just finished. */
  async claim(file: FileForNumber): Promise<boolean> {
    const claimed = await this.database.execute(
      `insert into media_platform_id as p (media_object_id, connection_id, organization_id, platform_media_id, expires_at)
       select m.id, $3, m.organization_id, '', clock_timestamp() + make_interval(secs => $4)
       from media_object m where m.id = $2 and m.organization_id = $1 and m.status = 'stored'
       on conflict (media_object_id, connection_id)
         do update set platform_media_id = '', expires_at = excluded.expires_at
         where p.expires_at <= clock_timestamp()`,
      [...valuesOf(file), UPLOAD_LEASE_MS / 1_000],
    );
    return claimed > 0;
  }

  /** Says that the upload is still under way. */
  async renew(file: FileForNumber): Promise<void> {
    await this.database.execute(
      `update media_platform_id set expires_at = clock_timestamp() + make_interval(secs => $4)
       where organization_id = $1 and media_object_id = $2 and connection_id = $3 and platform_media_id = ''`,
      [...valuesOf(file), UPLOAD_LEASE_MS / 1_000],
    );
  }

  /** Takes the announcement back: the upload came to nothing. */
  async release(file: FileForNumber): Promise<void> {
    await this.forget(file.connectionId, file.mediaObjectId, '');
  }

  /** Keeps the platform's id; false where the file is gone by now. */
  async keep(file: FileForNumber, platformMediaId: string): Promise<boolean> {
    const kept = await this.database.execute(
      `insert into media_platform_id (media_object_id, connection_id, organization_id, platform_media_id, expires_at)
       select m.id, $3, m.organization_id, $4, clock_timestamp() + make_interval(days => $5)
       from media_object m where m.id = $2 and m.organization_id = $1
       on conflict (media_object_id, connection_id)
         do update set platform_media_id = excluded.platform_media_id, expires_at = excluded.expires_at,
           created_at = excluded.created_at`,
      [...valuesOf(file), platformMediaId, GOOD_FOR_DAYS],
    );
    return kept > 0;
  }

  /** Drops one id, for a sender that was given it; another one that came since stays. Returns whether it was known. */
  async forget(connectionId: string, mediaObjectId: string, platformMediaId: string): Promise<boolean> {
    const forgotten = await this.database.execute(
      `delete from media_platform_id where media_object_id = $1 and connection_id = $2 and platform_media_id = $3`,
      [mediaObjectId, connectionId, platformMediaId],
    );
    return forgotten > 0;
  }
}

function valuesOf({ organizationId, mediaObjectId, connectionId }: FileForNumber): string[] {
  return [organizationId, mediaObjectId, connectionId];
}
