import { Injectable } from '@nestjs/common';
import { BatchPlace } from '../../infrastructure/database/batch-place.js';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { boundedCount, secondsSince, type Backlog } from '../../infrastructure/operations/backlogs.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import { MediaObjectEntity } from './entities/media-object.entity.js';
import { MediaPlatformIdEntity } from './entities/media-platform-id.entity.js';
import { MEDIA_DIRECTIONS, MEDIA_TYPES } from './media.types.js';
import type {
  FileForSending,
  MediaDirection,
  MediaFilter,
  MediaObject,
  PendingMedia,
  RemovedMedia,
  StoredFacts,
  StoredFile,
} from './media.types.js';

export type NewMedia = Pick<MediaObject, 'id' | 'organizationId' | 'connectionId' | 'type' | 'filename' | 'voice'> &
  StoredFacts;

/** One of the workspace's files, for one of its numbers: WhatsApp has a copy per number. */
export type FileForNumber = Pick<MediaPlatformIdEntity, 'organizationId' | 'mediaObjectId' | 'connectionId'>;

/** The file to upload, and WhatsApp's present copy of it. */
export interface UploadSource extends Pick<NewMedia, 'mimeType' | 'filename' | 'sizeBytes' | 'storageKey'> {
  /** WhatsApp's id of its copy; null where there is no valid one. */
  platformMediaId: string | null;
  /** Milliseconds for which that id is valid. */
  goodForMs: number;
  /** Whether a process is uploading the file now. */
  uploading: boolean;
}

/** WhatsApp keeps an uploaded file for 30 days (developers.facebook.com, Cloud API, media). */
const GOOD_FOR_DAYS = 29;
/** Precedes a connection's id in the key of the lane of its files. */
export const FETCH_LANE = 'media:';
/** After this time another process may take over an upload. */
export const UPLOAD_LEASE_MS = 60_000;
const UPLOAD_LEASE_ENDS = `clock_timestamp() + interval '${UPLOAD_LEASE_MS} milliseconds'`;

/**
 * The SQL on `media_object` for uploads, lists and deletions, on `media_usage`, and on `media_platform_id`: WhatsApp's
 * copies of our files. In the latter an empty id means that a process is uploading the file, with time until
 * `expires_at`.
 */
@Injectable()
export class MediaRepository {
  private readonly old = { inbound: new BatchPlace('-infinity'), outbound: new BatchPlace('-infinity') };

  constructor(private readonly database: Database) {}

  findById(organizationId: string, id: string): Promise<MediaObjectEntity | null> {
    return this.table.findOneBy({ organizationId, id });
  }

  /**
   * Like `findById`, with the fields for accepting a message. Raw SQL, because it runs for every message with a file.
   */
  findForSending(organizationId: string, id: string): Promise<FileForSending | null> {
    return this.database.find<FileForSending>(
      'select id, type, status, filename, voice from media_object where organization_id = $1 and id = $2',
      [organizationId, id],
    );
  }

  /**
   * One page, newest first. Each filter has an index in the page's order; for only a type or only a direction, a few
   * ordered lists are merged.
   */
  page(organizationId: string, filter: MediaFilter): Promise<MediaObjectEntity[]> {
    const { limit, before, beforeId, connectionId, type, direction, since, until } = filter;
    const conditions = ['organization_id = :organizationId'];
    if (connectionId !== null) conditions.push('connection_id = :connectionId');
    if (before !== null) {
      conditions.push(beforeId === null ? 'created_at < :before' : '(created_at, id) < (:before, :beforeId)');
    }
    if (since !== null) conditions.push('created_at >= :since');
    if (until !== null) conditions.push('created_at < :until');
    const order = 'order by created_at desc, id desc limit :limit';
    const pageOf = (more: string) =>
      `select id, created_at from media_object where ${conditions.join(' and ')} ${more} ${order}`;
    const isMerged = type !== null || direction !== null;
    const ids = isMerged
      ? `select one.id from unnest(:directions::text[]) as d (direction) cross join unnest(:types::text[]) as t (type)
         cross join lateral (${pageOf('and direction = d.direction and type = t.type')}) as one ${order}`
      : `select one.id from (${pageOf('')}) as one`;
    return this.table
      .createQueryBuilder('media')
      .where(`media.id in (${ids})`)
      .setParameters({
        organizationId,
        before,
        beforeId,
        since,
        until,
        limit,
        connectionId,
        types: type === null ? MEDIA_TYPES : [type],
        directions: direction === null ? MEDIA_DIRECTIONS : [direction],
      })
      .orderBy({ 'media.createdAt': 'DESC', 'media.id': 'DESC' })
      .getMany();
  }

