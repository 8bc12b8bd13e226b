import { Injectable } from '@nestjs/common';
import { Database, type Statements } from '../../infrastructure/database/database.js';
import { type KeptMedia, MEDIA_COLUMNS, mediaOf, type MediaRow } from './media-row.js';
import type { MediaDirection, MediaFilter, MediaObject, PendingMedia, RemovedMedia } from './media.types.js';
import { MEDIA_DIRECTIONS, MEDIA_TYPES } from './media.types.js';

export interface MediaQuery extends MediaFilter {
  organizationId: string;
}

/** What was measured of a file once its bytes are stored. */
export interface StoredFacts {
  storageKey: string;
  mimeType: string;
  sizeBytes: number;
  sha256: string;
}

export type NewMedia = Pick<MediaObject, 'id' | 'organizationId' | 'connectionId' | 'type' | 'filename' | 'voice'> &
  StoredFacts;

interface RemovedRow {
  id: string;
  organization_id: string;
  storage_key: string | null;
  connection_id: string | null;
  platform_media_id: string | null;
}

/** The SQL of `media_object` for uploads, lists and deletions. */
@Injectable()
export class MediaRepository {
  constructor(private readonly database: Database) {}

  async findById(organizationId: string, id: string): Promise<KeptMedia | null> {
    const rows = await this.database.query<MediaRow>(
      `select ${MEDIA_COLUMNS} from media_object m where m.organization_id = $1 and m.id = $2`,
      [organizationId, id],
    );
    return rows[0] === undefined ? null : mediaOf(rows[0]);
  }

  /**
   * One page, newest first. Each filter has an index in the page's order; where only the type or only the direction is
   * given, the few ordered lists are merged.
   */
  async page(query: MediaQuery): Promise<MediaObject[]> {
    const params: unknown[] = [query.organizationId, query.limit];
    const bind = (value: unknown): string => `$${params.push(value)}`;
    const conditions = ['m.organization_id = $1'];
    if (query.connectionId !== null) conditions.push(`m.connection_id = ${bind(query.connectionId)}`);
    if (query.before !== null) {
      const before = bind(query.before);
      conditions.push(
        query.beforeId === null
          ? `m.created_at < ${before}`
          : `(m.created_at, m.id) < (${before}, ${bind(query.beforeId)})`,
      );
    }
    const order = 'order by m.created_at desc, m.id desc limit $2';
    const own = (more: string): string =>
      `select ${MEDIA_COLUMNS} from media_object m where ${conditions.join(' and ')} ${more} ${order}`;
    let sql = own('');
    if (query.type !== null || query.direction !== null) {
      const types = bind(query.type === null ? MEDIA_TYPES : [query.type]);
      const directions = bind(query.direction === null ? MEDIA_DIRECTIONS : [query.direction]);
      sql = `select m.* from unnest(${directions}::text[]) as d (direction)
        cross join unnest(${types}::text[]) as t (type)
        cross join lateral (${own('and m.direction = d.direction and m.type = t.type')}) as m ${order}`;
    }
    return (await this.database.query<MediaRow>(sql, params)).map(mediaOf);
  }

  /** Adds a file of the workspace whose bytes are stored. */
  async insertUploaded(media: NewMedia): Promise<MediaObject> {
    const rows = await this.database.query<MediaRow>(
      `insert into media_object as m (id, organization_id, connection_id, direction, type, mime_type, size_bytes, sha256,
         filename, voice, status, storage_key)
       values ($1, $2, $3, 'outbound', $4, $5, $6, $7, $8, $9, 'stored', $10)
       returning ${MEDIA_COLUMNS}`,
      [
        media.id,
        media.organizationId,
        media.connectionId,
        media.type,
        media.mimeType,
        media.sizeBytes,
        media.sha256,
        media.filename,
        media.voice,
        media.storageKey,
      ],
    );
    if (rows[0] === undefined) throw new Error('an insert returned no row');
    return mediaOf(rows[0]);
  }

