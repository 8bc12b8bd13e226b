import type { MediaDirection, MediaObject, MediaStatus, MediaType } from './media.types.js';

/** Columns of `media_object m` that a MediaObject is made of. */
export const MEDIA_COLUMNS = `m.id, m.organization_id, m.connection_id, m.direction, m.type, m.mime_type, m.size_bytes,
  m.sha256, m.filename, m.voice, m.status, m.storage_key, m.created_at`;

export interface MediaRow {
  id: string;
  organization_id: string;
  connection_id: string;
  direction: MediaDirection;
  type: MediaType;
  mime_type: string;
  /** A bigint, which the driver hands over as text. */
  size_bytes: string | null;
  sha256: string | null;
  filename: string | null;
  voice: boolean;
  status: MediaStatus;
  storage_key: string | null;
  created_at: Date;
}

/** A MediaObject and where its bytes lie; null while there are none. */
export interface KeptMedia extends MediaObject {
  storageKey: string | null;
}

export function mediaOf(row: MediaRow): KeptMedia {
  return {
    id: row.id,
    organizationId: row.organization_id,
    connectionId: row.connection_id,
    type: row.type,
    mimeType: row.mime_type,
    sizeBytes: row.size_bytes === null ? null : Number(row.size_bytes),
    sha256: row.sha256,
    filename: row.filename,
    voice: row.voice,
    direction: row.direction,
    status: row.status,
    storageKey: row.storage_key,
    createdAt: row.created_at,
  };
}