  /** Adds a file of the workspace whose bytes are stored. */
  async insertUploaded(media: NewMedia): Promise<MediaObject> {
    const row = this.table.create({ ...media, direction: 'outbound', status: 'stored' });
    await this.table.insert(row);
    return row;
  }

  /** Adds files to fetch, due at once; existing ones stay unchanged. One statement for all. */
  async insertPending(items: readonly (PendingMedia & { mimeType: string })[], statements: Statements): Promise<void> {
    await statements.execute(
      `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, sha256, filename, voice,
         status, platform_media_id, next_attempt_at)
       select i.id, i.organization_id, i.connection_id, 'inbound', i.type, i.mime_type, i.sha256, i.filename, i.voice,
         'pending', i.platform_media_id, clock_timestamp()
       from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[],
         $9::text[]) as i (id, organization_id, connection_id, type, mime_type, sha256, filename, voice,
         platform_media_id)
       on conflict (id) do nothing`,
      PENDING_COLUMNS.map((name) => items.map((item) => item[name])),
    );
  }

  /**
   * Records that a pending file was fetched. Returns false where the file is no longer pending: another process fetched
   * it, or it was deleted.
   */
  setStored(organizationId: string, id: string, facts: StoredFacts): Promise<boolean> {
    return this.database.changes(
      withMediaEvents(`update media_object set status = 'stored', storage_key = $3, mime_type = $4, size_bytes = $5,
         sha256 = $6, failure = null, next_attempt_at = null, lease_owner = null, lease_until = null
       where organization_id = $1 and id = $2 and status = 'pending' returning *`),
      [organizationId, id, facts.storageKey, facts.mimeType, facts.sizeBytes, facts.sha256],
    );
  }

  /**
   * Deletes the rows of those of these files that belong to the workspace. Returns where the bytes of the files are,
   * here and at WhatsApp.
   */
  deleteAll(organizationId: string, ids: readonly string[]): Promise<RemovedMedia[]> {
    return this.remove('organization_id = $1 and id = any($2::uuid[])', [organizationId, ids]);
  }

  /** Deletes up to `limit` files of the workspace, like `deleteAll`. */
  deleteSome(organizationId: string, limit: number): Promise<RemovedMedia[]> {
    return this.remove(
      `organization_id = $1 and id = any(array(
         select id from media_object where organization_id = $1 order by created_at desc, id desc limit $2))`,
      [organizationId, limit],
    );
  }

  /** Deletes older files of every workspace, oldest first, like `deleteAll`. */
  async deleteOld(direction: MediaDirection, before: Date, limit: number): Promise<RemovedMedia[]> {
    const place = this.old[direction];
    const removed = await this.remove(
      `id = any(array(select id from media_object where direction = $1 and created_at >= $4 and created_at < $2
         order by created_at limit $3 for update skip locked))`,
      [direction, before, limit, place.from],
    );
    place.reached({ changed: removed.length, last: removed[0]?.last ?? null }, limit);
    return removed;
  }

  private remove(condition: string, params: unknown[]): Promise<(RemovedMedia & { last: string })[]> {
    return this.database.query(
      `with gone as (
         delete from media_object where ${condition} returning id, organization_id, storage_key, created_at
       )
       select g.storage_key as "storageKey", coalesce(json_agg(json_build_object('organizationId', p.organization_id,
         'connectionId', p.connection_id, 'platformMediaId', p.platform_media_id))
         filter (where p.media_object_id is not null), '[]') as copies, (select max(created_at)::text from gone) as last
       from gone g
       left join media_platform_id p on p.media_object_id = g.id and p.organization_id = g.organization_id
       group by g.id, g.storage_key`,
      params,
    );
  }