  /** Adds files that are to be fetched, at once due; one that is there already stays as it is. One statement for all. */
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
      [
        items.map((item) => item.id),
        items.map((item) => item.organizationId),
        items.map((item) => item.connectionId),
        items.map((item) => item.type),
        items.map((item) => item.mimeType),
        items.map((item) => item.sha256),
        items.map((item) => item.filename),
        items.map((item) => item.voice),
        items.map((item) => item.platformMediaId),
      ],
    );
  }

  /** A pending file has come. Returns false where it is no longer pending: fetched by another, or deleted. */
  async setStored(organizationId: string, id: string, facts: StoredFacts): Promise<boolean> {
    const changed = await this.database.execute(
      `update media_object set status = 'stored', storage_key = $3, mime_type = $4, size_bytes = $5, sha256 = $6,
         failure = null, next_attempt_at = null, lease_owner = null, lease_until = null
       where organization_id = $1 and id = $2 and status = 'pending'`,
      [organizationId, id, facts.storageKey, facts.mimeType, facts.sizeBytes, facts.sha256],
    );
    return changed > 0;
  }

  /** Removes the row; null where there is none. Says where the bytes lie, here and at the platform. */
  async delete(organizationId: string, id: string): Promise<RemovedMedia | null> {
    return (await this.deleteAll(organizationId, [id]))[0] ?? null;
  }

  /** As `delete`, for those of the ids that are there. */
  async deleteAll(organizationId: string, ids: readonly string[]): Promise<RemovedMedia[]> {
    const rows = await this.database.query<RemovedRow>(
      `with gone as (
         delete from media_object where organization_id = $1 and id = any($2::uuid[])
         returning id, organization_id, storage_key)
       ${WITH_COPIES}`,
      [organizationId, ids],
    );
    return removedOf(rows);
  }

  /** Removes up to `limit` files of the workspace, as `deleteAll` does. */
  async deleteSome(organizationId: string, limit: number): Promise<RemovedMedia[]> {
    const rows = await this.database.query<RemovedRow>(
      `with gone as (
         delete from media_object where organization_id = $1 and id = any(array(
           select id from media_object where organization_id = $1 order by created_at desc, id desc limit $2))
         returning id, organization_id, storage_key)
       ${WITH_COPIES}`,
      [organizationId, limit],
    );
    return removedOf(rows);
  }

  /** Removes what is older, of every workspace, oldest first; says where the bytes lie. */
  async deleteOld(direction: MediaDirection, before: Date, limit: number): Promise<RemovedMedia[]> {
    const rows = await this.database.query<RemovedRow>(
      `with gone as (
         delete from media_object where id = any(array(
           select id from media_object where direction = $1 and created_at < $2
           order by created_at limit $3 for update skip locked))
         returning id, organization_id, storage_key)
       ${WITH_COPIES}`,
      [direction, before, limit],
    );
    return removedOf(rows);
  }

  /** Those of the keys that no row names, whatever the workspace: a search for files that nobody knows. */
  async unknownKeys(keys: readonly string[]): Promise<string[]> {
    const rows = await this.database.query<{ key: string }>(
      `select k.key from unnest($1::uuid[]) as k (key)
       where not exists (select from media_object m where m.storage_key = k.key)`,
      [keys],
    );
    return rows.map((row) => row.key);
  }
}

const WITH_COPIES = `
select g.id, g.organization_id, g.storage_key, p.connection_id, p.platform_media_id
from gone g left join media_platform_id p on p.media_object_id = g.id and p.organization_id = g.organization_id`;

/** One entry for each file, whose copies stand in rows of their own. */
function removedOf(rows: readonly RemovedRow[]): RemovedMedia[] {
  const removed = new Map<string, RemovedMedia>();
  for (const row of rows) {
    const entry = removed.get(row.id) ?? { storageKey: row.storage_key, copies: [] };
    removed.set(row.id, entry);
    const { organization_id: organizationId, connection_id: connectionId, platform_media_id: platformMediaId } = row;
    if (connectionId !== null && platformMediaId !== null) {
      entry.copies.push({ organizationId, connectionId, platformMediaId });
    }
  }
  return [...removed.values()];
}