  /** Returns those of the storage keys that no row of any workspace has. */
  async unknownKeys(keys: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ key: string }>(
      `select k.key from unnest($1::uuid[]) as k (key)
       where not exists (select from media_object m where m.storage_key = k.key)`,
      [keys],
    );
    return rows.map((row) => row.key);
  }

  /** Stored files of all workspaces, in the order of their ids, so that files which are added meanwhile come last. */
  storedAfter(id: string | null, limit: number): Promise<StoredFile[]> {
    return this.database.query<StoredFile & Record<string, unknown>>(
      `select id, storage_key as "storageKey", size_bytes::float8 as "sizeBytes", sha256
       from media_object where status = 'stored' and ($1::uuid is null or id > $1) order by id limit $2`,
      [id, limit],
    );
  }

  /** Customers' files that wait to be fetched, of all workspaces together. */
  readBacklog(): Promise<Backlog> {
    return this.database.row<Backlog>(BACKLOG);
  }

  /** The workspace's bytes, and its own limit. A trigger on `media_object` maintains `media_usage`. */
  async usageOf(organizationId: string): Promise<{ usedBytes: number; limitBytes: number | null }> {
    const [row] = await this.database.query<{ usedBytes: number; limitBytes: number | null }>(
      `select coalesce(u.used_bytes, 0)::float8 as "usedBytes", o.storage_limit_bytes::float8 as "limitBytes"
       from organization o left join media_usage u on u.organization_id = $1 where o.id = $1`,
      [organizationId],
    );
    return row ?? { usedBytes: 0, limitBytes: null };
  }

  /** Locks the workspace's byte count until the end of the ambient transaction. */
  async lockUsage(organizationId: string): Promise<void> {
    await this.database.execute(
      'insert into media_usage (organization_id) values ($1) on conflict (organization_id) do nothing',
      [organizationId],
    );
    await this.database.query('select 1 from media_usage where organization_id = $1 for update', [organizationId]);
  }

  /** What an upload of the file needs; null where the workspace has no such file, or the file's bytes do not exist. */
  findUploadSource(file: FileForNumber): Promise<UploadSource | null> {
    return this.database.find<UploadSource>(
      `select m.mime_type as "mimeType", m.filename, m.size_bytes::float8 as "sizeBytes", m.storage_key as "storageKey",
         nullif(p.platform_media_id, '') as "platformMediaId", coalesce(p.platform_media_id = '', false) as uploading,
         coalesce(extract(epoch from p.expires_at - clock_timestamp()) * 1000, 0)::float8 as "goodForMs"
       from media_object m
       left join media_platform_id p on p.media_object_id = m.id and p.connection_id = $3
         and p.expires_at > clock_timestamp()
       where m.id = $2 and m.organization_id = $1 and m.status = 'stored'`,
      valuesOf(file),
    );
  }

  /** Announces an upload to other processes. Returns false where another process is uploading the file, or just did. */
  claimUpload(file: FileForNumber): Promise<boolean> {
    return this.database.changes(
      `insert into media_platform_id as p (media_object_id, connection_id, organization_id, platform_media_id, expires_at)
       select m.id, $3, m.organization_id, '', ${UPLOAD_LEASE_ENDS}
       from media_object m where m.id = $2 and m.organization_id = $1 and m.status = 'stored'
       on conflict (media_object_id, connection_id)
         do update set platform_media_id = '', expires_at = excluded.expires_at
         where p.expires_at <= clock_timestamp()`,
      valuesOf(file),
    );
  }

  /** Extends the announcement of a running upload. */
  async renewUpload({ organizationId, mediaObjectId, connectionId }: FileForNumber): Promise<void> {
    const announced = { organizationId, mediaObjectId, connectionId, platformMediaId: '' };
    await this.copies.update(announced, { expiresAt: () => UPLOAD_LEASE_ENDS });
  }

  /** Withdraws the announcement of a failed upload. */
  async releaseUpload(file: FileForNumber): Promise<void> {
    await this.forgetPlatformId(file.connectionId, file.mediaObjectId, '');
  }

  /** Stores WhatsApp's id of an uploaded file. Returns false where the file is gone by now. */
  keepPlatformId(file: FileForNumber, platformMediaId: string): Promise<boolean> {
    return this.database.changes(
      `insert into media_platform_id (media_object_id, connection_id, organization_id, platform_media_id, expires_at)
       select m.id, $3, m.organization_id, $4, clock_timestamp() + make_interval(days => $5)
       from media_object m where m.id = $2 and m.organization_id = $1
       on conflict (media_object_id, connection_id)
         do update set platform_media_id = excluded.platform_media_id, expires_at = excluded.expires_at,
           created_at = excluded.created_at`,
      [...valuesOf(file), platformMediaId, GOOD_FOR_DAYS],
    );
  }

  /** Deletes WhatsApp's id of a file, unless a newer id was stored. Returns whether the id was still stored. */
  async forgetPlatformId(connectionId: string, mediaObjectId: string, platformMediaId: string): Promise<boolean> {
    return ((await this.copies.delete({ mediaObjectId, connectionId, platformMediaId })).affected ?? 0) > 0;
  }

  private get table() {
    return this.database.repository(MediaObjectEntity);
  }

  private get copies() {
    return this.database.repository(MediaPlatformIdEntity);
  }
}

function valuesOf({ organizationId, mediaObjectId, connectionId }: FileForNumber): string[] {
  return [organizationId, mediaObjectId, connectionId];
}

const PENDING_COLUMNS = [
  ...(['id', 'organizationId', 'connectionId', 'type', 'mimeType', 'sha256', 'filename', 'voice'] as const),
  'platformMediaId',
] as const;

const UNDER_WAY = 'lease_until > clock_timestamp()';

// The first due file of each number. A file being fetched is due again only when its lease ends.
const BACKLOG = `
select ${boundedCount("from media_object where next_attempt_at is not null and status = 'pending'")} as waiting,
  ${boundedCount(`from media_object where next_attempt_at is not null and status = 'pending' and ${UNDER_WAY}`)} as "inFlight",
  ${secondsSince(`(
    select min(head.next_attempt_at)
    from connection c left join lane l on l.key = '${FETCH_LANE}' || c.id cross join lateral (
      select m.next_attempt_at from media_object m
      where m.connection_id = c.id and m.next_attempt_at >= coalesce(l.low_at, '-infinity') and m.status = 'pending'
      order by m.connection_id, m.next_attempt_at limit 1) as head)`)} as "oldestDueSeconds"`;

/**
 * SQL: runs an update of `media_object` that returns `*`, and writes `media.ready` or `media.failed` for each row that
 * is no longer pending, in the same statement, with the message that brought the file. The result has the updated rows.
 */
export function withMediaEvents(update: string): string {
  return `with moved as (${update}), ${insertWebhookEvents(`(
    select m.organization_id, case when m.status = 'stored' then 'media.ready' else 'media.failed' end as event_type,
      clock_timestamp() as occurred_at, array[m.connection_id] as connection_ids, null::bytea as trace_context,
      jsonb_build_object('media', jsonb_build_object('id', m.id, 'connection_id', m.connection_id, 'type', m.type,
        'mime_type', m.mime_type, 'size_bytes', m.size_bytes, 'sha256', m.sha256, 'filename', m.filename,
        'voice', m.voice, 'direction', m.direction, 'status', m.status, 'created_at', ${isoTime('m.created_at')}))
      || jsonb_build_object('message_id', brought.id, 'conversation_id', brought.conversation_id)
      || case when m.status = 'failed' then jsonb_build_object('reason', m.failure) else '{}' end as event_data
    from moved m left join lateral (
      select b.id, coalesce((select v.merged_into from conversation v where v.id = b.conversation_id), b.conversation_id) as conversation_id
      from message b where b.organization_id = m.organization_id and b.media_object_id = m.id
      order by b.created_at, b.id limit 1) as brought on true
    where m.status <> 'pending')`)} select from moved`;
}
